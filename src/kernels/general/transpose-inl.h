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

template <std::size_t size>
using BitsOf = std::conditional_t<
    size == 1, std::uint8_t,
    std::conditional_t<size == 2, std::uint16_t, std::conditional_t<size == 4, std::uint32_t, std::uint64_t>>>;

/// Elements a side of a block.
template <class T>
inline constexpr int block_side = HWY_TARGET == HWY_SCALAR ? 1 : static_cast<int>(16 / sizeof(T));

/// Transposes one block: `load(i)` is row i of the source, `store(j, v)` takes row j of the result.
template <class T, class Load, class Store>
HWY_INLINE void transpose_block(const Load& load, const Store& store) {
#if HWY_TARGET == HWY_SCALAR
  store(0, load(0));
#else
  constexpr int side = block_side<T>;
  const hn::FixedTag<T, side> d;
  using V = hn::Vec<decltype(d)>;
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

/// to[c * pitch + r] = row(r)[c] for r < rows, c < n. `room(r)` elements may be read from row(r) on. The lanes of `to`
/// are written in whole blocks, so that lanes beyond `rows` repeat the last row.
template <class Element, class Row, class Room>
HWY_NOINLINE void rows_to_lanes(const Row& row, const Room& room, Index rows, Index n, Element* to, Index pitch) {
  using T = BitsOf<sizeof(Element)>;
  constexpr Index side = block_side<T>;
  const hn::FixedTag<T, side> d;
  T* const lanes = reinterpret_cast<T*>(to);
  for (Index r = 0; r < rows; r += side)
    for (Index c = 0; c < n; c += side) {
      const Index at = n >= side ? std::min(c, n - side) : 0;
      transpose_block<T>(
          [&](int i) NDPOOL_ALWAYS_INLINE {
            const Index k = std::min(r + i, rows - 1);
            const T* const from = reinterpret_cast<const T*>(row(k)) + at;
            if (HWY_LIKELY(at + side <= room(k))) return hn::LoadU(d, from);
            alignas(16) T copy[side] = {};
            std::memcpy(copy, from, static_cast<std::size_t>(n - at) * sizeof(T));
            return hn::Load(d, copy);
          },
          [&](int j, auto v) NDPOOL_ALWAYS_INLINE {
            if (at + j < n) hn::StoreU(v, d, lanes + (at + j) * pitch + r);
          });
    }
}

/// row(r)[c] = from[c * pitch + r] for r < rows, c < n. `room(r)` elements may be written from row(r) on, in the order
/// of r: what is written beyond a row is overwritten by the next.
template <class Element, class Row, class Room>
HWY_NOINLINE void lanes_to_rows(const Element* from, Index pitch, const Row& row, const Room& room, Index rows, Index n) {
  using T = BitsOf<sizeof(Element)>;
  constexpr Index side = block_side<T>;
  const hn::FixedTag<T, side> d;
  const T* const lanes = reinterpret_cast<const T*>(from);
  for (Index r = 0; r < rows; r += side)
    for (Index c = 0; c < n; c += side) {
      const Index at = n >= side ? std::min(c, n - side) : 0;
      transpose_block<T>(
          [&](int i) NDPOOL_ALWAYS_INLINE { return hn::LoadU(d, lanes + std::min(at + i, n - 1) * pitch + r); },
          [&](int j, auto v) NDPOOL_ALWAYS_INLINE {
            if (r + j >= rows) return;
            T* const to = reinterpret_cast<T*>(row(r + j)) + at;
            if (HWY_LIKELY(at + side <= room(r + j))) {
              hn::StoreU(v, d, to);
              return;
            }
            alignas(16) T copy[side];
            hn::Store(v, d, copy);
            std::memcpy(to, copy, static_cast<std::size_t>(n - at) * sizeof(T));
          });
    }
}

}  // namespace general
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_GENERAL_TRANSPOSE_INL_H_
