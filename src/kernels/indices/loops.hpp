// The loops over a block of indices, in tables of one instruction set: entries are functions, so that all else is
// compiled once.
#pragma once

#include <ndpool/axis.hpp>

#include <cstdint>

namespace ndpool::indices {

/// Outputs that are decoded together: their offsets, tables and values stay in the first-level cache.
inline constexpr Index max_block = 1024;

/// How an index names a cell: by a tap number of 1, 2 or 4 bytes, by a flat index of 8, or, inside the library, by one
/// of 4. All ones name none.
enum class Form : unsigned char { tap8, tap16, tap32, flat64, flat32 };
inline constexpr int element_forms = 4;  ///< forms that are loaded alike are one: tap32 and flat32
constexpr int element_of(Form form) {
  return form == Form::flat32 ? static_cast<int>(Form::tap32) : static_cast<int>(form);
}
constexpr bool is_flat(Form form) { return form >= Form::flat64; }

/// offset = constant + base of the output + factor * index + sum over terms of coefficient * (index / divisor).
struct Term {
  Index divisor = 1;
  Index coefficient = 0;
};

/// From the indices of a block to offsets of cells; -1 for none, and for offsets at or above `limit`.
template <class Offset>
struct Decoding {
  const void* indices;
  Index count;
  const Offset* base;
  const Offset* window;  ///< if not null: the first index of each output's window, less that of the first output,
  Offset first_window, window_length;
  Offset constant, factor, limit;
  const Term* terms;
  int term_count;
  Offset* offsets;
};

/// Whether the taps of a block are on cells of one axis, or in their bins: on_axis = tap / divisor % kernel, and
/// on_axis * dilation + start < end, where both are sums of a number for all outputs and one of each.
template <class Offset>
struct AxisCheck {
  const void* indices;
  Index count;
  Index divisor, kernel, dilation;
  const Offset *start, *end;
  Offset start_of_all, end_of_all;
};

template <class Offset>
struct OffsetLoops {
  /// Answers whether an index lies outside of its output's window.
  bool (*decode[element_forms])(const Decoding<Offset>&);
  bool (*taps_are_real[element_forms])(const AxisCheck<Offset>&);
  /// cells[offset] += value, in order; the second where many are in no cell, as those of windows across slabs.
  void (*add_f32[2])(const Offset* offsets, Index count, const float* values, float* cells);
  void (*add_f64[2])(const Offset* offsets, Index count, const double* values, double* cells);
  /// cells[offset] = value, in order; for elements of 1, 2, 4 and 8 bytes.
  void (*put[4])(const Offset* offsets, Index count, const void* values, void* cells);
  /// value = cells[offset], 0 for none.
  void (*take[4])(const Offset* offsets, Index count, const void* cells, void* values);
};

struct IndexLoops {
  std::int64_t target = 0;
  OffsetLoops<std::int32_t> narrow;
  OffsetLoops<std::int64_t> wide;
  /// All indices are none or at most `last`.
  bool (*are_within[element_forms])(const void* indices, Index count, Index last);
  /// f16 and bf16, and back.
  void (*widen[2])(const void* from, Index count, float* to);
  void (*round[2])(const float* from, Index count, void* to);
};

/// The loops of the instruction set in use.
const IndexLoops& index_loops();

}  // namespace ndpool::indices
