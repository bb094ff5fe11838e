// Per-target code: sums of powers with exponents of their own, for numbers whose powers leave the range. No include
// guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_SPLIT_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_SPLIT_SUMS_INL_H_
#undef NDPOOL_SPLIT_SUMS_INL_H_
#else
#define NDPOOL_SPLIT_SUMS_INL_H_
#endif

#include "kernels/analytic/power_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Numbers fraction * 2^exponent, in the rows that are kept and the exponents beside them.
template <class Powers>
class SplitSums {
 public:
  using N = typename Powers::N;
  using D = hn::ScalableTag<N>;
  using V = hn::Vec<D>;
  using Block = AnalyticBlock<N>;
  using Borrowing = typename Block::Borrowing;

  SplitSums(Block& block, const Powers& powers, const PowerSums<Powers>& sums, const void* in)
      : block_(block), powers_(powers), sums_(sums), in_(in) {}

  static bool exist(const Block& block) { return block.blocks.kept_rows > 0 && !block.axis.adaptive; }

  /// The sums of the block are fractions, by which it can be seen whether they are usable; where their exponents are,
  /// rows are as far apart.
  void make() {
    make_rows();
    const Axis &across = block_.last.window, &along = block_.axis;
    const Index row = block_.blocks.row, sums_row = block_.blocks.sums_row, inner = block_.inner;
    const Index step = block_.blocks.step;
    if (across.stride == 1)
      sum(across.kernel, across.dilation * row, block_.count * row, kept(0), kept(0));
    else
      sum_rows_apart();
    // At all columns, if also those between outputs: they are picked afterwards.
    const Index columns = (block_.count - 1) * row + block_.length() - (along.kernel - 1) * along.dilation * inner;
    const Row sums = {block_.sums(0), block_.exponents(0)};
    if (step == 1) {
      sum(along.kernel, along.dilation * inner, columns, kept(0), sums);
    } else {
      sum(along.kernel, along.dilation * inner, columns, kept(0), kept(0));
      for (Index pixel = 0; pixel < block_.all_outputs() / inner; ++pixel)
        for (Index lane = 0; lane < inner; ++lane) {
          sums.fraction[pixel * inner + lane] = kept(0).fraction[pixel * step * inner + lane];
          sums.exponent[pixel * inner + lane] = kept(0).exponent[pixel * step * inner + lane];
        }
    }
    for (Index j = 0; j < block_.count; ++j) add_zeros(j, {sums.fraction + j * sums_row, sums.exponent + j * sums_row});
  }

 private:
  struct Row {
    N* fraction;
    N* exponent;
  };
  static constexpr N no_exponent = sizeof(N) == 4 ? N(-0x1p20) : N(-0x1p40);  ///< of a zero

  Row kept(Index number) const { return {block_.kept(number), block_.exponents(number)}; }

  /// Not in place: vectors reach beyond short rows, into those of the next windows.
  void sum_rows_apart() {
    const Axis& across = block_.last.window;
    const Index row = block_.blocks.row;
    const Borrowing borrowing(block_);
    const Row sums = {block_.spare(), block_.spare()};
    for (Index j = 0; j < block_.count; ++j) {
      sum(across.kernel, across.dilation * row, row, kept(j * across.stride), sums);
      std::copy(sums.fraction, sums.fraction + row, kept(j).fraction);
      std::copy(sums.exponent, sums.exponent + row, kept(j).exponent);
    }
  }

  /// Vectors reach beyond short rows, so what is padding is cleared afterwards.
  void make_rows() {
    const Index row = block_.blocks.row, first = block_.first_cell - block_.top, last = block_.last_cell - block_.top;
    if (block_.cells_follow_one_another() && (last - first) * row >= static_cast<Index>(hn::Lanes(D())))
      raise(sums_.first_cells(), kept(first), (last - first) * row);
    else
      for (Index number = first; number < last; ++number)
        if (block_.is_seen(block_.top + number)) make_row(number);
    clear(0, first);
    clear(last, block_.kept_rows());
  }
  void make_row(Index number) {
    const Borrowing borrowing(block_);
    const Row other = {block_.spare(), block_.spare()};
    bool is_first = true;
    block_.for_each_row(block_.top + number, [&](const Strides& at) {
      raise_row(is_first ? kept(number) : other, at);
      if (!is_first) add(block_.blocks.row, kept(number), other);
      is_first = false;
    });
  }
  void clear(Index begin, Index end) const {
    std::fill(block_.kept(begin), block_.kept(end), N(0));
    std::fill(block_.exponents(begin), block_.exponents(end), no_exponent);
  }

