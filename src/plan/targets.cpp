// Which instruction set's kernels run.
#include "kernels/general/table.hpp"
#include "kernels/scratch.hpp"
#include "kernels/simd/nan_flag.hpp"
#include "kernels/table.hpp"

#include <ndpool/error.hpp>

#include <hwy/targets.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace ndpool {

namespace {

/// The tables of the targets this machine has, best first; Highway numbers better targets lower.
std::vector<KernelTable> find_tables() {
  std::vector<KernelTable> tables;
  const std::int64_t supported = hwy::SupportedTargets();
  for (int bit = 0; bit < 63; ++bit)
    if (supported >> bit & 1) tables.push_back({.target = std::int64_t{1} << bit});
  add_forward_float_kernels(tables);
  add_forward_short_kernels(tables);
  add_forward_integer_kernels(tables);
  add_winner_kernels(tables);
  add_spread_kernels(tables);
  add_index_kernels(tables);
  add_disjoint_kernels(tables);
  add_widen_kernels(tables);
  std::erase_if(tables, [](const KernelTable& table) {
    const general::GeneralKernels* const extremes = general::integer_extremes_for(table.target);
    return table.forward_float == nullptr && (extremes == nullptr || extremes->target != table.target);
  });
  // A target that some kernels are not compiled for has those of the next one.
  for (std::size_t i = tables.size() - 1; i-- > 0;)
    if (tables[i].forward_float == nullptr) {
      const std::int64_t target = tables[i].target;
      tables[i] = tables[i + 1];
      tables[i].target = target;
    }
  return tables;
}

const std::vector<KernelTable>& tables() {
  static const std::vector<KernelTable> found = find_tables();
  return found;
}

std::string name_of(const KernelTable& table) { return hwy::TargetName(table.target); }

const KernelTable* find(const std::string& name) {
  if (name.empty()) return &tables().front();
  for (const KernelTable& table : tables())
    if (name_of(table) == name) return &table;
  std::string known;
  for (const KernelTable& table : tables()) known.append(" ").append(name_of(table));
  throw std::invalid_argument("there is no target " + name + " on this machine; there are:" + known);
}

std::atomic<const KernelTable*>& in_use() {
  static std::atomic<const KernelTable*> table = [] {
    const char* forced = std::getenv("NDPOOL_FORCE_TARGET");
    return find(forced == nullptr ? "" : forced);
  }();
  return table;
}

}  // namespace

bool nans_raise_a_flag() {
#if NDPOOL_HAS_NAN_FLAG
  static const bool they_do = [] {
    unsigned before = 0, after = 0;
    asm volatile("stmxcsr %0" : "=m"(before));
    const unsigned lowered = (before | 1U << 7) & ~1U;
    bool raised = true;
    // On either side, a NaN that calls for no attention otherwise.
    for (const bool first : {true, false}) {
      float a = first ? std::numeric_limits<float>::quiet_NaN() : 1.0F;
      const float b = first ? 1.0F : std::numeric_limits<float>::quiet_NaN();
      asm volatile("ldmxcsr %0" : : "m"(lowered));
      asm volatile("maxss %1, %0" : "+x"(a) : "x"(b));
      asm volatile("stmxcsr %0" : "=m"(after));
      raised = raised && (after & 1U) != 0;
    }
    asm volatile("ldmxcsr %0" : : "m"(before));
    return raised;
  }();
  return they_do;
#else
  return false;
#endif
}

const KernelTable& kernels() { return *in_use().load(std::memory_order_relaxed); }

general::GeneralKernel general::kernel_of(ElementKind kind) {
  struct Found {
    std::array<const GeneralKernels*, 9> families;
  };
  static const std::vector<Found> found = [] {
    std::vector<Found> all;
    for (const KernelTable& table : tables())
      all.push_back({{integer_extremes_for(table.target), float_extremes_for(table.target), sums_for(table.target),
                      short_sums_for(table.target), byte_sums_for(table.target), integer_sums_for(table.target),
                      wide_sums_for(table.target), positions_for(table.target), far_positions_for(table.target)}});
    return all;
  }();
  const Found& in_target = found[static_cast<std::size_t>(&kernels() - tables().data())];
  const auto which = static_cast<int>(kind);
  for (const GeneralKernels* family : in_target.families)
    if (family->of[which] != nullptr) return family->of[which];
  return nullptr;
}

std::vector<std::string> targets() {
  std::vector<std::string> names;
  for (const KernelTable& table : tables()) names.push_back(name_of(table));
  return names;
}

std::string target() { return name_of(kernels()); }

void force_target(const std::string& name) { in_use().store(find(name)); }

}  // namespace ndpool
