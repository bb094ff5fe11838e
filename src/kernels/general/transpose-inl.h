// Per-target code: transposes rows to lanes and back, in blocks of 16 bytes a side.
#if defined(NDPOOL_GENERAL_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_GENERAL_TRANSPOSE_INL_H_
#undef NDPOOL_GENERAL_TRANSPOSE_INL_H_
#else
#define NDPOOL_GENERAL_TRANSPOSE_INL_H_
#endif

#include "kernels/general/elements-inl.h"

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace general {

/// An element of 16 bytes, which fills a block.
struct WideBits {
  std::uint64_t low, high;
};
template <std::size_t size>
using BitsOf =
    std::conditional_t<size == 1, std::uint8_t,
                       std::conditional_t<size == 2, std::uint16_t,
                                          std::conditional_t<size == 4, std::uint32_t,
                                                             std::conditional_t<size == 8, std::uint64_t, WideBits>>>>;

/// Elements a side of a block.
template <class T>
inline constexpr int block_side = HWY_TARGET == HWY_SCALAR ? 1 : static_cast<int>(16 / sizeof(T));

/// Transposes one block, or several side by side in the 16-byte blocks of a vector of the tag `d`: `load(i)` is row i
/// of the source, `store(j, v)` takes row j of the result.
template <class T, class D, class Load, class Store>
HWY_INLINE void transpose_block(D d, const Load& load, const Store& store) {
#if HWY_TARGET == HWY_SCALAR
  static_cast<void>(d);
  store(0, load(0));
#else
  constexpr int side = block_side<T>;
  using V = hn::Vec<D>;
  V a[side], b[side];
  HWY_UNROLL(16)
  for (int i = 0; i < side; ++i) a[i] = load(i);
  // Each step interleaves the two halves of the rows; log2(side) steps transpose.
  const auto step = [d](const V* from, V* to) NDPOOL_ALWAYS_INLINE {
    HWY_UNROLL(16)
    for (int i = 0; i < side / 2; ++i) {
      to[2 * i] = hn::InterleaveLower(d, from[i], from[i + side / 2]);
      to[2 * i + 1] = hn::InterleaveUpper(d, from[i], from[i + side / 2]);
    }
  };
  step(a, b);
  if constexpr (side >= 4) step(b, a);
  if constexpr (side >= 8) step(a, b);
  if constexpr (side >= 16) step(b, a);
  const V* const result = side == 2 || side == 8 ? b : a;
  HWY_UNROLL(16)
  for (int i = 0; i < side; ++i) store(i, result[i]);
#endif
}

/// Rows `pitch` apart. Elements up to `end` may be read, or, in the order of rows, written.
template <class Element>
struct EvenRows {
  Element* first;
  Index pitch;
  Element* end;
  HWY_INLINE Element* operator()(Index r) const { return first + r * pitch; }
  HWY_INLINE Index room(Index r) const { return end - (first + r * pitch); }
};
/// Rows anywhere, of `length` elements each.
template <class Element>
struct ScatteredRows {
  Element* const* rows;
  Index length;
  HWY_INLINE Element* operator()(Index r) const { return rows[r]; }
  HWY_INLINE Index room(Index) const { return length; }
};

/// to[c * pitch + r] = rows(r)[c] for r < count, c < n. The lanes of `to` are written in whole blocks, so that lanes
/// beyond `count` repeat the last row.
template <class Element, class Rows>
HWY_NOINLINE void rows_to_lanes(const Rows& rows, Index count, Index n, Element* to, Index pitch) {
  using T = BitsOf<sizeof(Element)>;
  constexpr Index side = block_side<T>;
  const hn::FixedTag<T, side> d;
  T* const lanes = reinterpret_cast<T*>(to);
  Index r = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(hn::ScalableTag<T>()) >= 2 * side) {  // two blocks side by side
    const hn::FixedTag<T, 2 * side> both;
    for (; n >= side && r + 2 * side <= count; r += 2 * side)
      for (Index c = 0; c < n; c += side) {
        const Index at = std::min(c, n - side);
        const auto part = [&](Index i) NDPOOL_ALWAYS_INLINE {
          return hn::LoadU(d, reinterpret_cast<const T*>(rows(r + i)) + at);
        };
        transpose_block<T>(
            both, [&](int i) NDPOOL_ALWAYS_INLINE { return hn::Combine(both, part(i + side), part(i)); },
            [&](int j, auto v) NDPOOL_ALWAYS_INLINE { hn::StoreU(v, both, lanes + (at + j) * pitch + r); });
      }
  }
#endif
  for (; r < count; r += side) {
    const Index last_row = std::min(r + side, count) - 1;
    for (Index c = 0; c < n; c += side) {
      const Index at = n >= side ? std::min(c, n - side) : 0;
      const Index columns = std::min(side, n - at);
      T* const column = lanes + at * pitch + r;
      const auto store = [&](int j, auto v) NDPOOL_ALWAYS_INLINE {
        if (j < columns) hn::StoreU(v, d, column + j * pitch);
      };
      if (HWY_LIKELY(last_row == r + side - 1 && at + side <= rows.room(last_row))) {
        transpose_block<T>(
            d, [&](int i) NDPOOL_ALWAYS_INLINE { return hn::LoadU(d, reinterpret_cast<const T*>(rows(r + i)) + at); },
            store);
        continue;
      }
      transpose_block<T>(
          d,
          [&](int i) NDPOOL_ALWAYS_INLINE {
            alignas(16) T copy[side] = {};
            std::memcpy(copy, rows(std::min(r + i, last_row)) + at, static_cast<std::size_t>(columns) * sizeof(T));
            return hn::Load(d, copy);
          },
          store);
    }
  }
}
/// Elements that fill a block are moved one by one.
template <class Element, class Rows>
requires(sizeof(Element) == sizeof(WideBits)) HWY_NOINLINE
    void rows_to_lanes(const Rows& rows, Index count, Index n, Element* to, Index pitch) {
  for (Index r = 0; r < count; ++r)
    for (Index c = 0; c < n; ++c) to[c * pitch + r] = rows(r)[c];
}

