// Per-target code: the one loop of the general engine, which combines up to 8 rows into one, for many outputs.
//
// Included once per target, so the guard toggles with Highway's.
#if defined(NDPOOL_GENERAL_FOLD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_GENERAL_FOLD_INL_H_
#undef NDPOOL_GENERAL_FOLD_INL_H_
#else
#define NDPOOL_GENERAL_FOLD_INL_H_
#endif

#include "kernels/general/elements-inl.h"

#include <bit>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace general {

/// Rows that one call combines.
inline constexpr int max_fold = 8;

/// How the rows of a call are joined: as the stated tree, or nested to the right, for blocks of falling sizes.
enum class Join : unsigned char { tree, nested };

/// An element of an array that is not in scratch: tells the two apart where both have the same type.
template <class S>
struct Stored {
  S value;
};
/// What a fold reads an array as: loops over it and over scratch are the same code where both hold the same numbers.
template <class E>
using SourceOf = std::conditional_t<E::lifts_nothing, typename E::Work, Stored<typename E::Stored>>;

constexpr int tree_half(int count) {
  int half = 1;
  while (half < count - half) half *= 2;
  return half;
}

template <class E, Join join, int first, int count, class Load>
HWY_INLINE typename E::V joined(const Load& load) {
  if constexpr (count == 1) {
    return load(std::integral_constant<int, first>());
  } else {
    constexpr int half = join == Join::nested ? 1 : tree_half(count);
    const auto earlier = joined<E, join, first, half>(load);
    return E::combine(earlier, joined<E, join, first + half, count - half>(load));
  }
}

/// One call of the loop: `rows[j]` moves on by `advance[j]` from output to output, the result by `to_step`.
template <class From, class To>
struct FoldCall {
  const From* const* rows;
  const Index* advance;  ///< not read for a single output
  Index outputs;
  To* to;
  Index to_step;
  Index n;  ///< elements of a row
  const Finish& finish;
};

/// Loads from arrays lift elements, loads from scratch do not; so for stores.
template <class E, class From>
HWY_INLINE typename E::V load_element(const From* from, const Finish& f) {
  if constexpr (std::is_same_v<From, typename E::Work>)
    return E::load(from);
  else
    return E::lift(reinterpret_cast<const typename E::Stored*>(from), f);
}
template <class E, class To>
HWY_INLINE void store_element(typename E::V v, To* to, Index i, const Finish& f) {
  if constexpr (std::is_same_v<To, typename E::Work>)
    E::put(v, to);
  else
    E::store(v, reinterpret_cast<typename E::Result*>(to), i, f);
}

template <class E, Join join, class From, class To>
void fold_narrow(int count, const FoldCall<From, To>& call);

/// Pointers stay in registers only if the loops over them are unrolled completely: 5 times as fast on short rows.
template <class E, int count, Join join, class From, class To>
HWY_NOINLINE void fold_rows(const FoldCall<From, To>& call) {
  constexpr Index lanes = E::lanes;
  const From* row[count];
  Index by[count];
  const Finish& f = call.finish;
  const Index n = call.n, to_step = call.to_step;
  Index outputs = call.outputs;
  To* to = call.to;
  HWY_UNROLL(8)
  for (int j = 0; j < count; ++j) {
    row[j] = call.rows[j];
    by[j] = outputs > 1 ? call.advance[j] : 0;
  }
  if (n < lanes) return fold_narrow<E, join>(count, call);
  for (;;) {
    const auto at = [&](Index i) NDPOOL_ALWAYS_INLINE {
      const auto load = [&](auto j) NDPOOL_ALWAYS_INLINE { return load_element<E>(row[j] + i, f); };
      store_element<E>(joined<E, join, 0, count>(load), to + i, i, f);
    };
    Index i = 0;
    for (; i + lanes <= n; i += lanes) at(i);
    if (i < n) at(n - lanes);  // overlaps the vector before: nothing outside of the row is touched
    if (--outputs <= 0) return;
    HWY_UNROLL(8)
    for (int j = 0; j < count; ++j) row[j] += by[j];
    to += to_step;
  }
}

/// The same for a number of rows known at run time.
template <class E, Join join = Join::tree, class From, class To>
void fold(int count, const FoldCall<From, To>& call) {
  switch (count) {
    case 1: return fold_rows<E, 1, join>(call);
    case 2: return fold_rows<E, 2, join>(call);
    case 3: return fold_rows<E, 3, join>(call);
    case 4: return fold_rows<E, 4, join>(call);
    case 5: return fold_rows<E, 5, join>(call);
    case 6: return fold_rows<E, 6, join>(call);
    case 7: return fold_rows<E, 7, join>(call);
    default: return fold_rows<E, 8, join>(call);
  }
}
/// Rows shorter than a vector go through copies of a vector.
template <class E, Join join, class From, class To>
HWY_NOINLINE void fold_narrow(int count, const FoldCall<From, To>& call) {
  constexpr Index lanes = E::lanes;
  const Index n = call.n;
  if (n <= 0) return;
  alignas(64) From copy[max_fold][static_cast<std::size_t>(lanes)] = {};
  alignas(64) To result[static_cast<std::size_t>(lanes)] = {};
  alignas(64) double counts[static_cast<std::size_t>(lanes)] = {};
  const From* row[max_fold];
  const From* copies[max_fold];
  for (int j = 0; j < count; ++j) {
    row[j] = call.rows[j];
    copies[j] = copy[j];
  }
  Finish finish = call.finish;
  if (finish.counts != nullptr) {
    std::memcpy(counts, finish.counts, static_cast<std::size_t>(n) * sizeof(double));
    finish.counts = counts;
  }
  To* to = call.to;
  for (Index left = call.outputs; left > 0; --left, to += call.to_step) {
    for (int j = 0; j < count; ++j) {
      std::memcpy(static_cast<void*>(copy[j]), row[j], static_cast<std::size_t>(n) * sizeof(From));
      if (left > 1) row[j] += call.advance[j];
    }
    fold<E, join>(count, FoldCall<From, To>{copies, nullptr, 1, result, 0, lanes, finish});
    std::memcpy(static_cast<void*>(to), result, static_cast<std::size_t>(n) * sizeof(To));
  }
}
template <class E, class From, class To>
void fold_one(int count, const From* const* rows, To* to, Index n, const Finish& f) {
  fold<E, Join::tree>(count, FoldCall<From, To>{rows, nullptr, 1, to, 0, n, f});
}

