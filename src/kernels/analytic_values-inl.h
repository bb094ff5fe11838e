// Per-target code: values of smooth max and Lp, block by block. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_ANALYTIC_VALUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ANALYTIC_VALUES_INL_H_
#undef NDPOOL_ANALYTIC_VALUES_INL_H_
#else
#define NDPOOL_ANALYTIC_VALUES_INL_H_
#endif

#include "kernels/power_sums-inl.h"
#include "kernels/spec_windows-inl.h"
#include "kernels/split_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

template <class Powers>
class AnalyticValues {
 public:
  using N = typename Powers::N;
  using D = hn::ScalableTag<N>;
  using V = hn::Vec<D>;

  explicit AnalyticValues(const Job& job)
      : job_(job),
        block_(job.rows, job.first_row, job.last_row, job.scratch),
        powers_(job.choice, false, job.rows.tap_count),
        sums_(block_, powers_, job.in),
        by_spec_(block_, powers_, job.in) {}

  void operator()() {
    block_.for_each([this] { write_block(); });
  }

 private:
  void write_block() {
    if (is_wide_) return write_wide_block();
    sums_.make();
    for (Index j = 0; j < block_.count; ++j) {
      bool all_usable = true;
      block_.write_row(job_.out, &Strides::out, j, [&](N* out) { all_usable = finish(block_.sums(j), out); });
      if (all_usable) continue;
      if constexpr (Powers::has_split_powers)
        if (split_sums().exist()) {
          is_wide_ = true;  // the next blocks are likely to be, too
          return write_wide_block();
        }
      write_by_spec(j);
    }
  }

  /// All values of the block, for numbers of any range.
  void write_wide_block() {
    if constexpr (Powers::has_split_powers) {
      split_sums().write_values(job_.out);
      for (Index j = 0; j < block_.count; ++j) write_by_spec(j);
    }
  }
  SplitSums<Powers> split_sums() { return {block_, powers_, sums_, job_.in}; }

  void write_by_spec(Index j) {
    by_spec_.for_each_unusable(block_.sums(j), [&](Index output, Index lane) {
      by_spec_.result(job_.out, &Strides::out, j, output, lane) = by_spec_.value(j, output, lane);
    });
  }

  HWY_NOINLINE bool finish(const N* sums, N* out) {
    const D d;
    const Powers powers = powers_;
    auto usable = all_lanes<D>();
    transform(
        block_.outputs(), out,
        [&usable, d, powers](V sum) HWY_ATTR {
          usable = hn::And(usable, powers.is_usable(d, sum));
          return powers.value(d, sum);
        },
        sums);
    return hn::AllTrue(d, usable);
  }

  const Job& job_;
  AnalyticBlock<N> block_;
  Powers powers_;
  PowerSums<Powers> sums_;
  const SpecWindows<Powers> by_spec_;
  bool is_wide_ = false;  ///< a block had numbers whose powers leave the range
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ANALYTIC_VALUES_INL_H_
