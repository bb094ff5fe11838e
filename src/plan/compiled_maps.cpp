#include "plan/kernel_plan.hpp"

#include <ndpool/reduction.hpp>

namespace ndpool {

namespace {

constexpr ScalarKind kind_of(Dtype dtype) { return static_cast<ScalarKind>(dtype); }
static_assert(kind_of(Dtype::f32) == ScalarKind::kind_f32 && kind_of(Dtype::boolean) == ScalarKind::kind_boolean);

IndexKind index_kind_of(Dtype index) {
  switch (item_size(index)) {
    case 1: return IndexKind::u8;
    case 2: return IndexKind::u16;
    case 4: return IndexKind::u32;
    default: return IndexKind::flat;
  }
}

// What kernels have to know of each reducer.
KernelChoice choice_of(const reduction::Max& max) {
  return {.combine = Combine::max, .ties = max.options.ties, .nan = max.options.nan};
}
KernelChoice choice_of(const reduction::Min& min) {
  return {.combine = Combine::min, .ties = min.options.ties, .nan = min.options.nan};
}
KernelChoice choice_of(const reduction::Sum&) { return {.combine = Combine::sum}; }
KernelChoice choice_of(const reduction::Average& average) {
  return {.combine = Combine::sum, .averages = true, .average = average.options};
}
KernelChoice choice_of(const reduction::SmoothMax& smooth_max) {
  return {
      .combine = Combine::smooth_max, .parameter = smooth_max.options.beta, .pad_mode = smooth_max.options.pad_mode};
}
KernelChoice choice_of(const reduction::Lp& lp) {
  return {.combine = Combine::lp, .ties = lp.options.ties, .parameter = lp.p};
}

}  // namespace

namespace detail {

CompiledMaps CompiledMaps::make(const reduction::Any& reducer, Dtype in, Dtype out, const Geometry& geometry,
                                const ArrayStrides& strides, const PlanOptions& options) {
  const KernelChoice choice = std::visit([](const auto& one) { return choice_of(one); }, reducer);
  return CompiledMaps(KernelPlan::make(kind_of(in), choice, geometry, strides, options, kind_of(out)));
}
CompiledMaps CompiledMaps::make_for_indices(Dtype dtype, const Geometry& geometry, const ArrayStrides& strides) {
  return CompiledMaps(KernelPlan::make_for_indices(kind_of(dtype), geometry, strides));
}

bool CompiledMaps::has(MapKind map) const { return plan_ != nullptr && plan_->has(map); }
MapSummary CompiledMaps::summary(MapKind map) const { return plan_ == nullptr ? MapSummary{} : plan_->summary(map); }
std::string_view CompiledMaps::implementation(MapKind map) const {
  return plan_ == nullptr ? "reference" : plan_->implementation(map);
}
std::vector<std::string_view> CompiledMaps::implementations(MapKind map) const {
  return plan_ == nullptr ? std::vector<std::string_view>{"reference"} : plan_->implementations(map);
}
std::size_t CompiledMaps::scratch_bytes() const { return plan_ == nullptr ? 0 : plan_->scratch_bytes(); }

bool CompiledMaps::fits(Dtype index) const { return plan_->fits(index_kind_of(index)); }
bool CompiledMaps::check_indices(const void* indices, Dtype index) const {
  return plan_->check_indices(indices, index_kind_of(index));
}

bool CompiledMaps::forward(const void* x, void* y, const ProgressCallback& progress) const {
  return plan_->forward(x, y, progress);
}
bool CompiledMaps::forward_with_indices(const void* x, void* y, void* indices, Dtype index,
                                        const ProgressCallback& progress) const {
  return plan_->forward_with_indices(x, y, indices, index_kind_of(index), progress);
}
bool CompiledMaps::jvp(const void* x, const void* dx, void* dy, const ProgressCallback& progress) const {
  return plan_->jvp(x, dx, dy, progress);
}
bool CompiledMaps::vjp(const void* x, const void* gy, void* gx, const ProgressCallback& progress) const {
  return plan_->vjp(x, gy, gx, progress);
}
bool CompiledMaps::jvp_from_indices(const void* indices, Dtype index, const void* dx, void* dy,
                                    const ProgressCallback& progress) const {
  return plan_->jvp_from_indices(indices, index_kind_of(index), dx, dy, progress);
}
bool CompiledMaps::vjp_from_indices(const void* indices, Dtype index, const void* gy, void* gx,
                                    const ProgressCallback& progress) const {
  return plan_->vjp_from_indices(indices, index_kind_of(index), gy, gx, progress);
}
bool CompiledMaps::unpool(const void* values, const void* indices, void* cells,
                          const ProgressCallback& progress) const {
  return plan_->place(indices, values, cells, progress);
}
bool CompiledMaps::unpool_vjp(const void* cells, const void* indices, void* values,
                              const ProgressCallback& progress) const {
  return plan_->place_vjp(indices, cells, values, progress);
}

}  // namespace detail

}  // namespace ndpool
