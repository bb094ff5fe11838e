// The general engine's entries for the instruction set in use.
#pragma once

#include "kernels/general/choose.hpp"
#include "kernels/table.hpp"

#include <cstdint>

namespace ndpool::general {

/// Entries of one instruction set for one list of elements; null for the others.
struct GeneralKernels {
  std::int64_t target = 0;
  GeneralKernel of[element_kinds] = {};
};

/// What was compiled for a target, or for the best one below it. Each list of elements is a file of its own.
const GeneralKernels* integer_extremes_for(std::int64_t target);
const GeneralKernels* float_extremes_for(std::int64_t target);
const GeneralKernels* sums_for(std::int64_t target);
const GeneralKernels* short_sums_for(std::int64_t target);
const GeneralKernels* byte_sums_for(std::int64_t target);
const GeneralKernels* integer_sums_for(std::int64_t target);
const GeneralKernels* wide_sums_for(std::int64_t target);
const GeneralKernels* positions_for(std::int64_t target);
const GeneralKernels* far_positions_for(std::int64_t target);

/// The entry for an element on the target in use.
GeneralKernel kernel_of(ElementKind kind);

/// Defines `getter`, which answers one target's entries of a list of elements.
#define NDPOOL_GENERAL_TABLE(getter, ELEMENTS)      \
  const ndpool::general::GeneralKernels* getter() { \
    using namespace general;                        \
    static constexpr GeneralKernels kernels = [] {  \
      GeneralKernels some;                          \
      some.target = HWY_TARGET;                     \
      ELEMENTS(NDPOOL_GENERAL_ROW)                  \
      return some;                                  \
    }();                                            \
    return &kernels;                                \
  }
#define NDPOOL_GENERAL_ROW(name, ...) some.of[static_cast<int>(ElementKind::name)] = run_general<__VA_ARGS__>;

/// Defines `finder`, which looks up what every target's `getter` answers: for the end of a file of elements.
#define NDPOOL_EXPORT_GENERAL(getter, finder)                            \
  HWY_EXPORT(getter);                                                    \
  const general::GeneralKernels* general::finder(std::int64_t target) {  \
    return best_for<GeneralKernels>(HWY_DISPATCH_TABLE(getter), target); \
  }

}  // namespace ndpool::general
