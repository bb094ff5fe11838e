// Per-target code: sums of powers with exponents of their own, for numbers whose powers leave the range. No include
// guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_SPLIT_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_SPLIT_SUMS_INL_H_
#undef NDPOOL_SPLIT_SUMS_INL_H_
#else
#define NDPOOL_SPLIT_SUMS_INL_H_
#endif

#include "kernels/power_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

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

  bool exist() const { return block_.blocks.kept_rows > 0 && !block_.axis.adaptive; }

  /// Writes all values of the block. Its sums become fractions, by which it can be seen whether they are usable.
  void write_values(void* array) {
    const Borrowing borrowing(block_);
    const Row columns = spare(), sums = spare(), other = spare();
    for (Index cell = block_.first_cell; cell < block_.last_cell; ++cell) {
      if (!block_.is_seen(cell)) continue;
      bool is_first = true;
      block_.for_each_row(cell, [&](const Strides& at) {
        raise_row(is_first ? kept(cell) : other, at);
        if (!is_first) add(block_.length(), kept(cell), other);
        is_first = false;
      });
    }
    for (Index j = 0; j < block_.count; ++j) {
      const Taps taps = block_.last.window.taps(block_.first + j);
      copy(kept(taps.first), columns, block_.length());
      for (Index r = 1; r < taps.count; ++r) add(block_.length(), columns, kept(taps.first + r * taps.step));
      const Row first = tap_of(columns, 0, sums);
      if (first.fraction != sums.fraction) copy(first, sums, block_.outputs());
      for (Index tap = 1; tap < block_.axis.kernel; ++tap) add(block_.outputs(), sums, tap_of(columns, tap, other));
      add_zeros(j, sums, other);
      std::copy(sums.fraction, sums.fraction + block_.outputs(), block_.sums(j));
      block_.write_row(array, &Strides::out, j, [&](N* out) { finish(sums, out); });
    }
  }

 private:
  /// A row of numbers fraction * 2^exponent.
  struct Row {
    N* fraction;
    N* exponent;
  };
  static constexpr N no_exponent = sizeof(N) == 4 ? N(-0x1p20) : N(-0x1p40);  ///< of a zero

  Row spare() {
    N* fraction = block_.spare();
    return {fraction, block_.spare()};
  }
  Row kept(Index cell) const { return {block_.kept(cell), block_.exponents(cell)}; }
  static void copy(const Row& from, const Row& to, Index count) {
    std::copy(from.fraction, from.fraction + count, to.fraction);
    std::copy(from.exponent, from.exponent + count, to.exponent);
  }

  /// to += from. Rows have room for whole vectors.
  static HWY_NOINLINE void add(Index count, const Row& to, const Row& from) {
    const D d;
    const hn::RebindToUnsigned<D> du;
    constexpr int bias = std::numeric_limits<N>::max_exponent - 1;
    const V shifter = hn::Set(d, N(1.5) * MathTable<N>::two_to_the_fraction_bits + N(bias)),
            least = hn::Set(d, N(1 - bias));
    const auto power_of_two = [&](V exponent) HWY_ATTR {
      const V shifted = hn::Max(exponent, least) + shifter;
      return hn::BitCast(d, hn::ShiftLeft<std::numeric_limits<N>::digits - 1>(hn::BitCast(du, shifted)));
    };
    for (Index i = 0; i < count; i += static_cast<Index>(hn::Lanes(d))) {
      const V a = hn::LoadU(d, to.exponent + i), b = hn::LoadU(d, from.exponent + i), both = hn::Max(a, b);
      const V earlier = hn::Mul(hn::LoadU(d, to.fraction + i), power_of_two(a - both));
      hn::StoreU(hn::MulAdd(hn::LoadU(d, from.fraction + i), power_of_two(b - both), earlier), d, to.fraction + i);
      hn::StoreU(both, d, to.exponent + i);
    }
  }

  HWY_NOINLINE void raise_row(const Row& to, const Strides& at) {
    const D d;
    const Borrowing borrowing(block_);
    const N* x = block_.load_in(in_, &Strides::in, at, block_.spare());
    const Powers powers = powers_;
    N* exponents = block_.real_part(to.exponent);
    Index i = 0;
    transform(
        block_.real_length(), block_.real_part(to.fraction),
        [&i, d, powers, exponents](V v) HWY_ATTR {
          V exponent;
          const V fraction = powers.split_power(d, v, exponent);
          hn::StoreU(exponent, d, exponents + i);
          i += static_cast<Index>(hn::Lanes(d));
          return fraction;
        },
        x);
    sums_.pad(to.fraction);
    std::fill(to.exponent, exponents, no_exponent);
    std::fill(exponents + block_.real_length(), to.exponent + block_.length(), no_exponent);
  }

  /// One tap of all outputs of a row: in place if neighbours are neighbours there, too.
  Row tap_of(const Row& columns, Index tap, const Row& gathered) const {
    const Index inner = block_.inner, step = block_.axis.stride * inner, shift = tap * block_.axis.dilation * inner;
    const Row from = {columns.fraction + shift, columns.exponent + shift};
    if (block_.axis.stride == 1) return from;
    for (Index output = 0; output < block_.end - block_.begin; ++output)
      for (Index lane = 0; lane < inner; ++lane) {
        gathered.fraction[output * inner + lane] = from.fraction[output * step + lane];
        gathered.exponent[output * inner + lane] = from.exponent[output * step + lane];
      }
    return gathered;
  }

  void add_zeros(Index j, const Row& sums, const Row& zeros_row) {
    std::fill(zeros_row.fraction, zeros_row.fraction + block_.outputs(), N(0));
    std::fill(zeros_row.exponent, zeros_row.exponent + block_.outputs(), no_exponent);
    bool has_any = false;
    sums_.for_each_padded(j, [&](Index output, Index zeros, bool is_single) {
      const Index at = (output - block_.begin) * block_.inner;
      has_any = has_any || zeros > 0 || is_single;
      for (Index i = at; i < at + block_.inner; ++i) {
        zeros_row.fraction[i] = is_single ? std::numeric_limits<N>::quiet_NaN() : static_cast<N>(zeros);
        zeros_row.exponent[i] = zeros > 0 ? N(0) : no_exponent;
      }
    });
    if (has_any) add(block_.outputs(), sums, zeros_row);
  }

  HWY_NOINLINE void finish(const Row& sums, N* out) const {
    const D d;
    const Powers powers = powers_;
    const N *fraction = sums.fraction, *exponent = sums.exponent;
    transform(
        block_.outputs(), out, [d, powers](V f, V e) HWY_ATTR { return powers.split_value(d, f, e); }, fraction,
        exponent);
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
