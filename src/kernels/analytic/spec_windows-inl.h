// Per-target code: single windows of smooth max and Lp by the spec, where their sums of powers leave the range. No
// include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_SPEC_WINDOWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_SPEC_WINDOWS_INL_H_
#undef NDPOOL_SPEC_WINDOWS_INL_H_
#else
#define NDPOOL_SPEC_WINDOWS_INL_H_
#endif

#include "kernels/analytic/analytic_block-inl.h"
#include "kernels/analytic/powers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

template <class Powers>
class SpecWindows {
 public:
  using N = typename Powers::N;
  using Block = AnalyticBlock<N>;
  using Reducer = typename Powers::Reducer;
  using State = typename Reducer::State;
  using Summary = typename Reducer::Summary;

  SpecWindows(const Block& block, const Powers& powers, const void* in)
      : block_(block), powers_(powers), reducer_(powers.reducer), in_(static_cast<const N*>(in)) {}

  /// Calls f(output, lane) for the windows whose sums are not usable.
  template <class F>
  HWY_NOINLINE void for_each_unusable(const N* sums, const F& f) const {
    const hn::ScalableTag<N> d;
    for (Index output = block_.begin; output < block_.end; ++output)
      for (Index lane = 0; lane < block_.inner; ++lane) {
        const auto sum = hn::Set(d, sums[(output - block_.begin) * block_.inner + lane]);
        if (!hn::AllTrue(d, powers_.is_usable(d, sum))) f(output, lane);
      }
  }

  /// Where the result of a window of output row j is.
  N& result(void* array, Index Strides::*which, Index j, Index output, Index lane) const {
    return static_cast<N*>(array)[block_.output_offset(which, j) + output * block_.rows.horizontal.stride.*which +
                                  lane * block_.rows.inner.stride.*which];
  }

  N value(Index j, Index output, Index lane) const { return reducer_.value(summarise(j, output, lane)); }

  N tangent(Index j, Index output, Index lane, const N* dx) const {
    const Summary summary = summarise(j, output, lane);
    const N sum = fold_axis<N>(
        j, output, along(), begin_of(lane),
        [&](const Strides& at) {
          const N weight = reducer_.weight(summary, in_[at.in], 0);
          return weight == 0 ? N(0) : weight * dx[at.tangent_in];
        },
        [](N a, N b) { return a + b; });
    return sum / reducer_.scale(summary);
  }

  void add_gradient(Index j, Index output, Index lane, N gy, N* gx) const {
    const Summary summary = summarise(j, output, lane);
    const N share = gy / reducer_.scale(summary);
    fold_axis<int>(
        j, output, along(), begin_of(lane),
        [&](const Strides& at) {
          const N weight = reducer_.weight(summary, in_[at.in], 0);
          if (weight != 0) gx[at.tangent_in] += weight * share;
          return 0;
        },
        [](int, int) { return 0; });
  }

 private:
  int along() const { return block_.outer_axes + 1; }  ///< the number of the last axis

  Strides begin_of(Index lane) const {
    Strides at = block_.cursor.offset();
    at.in += lane * block_.rows.inner.stride.in;
    at.tangent_in += lane * block_.rows.inner.stride.tangent_in;
    return at;
  }

  /// Calls leaf(offsets) for every tap of a window and folds what it answers with `combine`, as a tree.
  template <class R, class Leaf, class Join>
  R fold_axis(Index j, Index output, int axis, const Strides& at, const Leaf& leaf, const Join& combine) const {
    if (axis < 0) return leaf(at);
    const int last = block_.outer_axes;
    const PooledAxis& pooled = axis > last    ? block_.rows.horizontal
                               : axis == last ? block_.last
                                              : block_.rows.vertical[axis];
    const Taps taps = pooled.window.taps(axis > last    ? output
                                         : axis == last ? block_.first + j
                                                        : block_.cursor.vertical_position(axis));
    const auto fold = [&](const auto& self, Index first, Index count) -> R {
      if (count == 1)
        return fold_axis<R>(j, output, axis - 1, Block::moved(at, pooled, taps.first + first * taps.step), leaf,
                            combine);
      const Index half = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(count - 1)));
      const R earlier = self(self, first, half);
      return combine(earlier, self(self, first + half, count - half));
    };
    return fold(fold, 0, taps.count);
  }

  Summary summarise(Index j, Index output, Index lane) const {
    TapCounts counts;
    const auto count = [&](const Taps& taps) {
      counts.real *= taps.count;
      counts.counted *= taps.count + taps.padded;
    };
    count(block_.axis.taps(output));
    count(block_.last.window.taps(block_.first + j));
    for (int v = 0; v < block_.outer_axes; ++v)
      count(block_.rows.vertical[v].window.taps(block_.cursor.vertical_position(v)));
    const State state = fold_axis<State>(
        j, output, along(), begin_of(lane), [&](const Strides& at) { return reducer_.lift(in_[at.in], 0); },
        [&](const State& a, const State& b) { return reducer_.combine(a, b); });
    return reducer_.finish(state, counts);
  }

  const Block& block_;
  const Powers& powers_;
  const Reducer& reducer_;
  const N* in_;
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_SPEC_WINDOWS_INL_H_
