#include "plan/implementations.hpp"
#include "plan/map_runs.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace ndpool {

namespace {

constexpr const char* reference = "reference";

/// What the caller asks for, else the environment.
std::string forced_name(const PlanOptions& options) {
  if (!options.implementation.empty()) return options.implementation;
  const char* forced = std::getenv("NDPOOL_FORCE_IMPLEMENTATION");
  return forced == nullptr ? "" : forced;
}

[[noreturn]] void refuse(const std::string& name, const PlanData* data) {
  std::string accepted;
  for (const Implementation& one : ndpool::implementations())
    if (data != nullptr && one.accepts(*data))
      accepted.append(" ").append(one.name).append(" (").append(name_of(one.map)).append("),");
  throw std::invalid_argument("no implementation " + name + " accepts this problem; these do:" + accepted + " " +
                              reference);
}

}  // namespace

std::string_view name_of(MapKind map) {
  constexpr std::string_view names[] = {"forward",          "forward_with_indices", "jvp",    "vjp",
                                        "jvp_from_indices", "vjp_from_indices",     "unpool", "unpool_vjp"};
  return names[static_cast<int>(map)];
}

KernelPlan::KernelPlan(std::unique_ptr<const PlanData> data) : data_(std::move(data)) {
  for (const Implementation& one : ndpool::implementations()) {
    const Implementation*& chosen = chosen_[static_cast<int>(one.map)];
    if (chosen == nullptr && one.accepts(*data_)) chosen = &one;
  }
}
KernelPlan::~KernelPlan() = default;

std::shared_ptr<const KernelPlan> KernelPlan::make(ScalarKind kind, const KernelChoice& choice,
                                                   const Geometry& geometry, const ArrayStrides& strides,
                                                   const PlanOptions& options, ScalarKind result) {
  const std::string forced = forced_name(options);
  if (forced == reference) return nullptr;
  auto data = make_plan_data(kind, result == ScalarKind::none ? kind : result, choice, geometry, strides);
  if (data == nullptr) {
    if (!forced.empty() && kind != ScalarKind::none) refuse(forced, nullptr);
    return nullptr;
  }
  std::shared_ptr<KernelPlan> plan(new KernelPlan(std::move(data)));
  if (!forced.empty()) {
    bool is_used = false;
    for (const Implementation& one : ndpool::implementations()) {
      if (forced != one.name || !one.accepts(*plan->data_)) continue;
      plan->chosen_[static_cast<int>(one.map)] = &one;
      is_used = true;
    }
    if (!is_used) refuse(forced, plan->data_.get());
  }
  const bool has_any =
      std::any_of(std::begin(plan->chosen_), std::end(plan->chosen_), [](const auto* one) { return one != nullptr; });
  return has_any ? plan : nullptr;
}

std::shared_ptr<const KernelPlan> KernelPlan::make_unforced(ScalarKind kind, const KernelChoice& choice,
                                                            const Geometry& geometry, const ArrayStrides& strides) {
  auto data = make_plan_data(kind, kind, choice, geometry, strides);
  if (data == nullptr) return nullptr;
  return std::shared_ptr<const KernelPlan>(new KernelPlan(std::move(data)));
}

std::shared_ptr<const KernelPlan> KernelPlan::make_for_indices(ScalarKind kind, const Geometry& geometry,
                                                               const ArrayStrides& strides) {
  auto data = make_index_data(kind, geometry, strides);
  if (data == nullptr) return nullptr;
  return std::shared_ptr<const KernelPlan>(new KernelPlan(std::move(data)));
}

std::string_view KernelPlan::implementation(MapKind map) const {
  const Implementation* const chosen = chosen_[static_cast<int>(map)];
  return chosen == nullptr ? reference : chosen->name;
}

std::vector<std::string_view> KernelPlan::implementations(MapKind map) const {
  std::vector<std::string_view> names;
  for (const Implementation& one : ndpool::implementations())
    if (one.map == map && one.accepts(*data_)) names.push_back(one.name);
  names.push_back(reference);
  return names;
}

