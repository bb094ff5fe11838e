// Per-target code: one slice of smooth max or Lp. Powers of all cells are made once, the general engine sums them over
// the windows, and results are made of the sums. Where powers leave the range of plain numbers (hazard), the slice runs
// again on pairs, which give the same bits. No include guard of the usual kind: see lanes-inl.h.
#if defined(NDPOOL_ANALYTIC_SLICE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ANALYTIC_SLICE_INL_H_
#undef NDPOOL_ANALYTIC_SLICE_INL_H_
#else
#define NDPOOL_ANALYTIC_SLICE_INL_H_
#endif

#include "kernels/analytic/copies-inl.h"
#include "kernels/analytic/lp-inl.h"
#include "kernels/analytic/pair_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace analytic {

template <class Powers, class S>
class SliceRun {
 public:
  using T = typename Powers::T;
  using W = typename Powers::W;
  using D = typename Powers::D;
  using DT = typename Powers::DT;
  using V = hn::Vec<D>;
  using VT = hn::Vec<DT>;

  explicit SliceRun(const SliceJob& job)
      : job_(job), slice_(job.slice), cells_(slice_.cells), outputs_(slice_.outputs), powers_(job.choice) {
    char* memory = job.scratch;
    const auto take = [&memory](Index count) {
      char* const start = memory;
      memory += slice_box_bytes(count);
      return start;
    };
    number_box_ = reinterpret_cast<T*>(take(cells_));
    power_ = reinterpret_cast<W*>(take(cells_));
    sum_ = reinterpret_cast<W*>(take(outputs_));
    result_box_ = reinterpret_cast<T*>(take(outputs_));
    if (job.map == SliceMap::forward) return;
    tangent_box_ = reinterpret_cast<T*>(take(cells_));
    product_ = reinterpret_cast<W*>(take(cells_));
    product_sum_ = reinterpret_cast<W*>(take(outputs_));
  }

  void operator()() {
    x_ = loaded<S>(slice_.copy(SliceArray::in), job_.in, number_box_);
    if (job_.map == SliceMap::jvp)
      tangents_ =
          loaded<S>(slice_.copy(SliceArray::tangent_in), static_cast<const void*>(job_.tangent_in), tangent_box_);
    if (job_.map == SliceMap::vjp)
      tangents_ =
          loaded<S>(slice_.copy(SliceArray::tangent_out), static_cast<const void*>(job_.tangent_out), result_box_);
    constexpr int probe_period = 16;  // slices until plain numbers are tried again
    if (job_.state.careful_slices > 0)
      --job_.state.careful_slices;
    else if (run_plain())
      return;
    else
      job_.state.careful_slices = probe_period - 1;
    run_careful();
  }

 private:
  // ---- results

  /// A result as it is stored: all NaN have one bit pattern.
  static HWY_INLINE VT result_of(VT v) {
    const DT dt;
    return hn::IfThenElse(hn::IsNaN(v), hn::Set(dt, std::numeric_limits<T>::quiet_NaN()), v);
  }
  T* value_place() { return place_for<S>(slice_.copy(SliceArray::out), job_.out, result_box_); }
  T* tangent_place() { return place_for<S>(slice_.copy(SliceArray::tangent_out), job_.tangent_out, result_box_); }
  T* gradient_place() { return place_for<S>(slice_.copy(SliceArray::gradient_in), job_.tangent_in, tangent_box_); }
  void store_values(T* values) {
    for (std::size_t i = 0; i < slice_.single.size(); ++i)  // log(exp(x)) is not x again, as it has to be
      if (slice_.single[i] >= 0) values[i] = x_[slice_.single[i]];
    store<S>(slice_.copy(SliceArray::out), values, job_.out);
  }

  // ---- plain numbers