  void raise_row(const Row& to, const Strides& at) {
    const auto lanes = static_cast<Index>(hn::Lanes(D()));
    const Borrowing borrowing(block_);
    const Index count = block_.real_length();
    const N* x = block_.load_in(in_, &Strides::in, at, block_.spare());
    if (count < lanes) {  // there is room behind a copy
      N* copy = block_.spare();
      std::copy(x, x + count, copy);
      std::fill(copy + count, copy + lanes, N(0));
      x = copy;
    }
    raise(x, {block_.real_part(to.fraction), block_.real_part(to.exponent)}, count);
    sums_.pad(to.fraction);
    sums_.pad(to.exponent, no_exponent);
  }
  HWY_NOINLINE void raise(const N* x, const Row& to, Index count) const {
    const D d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const Powers powers = powers_;
    N *fractions = to.fraction, *exponents = to.exponent;
    for (Index i = 0; i < count; i += lanes) {
      i = std::max<Index>(0, std::min(i, count - lanes));  // the last vector may make some again
      V exponent;
      const V fraction = powers.split_power(d, hn::LoadU(d, x + i), exponent);
      hn::StoreU(fraction, d, fractions + i);
      hn::StoreU(exponent, d, exponents + i);
    }
  }

  /// Answers 2^(exponent - largest), but no less than 2^-125 (of doubles 2^-1021), which no sum notices: products that
  /// are not normal take many processors a hundred times as long.
  struct Scale {
    HWY_INLINE explicit Scale(V largest)
        : shift(hn::Set(D(), zero + N(std::numeric_limits<N>::max_exponent - 1)) - largest) {}
    HWY_INLINE V operator()(V exponent) const {
      const V biased = hn::Max(exponent + shift, hn::Set(D(), zero + N(2)));
      const hn::RebindToUnsigned<D> du;
      return hn::BitCast(D(), hn::ShiftLeft<std::numeric_limits<N>::digits - 1>(hn::BitCast(du, biased)));
    }
    static constexpr N zero = N(1.5) * MathTable<N>::two_to_the_fraction_bits;  ///< has integers in its last bits
    V shift;
  };

  /// to += from.
  static HWY_NOINLINE void add(Index count, const Row& to, const Row& from) {
    const D d;
    for (Index i = 0; i < count; i += static_cast<Index>(hn::Lanes(d))) {  // rows have room for whole vectors
      const V a = hn::LoadU(d, to.exponent + i), b = hn::LoadU(d, from.exponent + i), largest = hn::Max(a, b);
      const Scale scale(largest);
      const V earlier = hn::Mul(hn::LoadU(d, to.fraction + i), scale(a));
      hn::StoreU(hn::MulAdd(hn::LoadU(d, from.fraction + i), scale(b), earlier), d, to.fraction + i);
      hn::StoreU(largest, d, to.exponent + i);
    }
  }

  /// to[i] = from[i] + from[i + shift] + ..., `taps` of them. What is written lies before all that is still to be read.
  static void sum(Index taps, Index shift, Index count, const Row& from, const Row& to) {
    if (taps == 2) return sum_taps<2>(taps, shift, count, from, to);
    if (taps == 3) return sum_taps<3>(taps, shift, count, from, to);
    return sum_taps<0>(taps, shift, count, from, to);
  }
  /// `known` is the number of taps, or 0 for any.
  template <int known>
  static HWY_NOINLINE void sum_taps(Index any, Index shift, Index count, const Row& from, const Row& to) {
    const D d;
    const Index taps = known > 0 ? known : any, lanes = static_cast<Index>(hn::Lanes(d));
    const auto at = [&](Index i) HWY_ATTR {
      V largest = hn::LoadU(d, from.exponent + i);
      for (Index tap = 1; tap < taps; ++tap) largest = hn::Max(largest, hn::LoadU(d, from.exponent + i + tap * shift));
      const Scale scale(largest);
      V fraction = hn::Mul(hn::LoadU(d, from.fraction + i), scale(hn::LoadU(d, from.exponent + i)));
      for (Index tap = 1; tap < taps; ++tap)
        fraction = hn::MulAdd(hn::LoadU(d, from.fraction + i + tap * shift),
                              scale(hn::LoadU(d, from.exponent + i + tap * shift)), fraction);
      hn::StoreU(fraction, d, to.fraction + i);
      hn::StoreU(largest, d, to.exponent + i);
    };
    for (Index i = 0; i < count; i += lanes) at(i);
  }

  void add_zeros(Index j, const Row& sums) {
    const auto add_ones = [&](Index i, Index count) {
      const N largest = std::max(sums.exponent[i], N(0));
      sums.fraction[i] = std::ldexp(sums.fraction[i], static_cast<int>(sums.exponent[i] - largest)) +
                         std::ldexp(static_cast<N>(count), static_cast<int>(-largest));
      sums.exponent[i] = largest;
    };
    sums_.padded().for_each_output(block_, j, [&](Index output, Index zeros, bool is_single) {
      const Index at = (output - block_.begin) * block_.inner;
      for (Index i = at; i < at + block_.inner; ++i)
        if (is_single)
          sums.fraction[i] = std::numeric_limits<N>::quiet_NaN();
        else if (zeros > 0)
          add_ones(i, zeros);  // exp(0)
    });
  }

  Block& block_;
  const Powers& powers_;
  const PowerSums<Powers>& sums_;
  const void* in_;
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_SPLIT_SUMS_INL_H_
