// Per-target code: vectors folded with the spec's split, so with the spec's bits. No include guard of the usual kind:
// see rows-inl.h.
#if defined(NDPOOL_FOLDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FOLDS_INL_H_
#undef NDPOOL_FOLDS_INL_H_
#else
#define NDPOOL_FOLDS_INL_H_
#endif

#include "kernels/simd/cells-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Folds leaf(0), ..., leaf(N - 1) with the spec's split.
template <int first, int count, class Leaf, class Combiner>
HWY_INLINE auto fold_split(const Leaf& leaf, const Combiner& combine) {
  if constexpr (count == 1) {
    return leaf(first);
  } else {
    constexpr int half = static_cast<int>(std::bit_floor(static_cast<unsigned>(count - 1)));
    return combine(fold_split<first, half>(leaf, combine), fold_split<first + half, count - half>(leaf, combine));
  }
}
/// The same for a number of leaves that is known at run time: four of them make a block, equal blocks are joined as
/// soon as there are two of them, and the rest from the back.
template <class C, class Leaf>
HWY_INLINE typename C::V fold_split(Index count, const Leaf& leaf) {
  using V = typename C::V;
  const auto block = [&](Index first) NDPOOL_HOT {
    V v = leaf(first);
    if (count - first >= 4)
      return C::combine(C::combine(v, leaf(first + 1)), C::combine(leaf(first + 2), leaf(first + 3)));
    if (count - first > 1) v = C::combine(v, leaf(first + 1));
    if (count - first > 2) v = C::combine(v, leaf(first + 2));
    return v;
  };
  V blocks[6];  // no window in registers has 2^8 taps on one axis
  int used = 0;
  for (Index i = 0; 4 * i < count; ++i) {
    V v = block(4 * i);
    for (Index bits = i; bits & 1; bits >>= 1) v = C::combine(blocks[--used], v);
    blocks[used++] = v;
  }
  V all = blocks[--used];
  while (used > 0) all = C::combine(blocks[--used], all);
  return all;
}

/// Calls f.operator()<count>(), for counts from 1 to `most`.
template <int most, int N = 1, class F>
HWY_INLINE void with_count(Index count, const F& f) {
  if (count == N) return f.template operator()<N>();
  if constexpr (N < most) with_count<most, N + 1>(count, f);
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FOLDS_INL_H_
