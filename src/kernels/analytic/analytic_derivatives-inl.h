// Per-target code: derivatives of smooth max and Lp, block by block. The weight of a tap is the slope of its power
// times a factor of its window. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_ANALYTIC_DERIVATIVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ANALYTIC_DERIVATIVES_INL_H_
#undef NDPOOL_ANALYTIC_DERIVATIVES_INL_H_
#else
#define NDPOOL_ANALYTIC_DERIVATIVES_INL_H_
#endif

#include "kernels/forward/planes-inl.h"
#include "kernels/analytic/power_sums-inl.h"
#include "kernels/analytic/spec_windows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

template <class Powers>
class AnalyticDerivatives {
 public:
  using N = typename Powers::N;
  using D = hn::ScalableTag<N>;
  using V = hn::Vec<D>;
  using Borrowing = typename AnalyticBlock<N>::Borrowing;

  explicit AnalyticDerivatives(const TangentJob& job)
      : job_(job),
        block_(job.rows, job.first_row, job.last_row, job.scratch),
        powers_(job.choice, true, job.rows.tap_count),
        sums_(block_, powers_, job.in),
        by_spec_(block_, powers_, job.in) {}

  void operator()() {
    const bool is_jvp = job_.use == WinnerUse::jvp;
    if (!is_jvp) zero_planes(job_.rows, job_.first_row, job_.last_row, static_cast<N*>(job_.tangent_in));
    block_.for_each([&] {
      sums_.make(false);
      if (is_jvp)
        write_tangents();
      else
        add_gradients();
    });
  }

 private:
  static constexpr N room = sizeof(N) == 4 ? N(0x1p60) : N(0x1p500);  ///< for tangents and gradients

  static HWY_INLINE auto has_room(D d, V tangent) {
    const V size = hn::Abs(tangent);
    return hn::And(hn::Le(size, hn::Set(d, room)),
                   hn::Or(hn::Ge(size, hn::Set(d, 1 / room)), hn::Eq(size, hn::Zero(d))));
  }

  // ---- JVP ----

  void write_tangents() {
    const auto make = [this](N* to, const Strides& at) { scale_tangents(to, at); };
    sums_.make_rows(make);
    const Borrowing borrowing(block_);
    N* all_products =
        block_.blocks.kept_rows > 0 ? block_.exponents(0) : block_.spare();  // derivatives have no exponents
    sums_.sum_windows(make, all_products);
    for (Index j = 0; j < block_.count; ++j) {
      const N* products = all_products + j * block_.blocks.sums_row;
      N* sums = block_.sums(j);
      bool all_usable = true;
      block_.write_row(job_.tangent_out, &Strides::tangent_out, j,
                       [&](N* out) { all_usable = finish_tangents(sums, products, out); });
      if (all_usable) continue;
      for (Index i = 0; i < block_.outputs(); ++i)
        if (!(products[i] - products[i] == 0)) sums[i] = products[i] - products[i];
      by_spec_.for_each_unusable(sums, [&](Index output, Index lane) {
        by_spec_.result(job_.tangent_out, &Strides::tangent_out, j, output, lane) =
            by_spec_.tangent(j, output, lane, static_cast<const N*>(job_.tangent_in));
      });
    }
  }

  /// The slopes times the tangents. Tangents that could leave the range make the sum NaN, and so do those of weight 0
  /// that are not finite.
  HWY_NOINLINE void scale_tangents(N* to, const Strides& at) {
    const D d;
    const Borrowing borrowing(block_);
    const N* x = block_.load_in(job_.in, &Strides::in, at, block_.spare());
    const N* dx = block_.load_in(job_.tangent_in, &Strides::tangent_in, at, block_.spare());
    const Powers powers = powers_;
    transform(
        block_.real_length(), block_.real_part(to),
        [d, powers](V v, V tangent) HWY_ATTR {
          const V product = hn::Mul(powers.slope(d, v), tangent);
          return hn::IfThenElse(has_room(d, tangent), product, hn::Set(d, std::numeric_limits<N>::quiet_NaN()));
        },
        x, dx);
    sums_.pad(to);
  }

  HWY_NOINLINE bool finish_tangents(const N* sums, const N* products, N* out) {
    const D d;
    const Powers powers = powers_;
    auto usable = all_lanes<D>();
    const V largest = hn::Set(d, std::numeric_limits<N>::max());
    transform(
        block_.outputs(), out,
        [&usable, d, powers, largest](V sum, V product) HWY_ATTR {
          usable = hn::And(usable, hn::And(powers.is_usable(d, sum), hn::Le(hn::Abs(product), largest)));
          return hn::Mul(product, powers.factor(d, sum));
        },
        sums, products);
    return hn::AllTrue(d, usable);
  }

  // ---- VJP ----