  bool run_plain() {
    powers_.set_scales(job_.state);
    if (!raise()) return false;
    powers_.keep_scales(job_.state);
    slice_.sums->run_all(power_, sum_, job_.engine_scratch);
    add_zeros();
    if (job_.map == SliceMap::forward) {
      make_values();
      return true;
    }
    return job_.map == SliceMap::jvp ? make_tangents() : make_gradients();
  }
  /// The powers of all cells. False if they do not fit.
  bool raise() {
    Extent<T> extent = raise_all();
    bool changes = false;
    if (!powers_.choose_scale(extent, slice_.taps, !slice_.zeros.empty(), job_.map != SliceMap::forward, changes))
      return false;
    if (changes) raise_all();
    return true;
  }
  HWY_NOINLINE Extent<T> raise_all() {
    const DT dt;
    const D d;
    const Powers powers = powers_;
    VT lowest = hn::Set(dt, std::numeric_limits<T>::infinity()), highest = hn::Neg(lowest);
    for_vectors<W>(
        cells_,
        [&](const T* x, W* power) NDPOOL_ALWAYS_INLINE {
          const VT v = hn::LoadU(dt, x);
          powers.measure(v, lowest, highest);
          hn::StoreU(powers.power(v), d, power);
        },
        x_, power_);
    HWY_ALIGN T low[hn::MaxLanes(dt)], high[hn::MaxLanes(dt)];
    hn::Store(lowest, dt, low);
    hn::Store(highest, dt, high);
    Extent<T> extent;
    for (std::size_t i = 0; i < hn::Lanes(dt); ++i) {
      extent.lowest = std::min(extent.lowest, low[i]);
      extent.highest = std::max(extent.highest, high[i]);
    }
    return extent;
  }
  void add_zeros() {
    if (slice_.zeros.empty()) return;
    const W power = powers_.zero_power();
    for (Index i = 0; i < outputs_; ++i) sum_[i] += static_cast<W>(slice_.zeros[static_cast<std::size_t>(i)]) * power;
  }

  HWY_NOINLINE void make_values() {
    const DT dt;
    const D d;
    const Powers powers = powers_;
    T* const values = value_place();
    for_vectors<W>(
        outputs_,
        [&](const W* sum, T* value)
            NDPOOL_ALWAYS_INLINE { hn::StoreU(result_of(powers.value(hn::LoadU(d, sum))), dt, value); },
        static_cast<const W*>(sum_), values);
    store_values(values);
  }

  /// True for products that have lost digits or left the range, unless a factor is zero or not finite.
  static HWY_INLINE hn::Mask<D> is_lost(V product, V a, V b, V largest) {
    const D d;
    const V size = hn::Abs(product), zero = hn::Zero(d), max = hn::Set(d, std::numeric_limits<W>::max());
    const auto small =
        hn::And(hn::Lt(size, hn::Set(d, std::numeric_limits<W>::min())), hn::And(hn::Ne(a, zero), hn::Ne(b, zero)));
    const auto large = hn::And(hn::Gt(size, largest), hn::And(hn::Le(hn::Abs(a), max), hn::Le(hn::Abs(b), max)));
    return hn::Or(small, large);
  }
  V largest_term() const {
    return hn::Set(D(), static_cast<W>(static_cast<double>(std::numeric_limits<W>::max()) / 8 / slice_.taps));
  }

  HWY_NOINLINE bool make_tangents() {
    const DT dt;
    const D d;
    const Powers powers = powers_;
    const V largest = largest_term();
    auto lost = hn::Lt(largest, hn::Zero(d));
    for_vectors<W>(
        cells_,
        [&](const T* x, const W* power, const T* tangent, W* product) NDPOOL_ALWAYS_INLINE {
          const V slope = powers.slope(hn::LoadU(dt, x), hn::LoadU(d, power)), t = widened(d, hn::LoadU(dt, tangent));
          const auto is_zero = hn::Eq(slope, hn::Zero(d));
          const V both = hn::IfThenZeroElse(is_zero, hn::Mul(slope, hn::IfThenZeroElse(is_zero, t)));
          lost = hn::Or(lost, is_lost(both, slope, t, largest));
          hn::StoreU(both, d, product);
        },
        x_, static_cast<const W*>(power_), tangents_, product_);
    if (!hn::AllFalse(d, lost)) return false;
    slice_.sums->run_all(product_, product_sum_, job_.engine_scratch);
    T* const place = tangent_place();
    const V most = hn::Set(d, std::numeric_limits<W>::max());
    for_vectors<W>(
        outputs_,
        [&](const W* sum, const W* product_sum, T* result) NDPOOL_ALWAYS_INLINE {
          const V products = hn::LoadU(d, product_sum), factor = powers.factor(hn::LoadU(d, sum));
          const V tangent = hn::Mul(products, factor);
          lost = hn::Or(lost, is_lost(tangent, products, factor, most));
          hn::StoreU(result_of(narrowed(dt, tangent)), dt, result);
        },
        static_cast<const W*>(sum_), static_cast<const W*>(product_sum_), place);
    if (!hn::AllFalse(d, lost)) return false;
    store<S>(slice_.copy(SliceArray::tangent_out), place, job_.tangent_out);
    return true;
  }