std::size_t KernelPlan::scratch_bytes(MapKind map) const {
  const Implementation* const chosen = chosen_[static_cast<int>(map)];
  return chosen == nullptr ? 0 : chosen->needs(*data_).scratch_bytes;
}
std::size_t KernelPlan::scratch_bytes() const {
  std::size_t bytes = 0;
  for (int map = 0; map < map_kinds; ++map) bytes = std::max(bytes, scratch_bytes(static_cast<MapKind>(map)));
  return bytes;
}

MapSummary KernelPlan::summary(MapKind map) const {
  MapSummary result{implementation(map), implementations(map)};
  if (const Implementation* const chosen = chosen_[static_cast<int>(map)]) {
    const Needs needs = chosen->needs(*data_);
    result.scratch_bytes = needs.scratch_bytes;
    result.tiles = needs.tiles;
  }
  return result;
}

bool KernelPlan::run(MapKind map, const MapArrays& arrays, const ProgressCallback& watch) const {
  return chosen_[static_cast<int>(map)]->run(*data_, arrays, watch);
}

bool KernelPlan::forward(const void* in, void* out, const ProgressCallback& watch) const {
  return run(MapKind::forward, {.in = in, .out = out}, watch);
}
bool KernelPlan::fits(IndexKind kind) const {
  const Index taps = data_->rows->tap_count;
  switch (kind) {
    case IndexKind::u8: return taps <= 0xFF;
    case IndexKind::u16: return taps <= 0xFFFF;
    case IndexKind::u32: return taps <= 0xFFFFFFFF;
    case IndexKind::flat: return true;
  }
  return false;
}
bool KernelPlan::forward_with_indices(const void* in, void* out, void* indices, IndexKind kind,
                                      const ProgressCallback& watch) const {
  return run(MapKind::forward_with_indices, {.in = in, .out = out, .tangent_out = indices, .index_kind = kind}, watch);
}
bool KernelPlan::jvp(const void* in, const void* tangent_in, void* tangent_out, const ProgressCallback& watch) const {
  return run(MapKind::jvp, {.in = in, .tangent_in = const_cast<void*>(tangent_in), .tangent_out = tangent_out}, watch);
}
bool KernelPlan::vjp(const void* in, const void* tangent_out, void* tangent_in, const ProgressCallback& watch) const {
  return run(MapKind::vjp, {.in = in, .tangent_in = tangent_in, .tangent_out = const_cast<void*>(tangent_out)}, watch);
}
bool KernelPlan::check_indices(const void* indices, IndexKind kind) const {
  return ndpool::check_indices(*data_, {.out = const_cast<void*>(indices), .index_kind = kind});
}
bool KernelPlan::jvp_from_indices(const void* indices, IndexKind kind, const void* tangent_in, void* tangent_out,
                                  const ProgressCallback& watch) const {
  return run(MapKind::jvp_from_indices,
             {.out = const_cast<void*>(indices),
              .tangent_in = const_cast<void*>(tangent_in),
              .tangent_out = tangent_out,
              .index_kind = kind},
             watch);
}
bool KernelPlan::vjp_from_indices(const void* indices, IndexKind kind, const void* tangent_out, void* tangent_in,
                                  const ProgressCallback& watch) const {
  return run(MapKind::vjp_from_indices,
             {.out = const_cast<void*>(indices),
              .tangent_in = tangent_in,
              .tangent_out = const_cast<void*>(tangent_out),
              .index_kind = kind},
             watch);
}
bool KernelPlan::place(const void* indices, const void* values, void* cells, const ProgressCallback& watch) const {
  return run(MapKind::unpool,
             {.out = const_cast<void*>(indices), .tangent_in = cells, .tangent_out = const_cast<void*>(values)}, watch);
}
bool KernelPlan::place_vjp(const void* indices, const void* cells, void* values, const ProgressCallback& watch) const {
  return run(MapKind::unpool_vjp,
             {.out = const_cast<void*>(indices), .tangent_in = const_cast<void*>(cells), .tangent_out = values}, watch);
}

}  // namespace ndpool
