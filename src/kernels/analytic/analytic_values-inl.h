// Per-target code: values of smooth max and Lp, block by block. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_ANALYTIC_VALUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ANALYTIC_VALUES_INL_H_
#undef NDPOOL_ANALYTIC_VALUES_INL_H_
#else
#define NDPOOL_ANALYTIC_VALUES_INL_H_
#endif

#include "kernels/analytic/power_sums-inl.h"
#include "kernels/analytic/spec_windows-inl.h"
#include "kernels/analytic/split_sums-inl.h"

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
    if constexpr (Powers::has_split_powers)
      if (SplitSums<Powers>::exist(block_)) {
        is_wide_ = is_wide_ || !sums_.make(true);  // the next blocks are likely to be wide, too
        if (is_wide_) SplitSums<Powers>(block_, powers_, sums_, job_.in).make();
        return write_values();
      }
    sums_.make(false);
    write_values();
  }

  void write_values() {
    if (rows_follow_one_another()) {
      N* out = static_cast<N*>(job_.out) + block_.output_offset(&Strides::out, 0) + block_.begin * block_.inner;
      if (!finish(0, block_.all_outputs(), out))
        for (Index j = 0; j < block_.count; ++j) write_by_spec(j);
      return;
    }
    for (Index j = 0; j < block_.count; ++j) {
      bool all_usable = true;
      block_.write_row(job_.out, &Strides::out, j, [&](N* out) { all_usable = finish(j, block_.outputs(), out); });
      if (!all_usable) write_by_spec(j);
    }
  }
  bool rows_follow_one_another() const {
    return block_.is_packed(&Strides::out) && block_.last.stride.out == block_.outputs() &&
           block_.blocks.sums_row == block_.outputs();
  }

  void write_by_spec(Index j) {
    by_spec_.for_each_unusable(block_.sums(j), [&](Index output, Index lane) {
      by_spec_.result(job_.out, &Strides::out, j, output, lane) = by_spec_.value(j, output, lane);
    });
  }

  /// The values of sums from row j on. False if some are not usable.
  HWY_NOINLINE bool finish(Index j, Index count, N* out) {
    const D d;
    const Powers powers = powers_;
    auto usable = all_lanes<D>();
    const N *sums = block_.sums(j), *exponents = block_.exponents(0) + j * block_.blocks.sums_row;
    if constexpr (Powers::has_split_powers)
      if (is_wide_) {
        transform(
            count, out,
            [&usable, d, powers](V sum, V exponent) HWY_ATTR {
              usable = hn::And(usable, powers.is_usable(d, sum));
              return powers.split_value(d, sum, exponent);
            },
            sums, exponents);
        return hn::AllTrue(d, usable);
      }
    transform(
        count, out,
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