  HWY_NOINLINE bool make_gradients() {
    const DT dt;
    const D d;
    const Powers powers = powers_;
    const V largest = largest_term();
    auto lost = hn::Lt(largest, hn::Zero(d));
    for_vectors<W>(
        outputs_,
        [&](const W* sum, const T* gradient, W* share) NDPOOL_ALWAYS_INLINE {
          const V g = widened(d, hn::LoadU(dt, gradient)), factor = powers.factor(hn::LoadU(d, sum));
          const auto is_zero = hn::Eq(factor, hn::Zero(d));  // of a window whose weights are all 0
          const V both = hn::IfThenZeroElse(is_zero, hn::Mul(factor, hn::IfThenZeroElse(is_zero, g)));
          lost = hn::Or(lost, is_lost(both, g, factor, largest));
          hn::StoreU(both, d, share);
        },
        static_cast<const W*>(sum_), tangents_, product_sum_);
    if (!hn::AllFalse(d, lost)) return false;
    slice_.transposed_sums->run_all(product_sum_, product_, job_.engine_scratch);
    T* const place = gradient_place();
    const V most = hn::Set(d, std::numeric_limits<W>::max());
    for_vectors<W>(
        cells_,
        [&](const T* x, const W* power, const W* shares, T* result) NDPOOL_ALWAYS_INLINE {
          const V slope = powers.slope(hn::LoadU(dt, x), hn::LoadU(d, power)), share = hn::LoadU(d, shares);
          const auto is_zero = hn::Eq(slope, hn::Zero(d)), is_unseen = hn::Eq(share, hn::Zero(d));
          const auto is_none = hn::Or(is_zero, is_unseen);  // the share of a NaN is 0 only where no window sees it
          const V gradient = hn::IfThenZeroElse(is_none, hn::Mul(slope, hn::IfThenZeroElse(is_none, share)));
          lost = hn::Or(lost, is_lost(gradient, slope, share, most));
          // A NaN of the window or of a gradient? That is not known here.
          if constexpr (Powers::nan_windows_have_no_zeros) lost = hn::Or(lost, hn::And(is_zero, hn::IsNaN(share)));
          hn::StoreU(result_of(narrowed(dt, gradient)), dt, result);
        },
        x_, static_cast<const W*>(power_), static_cast<const W*>(product_), place);
    if (!hn::AllFalse(d, lost)) return false;
    store<S>(slice_.copy(SliceArray::gradient_in), place, job_.tangent_in);
    return true;
  }

  // ---- pairs

  static Planes<W> planes(int which, Index count) {
    W* const memory = static_cast<W*>(careful_scratch(which, static_cast<std::size_t>(count) * 2 * sizeof(W)));
    return {memory, memory + count};
  }
  static HWY_INLINE Pair<D> load(const W* fraction, const W* exponent) {
    return {hn::LoadU(D(), fraction), hn::LoadU(D(), exponent)};
  }
  static HWY_INLINE void put(const Pair<D>& pair, W* fraction, W* exponent) {
    hn::StoreU(pair.fraction, D(), fraction);
    hn::StoreU(pair.exponent, D(), exponent);
  }

