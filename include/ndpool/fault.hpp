// What can be wrong with a call, as a plain value: no heap, no strings, usable in constant expressions and without
// an operating system. Sentences are made from faults in one place, src/sentences.cpp.
#pragma once

#include <cstdint>

namespace ndpool {

/// Every extent, stride, position and count. 64-bit on every platform.
using Index = std::int64_t;

/// The largest number of axes an array can have; NumPy's own limit.
inline constexpr int max_rank = 64;

/// What is wrong.
enum class Code : unsigned char {
  none,                  ///< nothing
  not_positive,          ///< an argument that must be at least 1
  negative,              ///< an argument that must be at least 0
  overflow,              ///< a sum or product of extents does not fit 64 bits
  kernel_exceeds_input,  ///< not a single window fits
  zero_length,           ///< a pooled axis without cells
  empty_window,          ///< a window that sees no input element
  rank_too_large,        ///< more than max_rank axes
  nothing_to_pool,       ///< no pooled axis
  too_many_axes,         ///< more pooled axes than the array has
  wrong_count,           ///< a per-axis list whose length is not the number of pooled axes
  axis_out_of_range,     ///< an entry of axes that the array does not have
  axis_repeated,         ///< an entry of axes that occurs twice
  shape_mismatch,        ///< an array whose extent on one axis is not the expected one
  rank_mismatch,         ///< an array with another number of axes than expected
  null_data,             ///< a view of at least one element without memory
  too_few_elements,      ///< a container smaller than the shape laid over it
  overlap,               ///< an output that shares bytes with an input
  zero_stride,           ///< an output whose cells share memory
  zero_divisor,          ///< divisor 0
  beta_not_usable,       ///< beta 0, infinite or NaN
  no_beta,               ///< the derivative by beta asked of a pool other than smooth max
  p_not_positive,        ///< p <= 0 or NaN
  p_not_finite,          ///< infinite p in a reducer for finite p
  ties_without_extreme,  ///< ties asked of an Lp pool whose p is finite
  no_indices,            ///< indices asked of a reducer that has no winner
  no_derivative,         ///< derivative asked of a scalar that has none (integers, intervals)
  no_order,              ///< max, min or Lp asked of a scalar without an order
  no_transcendentals,    ///< smooth max or Lp asked of a scalar without exp, log and pow
  no_identity,           ///< empty = identity asked of a scalar without a lowest or highest value
  taps_do_not_fit,       ///< a window with more taps than a compact index can number
  index_out_of_range,    ///< an index that names no cell of the window or of the array
  edges_dropped,         ///< elements at an edge that no window sees, where the caller asked for an error
  nothing_kept,          ///< the backward map of a layer that has not run forward in training mode
  stride_mismatch,       ///< a view whose stride on one axis is not that of the plan
  before_container,      ///< strides that lead to positions before the first element of a container
  empty_plan,            ///< a plan that was default-constructed, or moved from
  name_repeated,         ///< a node of a graph with the name of another
  compiled_before,       ///< a node that was added to its graph after the program was compiled
};

/// The argument a fault is about. The names are those a caller wrote.
enum class Argument : unsigned char {
  none,
  shape,
  kernel,
  stride,
  padding,
  dilation,
  axes,
  output_size,
  divisor,
  beta,
  p,
  ties,
  empty,
  x,
  y,
  dx,
  dy,
  gy,
  gx,
  indices,
  taps,
  strides,
  out,
  grad_out,
};

/// `values` holds the numbers of the sentence, in the order in which it names them; `real` the one that is not whole.
struct Fault {
  Code code = Code::none;              ///< what is wrong
  Argument argument = Argument::none;  ///< with which argument
  int axis = -1;                       ///< axis of the array, -1 if the fault is not about one axis
  Index values[5] = {};                ///< the numbers of the sentence
  double real = 0;                     ///< a number of the sentence that is not whole

  /// True if something is wrong.
  [[nodiscard]] constexpr explicit operator bool() const { return code != Code::none; }
};

}  // namespace ndpool
