// Per-target code: parts of arrays as packed boxes of numbers, and back. No include guard of the usual kind: see
// lanes-inl.h.
#if defined(NDPOOL_ANALYTIC_COPIES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ANALYTIC_COPIES_INL_H_
#undef NDPOOL_ANALYTIC_COPIES_INL_H_
#else
#define NDPOOL_ANALYTIC_COPIES_INL_H_
#endif

#include "kernels/analytic/lanes-inl.h"
#include "kernels/analytic/slice.hpp"
#include "kernels/general/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace analytic {

using namespace ndpool::analytic;  // what does not depend on the target

/// Short floats are widened by way of float.
template <class To, class From>
HWY_INLINE To number(From from) {
  if constexpr (!std::is_arithmetic_v<From>)
    return static_cast<To>(static_cast<float>(from));
  else
    return static_cast<To>(from);
}

/// Converts elements that follow one another.
template <class From, class To>
void convert_run(const From* from, To* to, Index count) {
  if constexpr (std::is_same_v<From, To>) {
    std::copy_n(from, count, to);
  } else if constexpr (std::is_same_v<To, float> && sizeof(From) == 2 && !std::is_integral_v<From>) {
    using E = general::HalfSum<From>;
    const general::Finish finish;
    const hn::ScalableTag<float> d;
    Index i = 0;
    for (; i + E::lanes <= count; i += E::lanes) hn::StoreU(E::lift(from + i, finish), d, to + i);
    for (; i < count; ++i) to[i] = static_cast<To>(from[i]);
  } else if constexpr (std::is_same_v<From, float> && sizeof(To) == 2 && !std::is_integral_v<To>) {
    using E = general::HalfSum<To>;
    const general::Finish finish;
    const hn::ScalableTag<float> d;
    Index i = 0;
    for (; i + E::lanes <= count; i += E::lanes) E::store(hn::LoadU(d, from + i), to + i, 0, finish);
    for (; i < count; ++i) to[i] = To(from[i]);
  } else {
    for (Index i = 0; i < count; ++i) to[i] = number<To>(from[i]);
  }
}

/// Calls visit(offset in the array, offset in the packed box) for all positions of the axes but the last `inner` ones.
template <class Visit>
void for_each_run(const CopyLayout& layout, std::size_t inner, const Visit& visit) {
  const std::size_t outer = layout.axes.size() - inner;
  Index position[max_rank] = {};
  Index at = 0, packed = layout.packed_offset;
  for (;;) {
    visit(at, packed);
    std::size_t a = outer;
    for (; a > 0; --a) {
      const CopyAxis& axis = layout.axes[a - 1];
      at += axis.stride;
      packed += axis.packed_stride;
      if (++position[a - 1] < axis.extent) break;
      at -= axis.extent * axis.stride;
      packed -= axis.extent * axis.packed_stride;
      position[a - 1] = 0;
    }
    if (a == 0) return;
  }
}

/// Calls move(element of the array, element of the box) where neither lies as the other does: in blocks, so that lines
/// of both stay in the cache.
template <class Move>
void for_each_of_block(const CopyAxis& rows, const CopyAxis& columns, const Move& move) {
  constexpr Index side = 16;
  for (Index r = 0; r < rows.extent; r += side)
    for (Index c = 0; c < columns.extent; c += side)
      for (Index i = r; i < std::min(r + side, rows.extent); ++i)
        for (Index j = c; j < std::min(c + side, columns.extent); ++j)
          move(i * rows.stride + j * columns.stride, i * rows.packed_stride + j * columns.packed_stride);
}

/// Calls run(array offset, packed offset, count) for runs that follow one another in both, or move(array offset, packed
/// offset) for single elements.
template <class Run, class Move>
void copy_box(const CopyLayout& layout, const Run& run, const Move& move) {
  if (layout.axes.empty()) return run(Index{0}, layout.packed_offset, Index{1});
  const CopyAxis& last = layout.axes.back();
  if (last.stride == 1 && last.packed_stride == 1)
    return for_each_run(layout, 1, [&](Index at, Index packed) { run(at, packed, last.extent); });
  if (layout.axes.size() == 1)
    return for_each_of_block({}, last, [&](Index at, Index packed) { move(at, layout.packed_offset + packed); });
  const CopyAxis& rows = layout.axes[layout.axes.size() - 2];
  for_each_run(layout, 2, [&](Index at, Index packed) {
    for_each_of_block(last, rows, [&](Index a, Index p) { move(at + a, packed + p); });
  });
}

/// A part of an array as a packed box of numbers: in place, or in `box`.
template <class S, class T>
const T* loaded(const CopyLayout& layout, const void* array, T* box) {
  const S* const from = static_cast<const S*>(array);
  if constexpr (std::is_same_v<S, T>)
    if (layout.is_packed) return from;
  copy_box(
      layout, [&](Index at, Index packed, Index count) { convert_run(from + at, box + packed, count); },
      [&](Index at, Index packed) { box[packed] = number<T>(from[at]); });
  return box;
}
/// Where a packed box of results is made: in place, or in `box`.
template <class S, class T>
T* place_for(const CopyLayout& layout, void* array, T* box) {
  if constexpr (std::is_same_v<S, T>)
    if (layout.is_packed) return static_cast<S*>(array);
  return box;
}
/// Brings results that were made there to the array.
template <class S, class T>
void store(const CopyLayout& layout, const T* box, void* array) {
  S* const to = static_cast<S*>(array);
  if constexpr (std::is_same_v<S, T>)
    if (layout.is_packed) return;
  copy_box(
      layout, [&](Index at, Index packed, Index count) { convert_run(box + packed, to + at, count); },
      [&](Index at, Index packed) { to[at] = number<S>(box[packed]); });
}

}  // namespace analytic
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ANALYTIC_COPIES_INL_H_