  HWY_NOINLINE void run_careful() {
    const DT dt;
    const Powers powers(job_.choice);
    const Planes<W> power = planes(0, cells_), sum = planes(1, outputs_);
    for_vectors<W>(
        cells_,
        [&](const T* x, W* fraction, W* exponent)
            NDPOOL_ALWAYS_INLINE { put(powers.power_pair(hn::LoadU(dt, x)), fraction, exponent); },
        x_, power.fraction, power.exponent);
    PairSums<W>(slice_, false)(power, sum);
    add_zero_pairs(powers, sum);
    if (job_.map == SliceMap::forward) return make_careful_values(powers, sum);
    if (job_.map == SliceMap::jvp) return make_careful_tangents(powers, power, sum);
    make_careful_gradients(powers, power, sum);
  }
  void add_zero_pairs(const Powers& powers, Planes<W> sum) {
    if (slice_.zeros.empty()) return;
    const D d;
    for (Index i = 0; i < outputs_; ++i) sum_[i] = static_cast<W>(slice_.zeros[static_cast<std::size_t>(i)]);
    for_vectors<W>(
        outputs_,
        [&](const W* zeros, W* fraction, W* exponent) NDPOOL_ALWAYS_INLINE {
          put(sum_of(d, load(fraction, exponent), powers.zeros_pair(hn::LoadU(d, zeros))), fraction, exponent);
        },
        static_cast<const W*>(sum_), sum.fraction, sum.exponent);
  }
  HWY_NOINLINE void make_careful_values(const Powers& powers, Planes<W> sum) {
    T* const values = value_place();
    for_vectors<W>(
        outputs_,
        [&](const W* fraction, const W* exponent, T* value)
            NDPOOL_ALWAYS_INLINE { hn::StoreU(result_of(powers.value(load(fraction, exponent))), DT(), value); },
        static_cast<const W*>(sum.fraction), static_cast<const W*>(sum.exponent), values);
    store_values(values);
  }
  HWY_NOINLINE void make_careful_tangents(const Powers& powers, Planes<W> power, Planes<W> sum) {
    const D d;
    const DT dt;
    const Planes<W> products = planes(2, outputs_);
    for_vectors<W>(
        cells_,
        [&](const T* x, const T* tangent, W* fraction, W* exponent) NDPOOL_ALWAYS_INLINE {
          const Pair<D> slope = powers.slope_pair(hn::LoadU(dt, x), load(fraction, exponent));
          put(product_with(d, slope, widened(d, hn::LoadU(dt, tangent))), fraction, exponent);
        },
        x_, tangents_, power.fraction, power.exponent);
    PairSums<W>(slice_, false)(power, products);
    T* const place = tangent_place();
    for_vectors<W>(
        outputs_,
        [&](const W* sum_f, const W* sum_e, const W* fraction, const W* exponent, T* result) NDPOOL_ALWAYS_INLINE {
          const Pair<D> tangent = product_of(d, load(fraction, exponent), powers.factor(load(sum_f, sum_e)));
          hn::StoreU(result_of(narrowed(dt, number_of(d, tangent))), dt, result);
        },
        static_cast<const W*>(sum.fraction), static_cast<const W*>(sum.exponent),
        static_cast<const W*>(products.fraction), static_cast<const W*>(products.exponent), place);
    store<S>(slice_.copy(SliceArray::tangent_out), place, job_.tangent_out);
  }
  HWY_NOINLINE void make_careful_gradients(const Powers& powers, Planes<W> power, Planes<W> sum) {
    const D d;
    const DT dt;
    for_vectors<W>(
        outputs_,
        [&](const T* gradient, W* fraction, W* exponent) NDPOOL_ALWAYS_INLINE {
          const Pair<D> factor = powers.factor(load(fraction, exponent));
          put(powers.share_pair(factor, widened(d, hn::LoadU(dt, gradient))), fraction, exponent);
        },
        tangents_, sum.fraction, sum.exponent);
    const Planes<W> shares = planes(2, cells_);
    PairSums<W>(slice_, true)(sum, shares);
    T* const place = gradient_place();
    for_vectors<W>(
        cells_,
        [&](const T* x, const W* power_f, const W* power_e, const W* fraction, const W* exponent, T* result)
            NDPOOL_ALWAYS_INLINE {
              const Pair<D> share = load(fraction, exponent),
                            slope = powers.slope_pair(hn::LoadU(dt, x), load(power_f, power_e));
              const V number = number_of(d, product_of(d, slope, share));
              // A weight of 0 takes no part; of smooth max it is not 0 where the window is NaN.
              const auto is_zero = hn::Or(hn::Eq(slope.fraction, hn::Zero(d)), hn::Eq(share.fraction, hn::Zero(d)));
              const auto is_nan =
                  hn::And(hn::IsNaN(share.fraction), hn::Eq(share.exponent, hn::Set(d, PairTraits<W>::infinity)));
              const V of_zero =
                  Powers::nan_windows_have_no_zeros ? hn::IfThenElseZero(is_nan, share.fraction) : hn::Zero(d);
              hn::StoreU(result_of(narrowed(dt, hn::IfThenElse(is_zero, of_zero, number))), dt, result);
            },
        x_, static_cast<const W*>(power.fraction), static_cast<const W*>(power.exponent),
        static_cast<const W*>(shares.fraction), static_cast<const W*>(shares.exponent), place);
    store<S>(slice_.copy(SliceArray::gradient_in), place, job_.tangent_in);
  }

  const SliceJob& job_;
  const Slice& slice_;
  const Index cells_, outputs_;
  Powers powers_;
  T *number_box_, *result_box_, *tangent_box_ = nullptr;
  W *power_, *sum_, *product_ = nullptr, *product_sum_ = nullptr;
  const T *x_ = nullptr, *tangents_ = nullptr;
};

template <class Powers, class S>
void run_slice(const SliceJob& job) {
  SliceRun<Powers, S> run(job);
  run();
}

}  // namespace analytic
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ANALYTIC_SLICE_INL_H_
