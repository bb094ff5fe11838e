// The general engine's entries for the instruction set in use.
#pragma once

#include "kernels/general/choose.hpp"

#include <cstdint>

namespace ndpool::general {

/// Entries of one instruction set, for extremes or for sums; null for the others.
struct GeneralKernels {
  std::int64_t target = 0;
  GeneralKernel of[element_kinds] = {};
};

/// What was compiled for a target; null if nothing was.
const GeneralKernels* extremes_for(std::int64_t target);
const GeneralKernels* sums_for(std::int64_t target);
const GeneralKernels* positions_for(std::int64_t target);

/// The entry for an element on the target in use.
GeneralKernel kernel_of(ElementKind kind);

}  // namespace ndpool::general
