// Smooth max and Lp run slice by slice: a slice is some planes, or a slab of one, with all that its maps need between
// the arrays and the sums of the general engine. Knows no instruction set.
#pragma once

#include "plan/general_plan.hpp"

#include "plan/kernel_plan.hpp"

#include <memory>
#include <vector>

namespace ndpool::analytic {

/// An axis of a part of an array, and of the same part packed in row-major order.
struct CopyAxis {
  Index extent = 1, stride = 1, packed_stride = 1;
};
/// How a part of an array is copied from or to its packed form.
struct CopyLayout {
  std::vector<CopyAxis>
      axes;  ///< merged; none is of one element; the last two are copied in blocks, or the last in runs
  Index count = 1;
  Index packed_offset = 0;  ///< of the part in a larger packed box
  bool is_packed = true;    ///< the array lies as the packed box does, and all of the box is copied
};

/// One axis that is folded, in the stated order.
struct SliceAxis {
  Windows windows, transposed;
  Index before = 1;  ///< product of the extents of axes before it: outputs of those that are folded, cells of others
  Index behind = 1;  ///< product of the cells of axes behind it
  Index transposed_before = 1, transposed_behind = 1;
};

/// The arrays of a map; each has a copy layout.
enum class SliceArray : unsigned char { in, tangent_in, gradient_in, out, tangent_out };
inline constexpr int slice_arrays = 5;

/// A slice, but for its place in the arrays.
struct Slice {
  Index cells = 1, outputs = 1;
  CopyLayout copies[slice_arrays];
  std::vector<SliceAxis> axes;
  std::shared_ptr<const GeneralPlan> sums, transposed_sums;  ///< of Lp with p = infinity, `sums` are maxima
  std::shared_ptr<const KernelPlan> extremes;                ///< derivatives of max, for p = infinity
  double taps = 1;            ///< of the largest window, or the most windows on a cell, padding that counts included
  std::vector<double> zeros;  ///< padded taps that count, of each output; empty if there are none
  std::vector<std::int32_t> single;  ///< the cell of outputs that see one only, else -1; empty if there are none

  const CopyLayout& copy(SliceArray which) const { return copies[static_cast<int>(which)]; }
};

/// What a thread learns from one slice for the next.
struct SliceState {
  double scale = 0, root_scale = 0;
  int careful_slices = 0;  ///< to run before plain numbers are tried again
};

enum class SliceMap : unsigned char { forward, jvp, vjp };

struct SliceJob {
  const Slice& slice;
  const KernelChoice& choice;
  SliceMap map;
  const void* in;
  void* out;
  void* tangent_in;
  void* tangent_out;
  char* scratch;  ///< slice_bytes() of it
  char* engine_scratch;
  SliceState& state;
};

using SliceKernel = void (*)(const SliceJob&);

/// Types of numbers and of sums.
enum class SliceTypes : unsigned char {
  floats,     ///< both float
  wide_sums,  ///< sums in double: where powers of most data would leave the range of float
  doubles,    ///< both double
};
inline constexpr int slice_types = 3;

/// The kernels of one scalar, by the types of numbers and sums; null for integers and for types that do not serve.
struct SliceFamilies {
  SliceKernel smooth_max[slice_types] = {}, lp[slice_types] = {};
  SliceKernel magnitudes = nullptr;  ///< Lp with p = infinity
};
struct SliceKernels {
  std::int64_t target = 0;
  SliceFamilies of[scalar_kinds] = {};
};
/// What was compiled for a target; null if nothing was.
const SliceKernels* slice_kernels_for(std::int64_t target);

/// By parameters alone, so that parts of an array are pooled as the whole is.
SliceTypes slice_types_of(ScalarKind kind, const KernelChoice& choice);

/// Packed boxes in scratch: numbers, tangents, powers, products of powers and tangents, sums, and sums of products.
inline std::size_t slice_box_bytes(Index count) {
  return (static_cast<std::size_t>(count) * sizeof(double) + 127) / 64 * 64;
}
inline std::size_t slice_bytes(const Slice& slice, SliceMap map) {
  const std::size_t cells = slice_box_bytes(slice.cells), outputs = slice_box_bytes(slice.outputs);
  return map == SliceMap::forward ? 2 * cells + 2 * outputs : 4 * cells + 3 * outputs;
}

/// Memory of the calling thread for slices whose powers leave the range: buffer number `which`, kept for the next.
void* careful_scratch(int which, std::size_t bytes);

}  // namespace ndpool::analytic
