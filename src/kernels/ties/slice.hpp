// Derivatives by ties of one slice. Knows no instruction set.
#pragma once

#include "kernels/analytic/slice.hpp"

namespace ndpool::ties {

/// Null for integers, which have no derivatives.
struct TieKernels {
  std::int64_t target = 0;
  analytic::SliceKernel of[scalar_kinds] = {};
};

/// What was compiled for a target, or for the best one below it.
const TieKernels* tie_kernels_for(std::int64_t target);

/// Scratch of a slice besides the engine's: numbers and tangents, and pairs of twice the size.
inline std::size_t slice_bytes(const analytic::Slice& slice) {
  using analytic::slice_box_bytes;
  return 2 * slice_box_bytes(slice.cells) + slice_box_bytes(2 * slice.cells) + 2 * slice_box_bytes(2 * slice.outputs) +
         slice_box_bytes(slice.outputs);
}

}  // namespace ndpool::ties