  /// Every output hands its gradient times the factor of its window to its cells, which multiply what they get by their
  /// slopes.
  void add_gradients() {
    const Borrowing borrowing(block_);
    const Index length = block_.length();
    const bool keeps = block_.blocks.kept_rows > 0;
    N* columns = block_.spare();
    if (keeps) std::fill(block_.kept(0), block_.kept(block_.kept_rows()), N(0));
    for (Index j = 0; j < block_.count; ++j) {
      share_gradients(j);
      spread(block_.sums(j), columns);
      const Taps taps = block_.last.window.taps(block_.first + j);
      for (Index r = 0; r < taps.count; ++r) {
        const Index cell = taps.first + r * taps.step;
        if (keeps)
          PowerSums<Powers>::add_rows(length, block_.kept_cell(cell), block_.kept_cell(cell), columns);
        else
          add_to_cells(cell, columns);
      }
    }
    if (keeps)
      for (Index cell = block_.first_cell; cell < block_.last_cell; ++cell)
        if (block_.is_seen(cell)) add_to_cells(cell, block_.kept_cell(cell));
  }

  /// Replaces the sums of output row j by the shares; those of windows that are not usable are 0, for the spec adds
  /// their gradients.
  HWY_NOINLINE void share_gradients(Index j) {
    const D d;
    const Borrowing borrowing(block_);
    const Powers powers = powers_;
    N* sums = block_.sums(j);
    const N* gy = block_.load(job_.tangent_out, &Strides::tangent_out, block_.output_offset(&Strides::tangent_out, j),
                              block_.begin, block_.end - block_.begin, block_.spare());
    N* shares = block_.spare();
    auto usable = all_lanes<D>();
    transform(
        block_.outputs(), shares,
        [&usable, d, powers](V sum, V gradient) HWY_ATTR {
          const auto fits = hn::And(powers.is_usable(d, sum), has_room(d, gradient));
          usable = hn::And(usable, fits);
          return hn::IfThenElseZero(fits, hn::Mul(gradient, powers.factor(d, sum)));
        },
        sums, gy);
    if (!hn::AllTrue(d, usable)) {
      for (Index i = 0; i < block_.outputs(); ++i)
        if (gy[i] != 0 && !(std::abs(gy[i]) <= room && std::abs(gy[i]) >= 1 / room))
          sums[i] = std::numeric_limits<N>::quiet_NaN();
      by_spec_.for_each_unusable(sums, [&](Index output, Index lane) {
        by_spec_.add_gradient(j, output, lane, gy[(output - block_.begin) * block_.inner + lane],
                              static_cast<N*>(job_.tangent_in));
      });
    }
    std::copy(shares, shares + block_.outputs(), sums);
  }

  /// Each column of a row gets the shares of all outputs that see it.
  HWY_NOINLINE void spread(const N* shares, N* columns) const {
    const Axis& axis = block_.axis;
    const Index inner = block_.inner, count = block_.end - block_.begin;
    std::fill(columns, columns + block_.length(), N(0));
    if (axis.adaptive) {
      for (Index output = block_.begin; output < block_.end; ++output) {
        const Taps taps = axis.taps(output);
        for (Index r = 0; r < taps.count; ++r)
          add(shares + (output - block_.begin) * inner, columns + (taps.first + r) * inner, inner);
      }
      return;
    }
    for (Index tap = 0; tap < axis.kernel; ++tap) {
      N* to = columns + tap * axis.dilation * inner;
      const Index step = axis.stride * inner;
      if (axis.stride == 1) {
        add(shares, to, block_.outputs());
      } else if (inner == 1) {
        NDPOOL_INDEPENDENT
        for (Index output = 0; output < count; ++output) to[output * step] += shares[output];
      } else {
        for (Index output = 0; output < count; ++output) add(shares + output * inner, to + output * step, inner);
      }
    }
  }
  static HWY_INLINE void add(const N* from, N* to, Index count) {
    NDPOOL_INDEPENDENT
    for (Index i = 0; i < count; ++i) to[i] += from[i];
  }

  /// gx += slope(x) * columns, for the rows of one cell of the last vertical axis.
  void add_to_cells(Index cell, N* columns) {
    block_.for_each_row(cell, [&](const Strides& at) { add_to_row(at, block_.real_part(columns)); });
  }
  HWY_NOINLINE void add_to_row(const Strides& at, const N* shares) {
    const D d;
    const Borrowing borrowing(block_);
    const Powers powers = powers_;
    const N* x = block_.load_in(job_.in, &Strides::in, at, block_.spare());
    N* copy = block_.spare();
    const N* gx = block_.load_in(job_.tangent_in, &Strides::tangent_in, at, copy);
    N* sum = const_cast<N*>(gx);  // the copy, or the row itself
    transform(
        block_.real_length(), sum,
        [d, powers](V g, V v, V share) HWY_ATTR {
          // A cell that only the spec can weigh has no share, and its slope is NaN.
          const V product = hn::Mul(powers.slope(d, v), share);
          return g + hn::IfThenZeroElse(hn::Eq(share, hn::Zero(d)), product);
        },
        gx, x, shares);
    if (sum == copy)
      block_.store(sum, job_.tangent_in, &Strides::tangent_in, at.tangent_in, block_.real_column, block_.real_pixels);
  }

  const TangentJob& job_;
  AnalyticBlock<N> block_;
  Powers powers_;
  PowerSums<Powers> sums_;
  const SpecWindows<Powers> by_spec_;
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ANALYTIC_DERIVATIVES_INL_H_
