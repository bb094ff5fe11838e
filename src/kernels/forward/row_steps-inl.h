// Per-target code: outputs of one channels-first row, made of columns by moving lanes: at strides 1, 2 and 4. No
// include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_ROW_STEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ROW_STEPS_INL_H_
#undef NDPOOL_ROW_STEPS_INL_H_
#else
#define NDPOOL_ROW_STEPS_INL_H_
#endif

#include "kernels/forward/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// One row at a time; rows are seldom longer than a dozen vectors, so that beginning and ending one must cost little.
/// Everywhere `store(vector, output)` takes the outputs.
template <class C>
class RowSteps {
 public:
  using D = typename C::D;
  using T = typename C::T;
  using V = typename C::V;
  static constexpr Index lanes = C::lanes;

  /// How long rows are, and which outputs of them are made of whole vectors.
  struct Ends {
    HWY_INLINE Ends(const Axis& axis, int stride, bool wants_next)
        : length(axis.input),
          outputs(axis.output),
          whole(std::min((length - (wants_next ? lanes : 0)) / (stride * lanes), outputs / lanes) * lanes) {
      for (Index i = 0; i < lanes; ++i) rest_lanes[i] = static_cast<Lane>((i + lanes - length % lanes) % lanes);
    }
    /// Of the last cells of a row those that are behind its whole vectors, and what is outside of it.
    HWY_INLINE V rest(V last, V outside) const {
      const D d;
      if constexpr (sizeof(T) >= 4) {
        const V moved = hn::TableLookupLanes(last, hn::SetTableIndices(d, rest_lanes));
        return hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(length % lanes)), moved, outside);
      } else {
        T both[2 * lanes];
        hn::StoreU(last, d, both);
        hn::StoreU(outside, d, both + lanes);
        return hn::LoadU(d, both + lanes - length % lanes);
      }
    }
    Index length, outputs, whole;
    bool is_even = length == outputs && length == whole + lanes;  ///< what is behind them is one vector
    using Lane = hn::TFromD<hn::RebindToSigned<D>>;
    alignas(64) Lane rest_lanes[lanes];
  };

  /// Stride 1: an output is made of its column and its neighbours', `shift` lanes away.
  template <int R, int N, int kernel, int lo, int shift, class Store>
  static HWY_INLINE void every(const Ends& ends, Columns<C>& columns, const Store& store, Index ahead) {
    constexpr int watched = N == 1 ? R : N;  // of two windows below one another, those that the pair above has not seen
    const auto at = [&](Index element) NDPOOL_HOT { return columns.template stack_at<R, N, watched>(element); };
    const Stack<C, N> outside = make_stack<C, N>([](int) NDPOOL_HOT { return C::identity(); });
    Stack<C, N> before = outside;
    Joined<N> here(before, at(0));
    Index output = 0;
    for (; output < ends.whole; output += lanes) {
      if (ahead != 0) columns.template ask<R, N, 1>(output, ahead);
      const Joined<N> next(here.columns, at(output + lanes));
      store(neighbours<kernel, lo, shift>(before, here, next), output);
      before = here.columns;
      here = next;
    }
    if (ends.is_even)
      return store(neighbours<kernel, lo, shift>(before, here, Joined<N>(here.columns, outside)), output);
    if (output + lanes <= ends.outputs) {
      // Less than a vector of cells is behind: they are moved to its beginning.
      const Stack<C, N> last = at(ends.length - lanes);
      const auto rest = [&](int n) NDPOOL_HOT { return ends.rest(last.of[n], outside.of[n]); };
      store(neighbours<kernel, lo, shift>(before, here, Joined<N>(here.columns, make_stack<C, N>(rest))), output);
      output += lanes;
    }
    if (output < ends.outputs) store_last<kernel, lo, shift>(ends, at, outside, store);
  }
  /// Four taps at stride 4, all on the input: pairs of columns, and pairs of those.
  template <int R, class Store>
  static HWY_INLINE void every_fourth(Index outputs, Columns<C>& columns, const Store& store, Index ahead) {
    const auto four = [&](Index from) NDPOOL_HOT {
      const auto pairs = [&](Index at) NDPOOL_HOT { return columns.template two_at<R>(at); };
      const auto [a, b] = pairs(from);
      const auto [c, d] = pairs(from + 2 * lanes);
      if constexpr (HWY_TARGET == HWY_AVX2 && sizeof(T) == 4) {
        // What is in its place within blocks is put in order at the end alone.
        const V made =
            combined_in_blocks<C>(combined_in_blocks<C>(d.of[0], c.of[0]), combined_in_blocks<C>(b.of[0], a.of[0]));
        alignas(32) static constexpr std::int32_t order[] = {0, 4, 1, 5, 2, 6, 3, 7};
        return hn::TableLookupLanes(made, hn::SetTableIndices(D(), order));
      } else {
        return pair_up(pair_up(a.of[0], b.of[0]), pair_up(c.of[0], d.of[0]));
      }
    };
    for (Index output = 0; output < outputs; output += lanes) {
      output = std::min(output, outputs - lanes);  // the last vector may make some outputs again
      if (ahead != 0) columns.template ask<R, 1, 4>(output, ahead);
      store(four(4 * output), output);
    }
  }

  /// Stride 2: an output is made of an even and an odd column, and of a neighbour on one side.
  template <int R, int kernel, int lo, int watched, class Store>
  static HWY_INLINE void every_second(const Ends& ends, Columns<C>& columns, const Store& store, Index ahead) {
    const D d;
    constexpr int last = static_cast<int>(lanes) - 1;
    Index output = 0;
    const auto at = [&](Index element) NDPOOL_HOT { return columns.template stack_at<R, 1, watched>(element).of[0]; };
    if constexpr (kernel == 3 && lo == 0) {
      V low = at(0);
      for (; output < ends.whole; output += lanes) {
        if (ahead != 0) columns.template ask<R, 1, 2>(output, ahead);
        const V high = at(2 * output + lanes), next = at(2 * output + 2 * lanes);
        const EvenOdd<V> columns_of = even_odd(d, high, low);
        // Only the first even column of the next vectors is wanted, and it is their first lane.
        store(combine(combine(columns_of.even, columns_of.odd), slide<1>(d, next, columns_of.even)), output);
        low = next;
      }
    } else {
      if constexpr (kernel == 2 && C::stores_two && R > 0) {
        for (; output + 2 * lanes <= ends.whole; output += 2 * lanes) {
          if (ahead != 0) {
            columns.template ask<R, 1, 2>(output, ahead);
            columns.template ask<R, 1, 2>(output + lanes, ahead);
          }
          store.two(columns.template pairs_at<R>(2 * output), columns.template pairs_at<R>(2 * (output + lanes)),
                    output);
        }
      }
      V odd_before = C::identity();
      for (; output < ends.whole; output += lanes) {
        if (ahead != 0) columns.template ask<R, 1, 2>(output, ahead);
        if constexpr (kernel == 2 && C::adds_pairs && R > 0) {
          store(columns.template pairs_at<R>(2 * output), output);
          continue;
        }
        const auto [even, odd] = columns.template parted_at<R, watched>(2 * output);
        if constexpr (kernel == 2) {
          store(combine(even, odd), output);
        } else {
          store(combine(combine(slide<last>(d, odd, odd_before), even), odd), output);
          odd_before = odd;
        }
      }
    }
    for (; output < ends.outputs; output += lanes) {
      // The last vector is made anew from where it begins. Of what is beyond its ends only one lane is wanted.
      output = std::min(output, ends.outputs - lanes);
      const Index from = 2 * output;
      const V low = at(from);
      V high;
      if (from + 2 * lanes <= ends.length)
        high = at(from + lanes);
      else
        high = slide<1>(d, C::identity(), at(ends.length - lanes));
      const EvenOdd<V> columns_of = even_odd(d, high, low);
      V v = combine(columns_of.even, columns_of.odd);
      if constexpr (kernel == 3 && lo == 0) {
        V next = C::identity();
        if (from + 2 * lanes < ends.length) {
          const V behind = at(from + lanes + 1);
          next = slide<last>(d, behind, behind);
        }
        v = combine(v, slide<1>(d, next, columns_of.even));
      } else if constexpr (kernel == 3) {
        V odd_before = C::identity();
        if (from > 0) odd_before = hn::Set(d, hn::GetLane(at(from - 1)));
        v = combine(combine(slide<last>(d, columns_of.odd, odd_before), columns_of.even), columns_of.odd);
      }
      store(v, output);
    }
  }

  /// Pairs of neighbours, of two vectors.
  static HWY_INLINE V pair_up(V low, V high) {
    const EvenOdd<V> columns = even_odd(D(), high, low);
    return C::combine(columns.even, columns.odd);
  }

 private:
  static HWY_INLINE V combine(V a, V b) { return C::combine(a, b); }
  template <int N>
  static HWY_INLINE Stack<C, N> combine(const Stack<C, N>& a, const Stack<C, N>& b) {
    return make_stack<C, N>([&](int n) NDPOOL_HOT { return C::combine(a.of[n], b.of[n]); });
  }

  /// A vector of columns, and how it joins the one before: each of these is of use to two vectors of outputs.
  template <int N>
  struct Joined {
    Stack<C, N> columns, join;
    HWY_INLINE Joined(const Stack<C, N>& before, const Stack<C, N>& here) : columns(here) {
      repeat<N>([&](int n) NDPOOL_HOT { join.of[n] = between(D(), here.of[n], before.of[n]); });
    }
  };
  /// The outputs at a vector of columns, from their neighbours on both sides.
  template <int kernel, int lo, int shift, int N>
  static HWY_INLINE Stack<C, N> neighbours(const Stack<C, N>& before, const Joined<N>& here, const Joined<N>& next) {
    constexpr int last = static_cast<int>(lanes) - shift;
    const D d;
    return make_stack<C, N>([&](int n) NDPOOL_HOT {
      const V middle = here.columns.of[n], beyond = next.columns.of[n], join = next.join.of[n];
      V v = middle;
      if constexpr (lo == 1)
        v = combine(slide<last>(d, middle, here.join.of[n], before.of[n]), middle);
      else
        v = combine(middle, slide<shift>(d, beyond, join, middle));
      if constexpr (kernel == 3) v = combine(v, slide<(2 - lo) * shift>(d, beyond, join, middle));
      return v;
    });
  }

  /// The last vector of outputs, made anew from where it begins.
  template <int kernel, int lo, int shift, int N, class At, class Store>
  static HWY_INLINE void store_last(const Ends& ends, const At& at, const Stack<C, N>& outside, const Store& store) {
    const Index output = ends.outputs - lanes;
    const auto tap = [&](int t) NDPOOL_HOT {
      const Index element = output + (t - lo) * shift;
      if (element + lanes <= ends.length) return at(element);
      const Stack<C, N> v = at(ends.length - lanes);
      return make_stack<C, N>([&](int n) NDPOOL_HOT { return slide<shift>(D(), outside.of[n], v.of[n]); });
    };
    Stack<C, N> v = tap(0);
    for (int t = 1; t < kernel; ++t) v = combine(v, tap(t));
    store(v, output);
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ROW_STEPS_INL_H_