/// Writes the results of a row of working elements.
template <class E>
HWY_NOINLINE void store_row(const typename E::Work* from, Index n, typename E::Result* to, const Finish& f) {
  constexpr Index lanes = E::lanes;
  Index i = 0;
  for (; i + lanes <= n; i += lanes) E::store(E::load(from + i), to + i, i, f);
  if (i >= n || lanes == 1) return;
  if (n >= lanes) return E::store(E::load(from + n - lanes), to + n - lanes, n - lanes, f);
  typename E::Work copy[static_cast<std::size_t>(lanes)] = {};
  typename E::Result result[static_cast<std::size_t>(lanes)] = {};
  double counts[static_cast<std::size_t>(lanes)] = {};
  const auto used = static_cast<std::size_t>(n);
  Finish finish = f;
  if (f.counts != nullptr) {
    std::memcpy(counts, f.counts, used * sizeof(double));
    finish.counts = counts;
  }
  std::memcpy(static_cast<void*>(copy), from, used * sizeof(copy[0]));
  E::store(E::load(copy), result, 0, finish);
  std::memcpy(static_cast<void*>(to), result, used * sizeof(result[0]));
}

/// A long window of rows that are `step` apart, all of them present: the stated tree without rows in between. What 8,
/// 16, ... rows make waits until as many others follow, as the digits of a binary counter do: `waiting` has room for 4
/// vectors a digit. Takes at least a vector. Writes working elements alone:
/// a pass over one row finishes them, where a second copy of this loop would double its code.
template <class E, class From>
HWY_NOINLINE void fold_tall(const From* from, Index step, Index count, typename E::Work* to, Index n, const Finish& f,
                            typename E::Work* waiting) {
  constexpr Index lanes = E::lanes;
  using V = typename E::V;
  const Index blocks = count / max_fold;
  const int rest = static_cast<int>(count % max_fold);
  const auto columns = [&](auto vectors, Index at) NDPOOL_ALWAYS_INLINE {
    constexpr int width = decltype(vectors)::value;
    const auto place = [&](int level, int w) NDPOOL_ALWAYS_INLINE { return waiting + (level * width + w) * lanes; };
    const From* row = from + at;
    const auto tree = [&](auto rows, int w) NDPOOL_ALWAYS_INLINE {
      const auto load = [&](auto j) NDPOOL_ALWAYS_INLINE { return load_element<E>(row + j * step + w * lanes, f); };
      return joined<E, Join::tree, 0, decltype(rows)::value>(load);
    };
    for (Index b = 0; b < blocks; ++b, row += max_fold * step) {
      V made[width];
      HWY_UNROLL(4)
      for (int w = 0; w < width; ++w) made[w] = tree(std::integral_constant<int, max_fold>(), w);
      int level = 0;
      for (Index carry = b; (carry & 1) != 0; carry >>= 1, ++level) {
        HWY_UNROLL(4)
        for (int w = 0; w < width; ++w) made[w] = E::combine(E::load(place(level, w)), made[w]);
      }
      HWY_UNROLL(4)
      for (int w = 0; w < width; ++w) E::put(made[w], place(level, w));
    }
    const auto tree_of_rest = [&](int w) NDPOOL_ALWAYS_INLINE {
      switch (rest) {
        case 1: return tree(std::integral_constant<int, 1>(), w);
        case 2: return tree(std::integral_constant<int, 2>(), w);
        case 3: return tree(std::integral_constant<int, 3>(), w);
        case 4: return tree(std::integral_constant<int, 4>(), w);
        case 5: return tree(std::integral_constant<int, 5>(), w);
        case 6: return tree(std::integral_constant<int, 6>(), w);
        default: return tree(std::integral_constant<int, 7>(), w);
      }
    };
    const int lowest = rest > 0 ? 0 : std::countr_zero(static_cast<std::uint64_t>(blocks)) + 1;
    HWY_UNROLL(4)
    for (int w = 0; w < width; ++w) {
      V result = rest > 0 ? tree_of_rest(w) : E::load(place(lowest - 1, w));
      int level = lowest;
      for (Index left = blocks >> lowest; left > 0; left >>= 1, ++level)
        if ((left & 1) != 0) result = E::combine(E::load(place(level, w)), result);
      E::put(result, to + at + w * lanes);
    }
  };
  Index i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) columns(std::integral_constant<int, 4>(), i);
  for (; i + lanes <= n; i += lanes) columns(std::integral_constant<int, 1>(), i);
  if (i < n) columns(std::integral_constant<int, 1>(), n - lanes);
}

}  // namespace general
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_GENERAL_FOLD_INL_H_