/// rows(r)[c] = from[c * pitch + r] for r < count, c < n. What is written beyond a row is overwritten by the next.
template <class Element, class Rows>
HWY_NOINLINE void lanes_to_rows(const Element* from, Index pitch, const Rows& rows, Index count, Index n) {
  using T = BitsOf<sizeof(Element)>;
  constexpr Index side = block_side<T>;
  const hn::FixedTag<T, side> d;
  const T* const lanes = reinterpret_cast<const T*>(from);
  Index r = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(hn::ScalableTag<T>()) >= 2 * side) {
    const hn::FixedTag<T, 2 * side> both;
    for (; n >= side && r + 2 * side <= count; r += 2 * side)
      for (Index c = 0; c < n; c += side) {
        const Index at = std::min(c, n - side);
        const auto load = [&](int i) NDPOOL_ALWAYS_INLINE { return hn::LoadU(both, lanes + (at + i) * pitch + r); };
        transpose_block<T>(both, load, [&](int j, auto v) NDPOOL_ALWAYS_INLINE {
          hn::StoreU(hn::LowerHalf(d, v), d, reinterpret_cast<T*>(rows(r + j)) + at);
          hn::StoreU(hn::UpperHalf(d, v), d, reinterpret_cast<T*>(rows(r + j + side)) + at);
        });
      }
  }
#endif
  for (; r < count; r += side)
    for (Index c = 0; c < n; c += side) {
      const Index at = n >= side ? std::min(c, n - side) : 0;
      const Index columns = std::min(side, n - at);
      const auto load = [&](int i) NDPOOL_ALWAYS_INLINE {
        return hn::LoadU(d, lanes + (at + std::min<Index>(i, columns - 1)) * pitch + r);
      };
      if (HWY_LIKELY(r + side <= count && at + side <= rows.room(r + side - 1))) {
        transpose_block<T>(d, load, [&](int j, auto v) NDPOOL_ALWAYS_INLINE {
          hn::StoreU(v, d, reinterpret_cast<T*>(rows(r + j)) + at);
        });
        continue;
      }
      transpose_block<T>(d, load, [&](int j, auto v) NDPOOL_ALWAYS_INLINE {
        if (r + j >= count) return;
        alignas(16) T copy[side];
        hn::Store(v, d, copy);
        std::memcpy(static_cast<void*>(rows(r + j) + at), copy, static_cast<std::size_t>(columns) * sizeof(T));
      });
    }
}
template <class Element, class Rows>
requires(sizeof(Element) == sizeof(WideBits)) HWY_NOINLINE
    void lanes_to_rows(const Element* from, Index pitch, const Rows& rows, Index count, Index n) {
  for (Index r = 0; r < count; ++r)
    for (Index c = 0; c < n; ++c) rows(r)[c] = from[c * pitch + r];
}

/// to[j * to_pitch + i] = from[i * pitch + j] for i < rows, j < n. Touches nothing else.
template <class Element>
void copy_transposed(const Element* from, Index pitch, Index rows, Index n, Element* to, Index to_pitch) {
  constexpr Index side = block_side<BitsOf<sizeof(Element)>>;
  const Index whole = n >= side ? rows / side * side : 0;
  if (whole > 0)
    rows_to_lanes(EvenRows<const Element>{from, pitch, from + (whole - 1) * pitch + n}, whole, n, to, to_pitch);
  for (Index i = whole; i < rows; ++i)
    for (Index j = 0; j < n; ++j) to[j * to_pitch + i] = from[i * pitch + j];
}

/// Lanes back to rows that are `step` apart. False where blocks would write between the rows.
template <class S>
bool write_even_rows(const S* lanes, Index pitch, S* to, Index step, Index count, Index n) {
  if (n == 1 && step == 1) {
    std::copy_n(lanes, count, to);
    return true;
  }
  if (step != n && (step < n || n < block_side<BitsOf<sizeof(S)>>)) return false;
  lanes_to_rows(lanes, pitch, EvenRows<S>{to, step, to + (count - 1) * step + n}, count, n);
  return true;
}

/// Lanes back to rows at given places.
template <class S>
void write_rows(const S* lanes, Index pitch, S* const* to, Index count, Index n) {
  if (n == 1) {
    for (Index r = 0; r < count; ++r) *to[r] = lanes[r];
    return;
  }
  const Index step = count > 1 ? to[1] - to[0] : n;
  bool is_even = step >= n;
  for (Index r = 2; is_even && r < count; ++r) is_even = to[r] - to[r - 1] == step;
  // Blocks may run over the end of a row only if the next row follows at once.
  S* const end = to[count - 1] + n;
  if (is_even && (step == n || n >= block_side<BitsOf<sizeof(S)>>))
    lanes_to_rows(lanes, pitch, EvenRows<S>{to[0], step, end}, count, n);
  else
    lanes_to_rows(lanes, pitch, ScatteredRows<S>{to, n}, count, n);
}

}  // namespace general
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_GENERAL_TRANSPOSE_INL_H_
