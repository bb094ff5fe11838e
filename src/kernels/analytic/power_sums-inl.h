// Per-target code: the powers of the cells of a block, and their sums over its windows. No include guard of the usual
// kind: see rows-inl.h.
#if defined(NDPOOL_POWER_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_POWER_SUMS_INL_H_
#undef NDPOOL_POWER_SUMS_INL_H_
#else
#define NDPOOL_POWER_SUMS_INL_H_
#endif

#include "kernels/analytic/analytic_block-inl.h"
#include "kernels/analytic/padded_taps.hpp"
#include "kernels/analytic/powers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

template <class Powers>
class PowerSums {
 public:
  using N = typename Powers::N;
  using D = hn::ScalableTag<N>;
  using V = hn::Vec<D>;
  using Block = AnalyticBlock<N>;
  using Borrowing = typename Block::Borrowing;
  using Folded = Reduction<N, Powers::combine, Nan::propagate>;

  PowerSums(Block& block, Powers& powers, const void* in)
      : block_(block),
        powers_(powers),
        in_(in),
        columns_(block.spare()),
        padded_(block.rows, powers.adds_zeros, Powers::single_taps_are_exact) {}

  /// The sums of powers over all windows of the block. False if that was left because powers are out of range.
  bool make(bool leaves_wide_blocks) {
    const D d;
    if (powers_.needs_range()) powers_.set_range(find_range());
    seen_ = hn::Zero(d);
    const auto power = [this](N* to, const Strides& at) HWY_ATTR { raise_row(to, at); };
    if (block_.blocks.kept_rows > 0 && block_.cells_follow_one_another()) {
      raise(first_cells(), block_.kept_cell(block_.first_cell),
            (block_.last_cell - block_.first_cell) * block_.blocks.row);
      pad_above_and_below();
    } else {
      make_rows(power);
    }
    if (leaves_wide_blocks && !hn::AllFalse(d, hn::IsNaN(seen_))) return false;
    sum_windows(power, block_.sums(0));
    const N zero_power = powers_.zero_power();
    for (Index j = 0; j < block_.count; ++j) add_zeros(j, zero_power);
    return true;
  }

  /// make(to, offsets) for every cell that the windows see, if rows are kept.
  template <class Make>
  void make_rows(const Make& make) {
    if (block_.blocks.kept_rows == 0) return;
    for (Index cell = block_.first_cell; cell < block_.last_cell; ++cell)
      if (block_.is_seen(cell)) make_row(block_.outer_axes - 1, block_.at_cell(cell), block_.kept_cell(cell), make);
    pad_above_and_below();
  }

  /// The sums over all windows of the block, of rows that are kept or made now.
  template <class Make>
  void sum_windows(const Make& make, N* sums) {
    if (block_.blocks.kept_rows > 0) {
      sum_across();
      return sum_along(block_.kept(0), sums);
    }
    const Taps taps = block_.last.window.taps(block_.first);
    sum_rows(taps.count, columns_, [&](Index r, N* row) {
      return make_row(block_.outer_axes - 1, block_.at_cell(taps.first + r * taps.step), row, make);
    });
    sum_along(columns_, sums);
  }

  /// Where cells follow one another.
  const N* first_cells() const {
    return static_cast<const N*>(in_) + block_.at_cell(block_.first_cell).in + block_.real_column * block_.inner;
  }

  /// Zeros, or what is given, where a row has padding, and behind it.
  void pad(N* row, N with = 0) const {
    N* real = block_.real_part(row);
    std::fill(row, real, with);
    std::fill(real + block_.real_length(), row + block_.blocks.row, with);
  }

  template <class... In>
  static HWY_NOINLINE void add_rows(Index length, N* to, const In*... in) {
    transform(
        length, to, [](auto... v) HWY_ATTR { return add(v...); }, in...);
  }

  const PaddedTaps& padded() const { return padded_; }

 private:
  static HWY_INLINE V add(V a, V b) {
    if constexpr (Powers::combine == Combine::sum) return a + b;
    // As integers magnitudes have the same order, and NaN is the largest.
    const hn::RebindToSigned<D> di;
    return hn::BitCast(D(), hn::Max(hn::BitCast(di, a), hn::BitCast(di, b)));
  }
  template <class... Rest>
  static HWY_INLINE V add(V a, V b, Rest... rest) {
    return add(add(a, b), rest...);
  }

  HWY_NOINLINE FiniteRange<N> find_range() {
    const D d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const Borrowing borrowing(block_);
    N* copy = block_.spare();
    const N most = std::numeric_limits<N>::max();
    V low = hn::Set(d, most), high = hn::Set(d, -most);
    const auto see = [&](V v) HWY_ATTR {
      const auto is_finite = hn::Le(hn::Abs(v), hn::Set(d, most));
      low = hn::Min(low, hn::IfThenElse(is_finite, v, low));
      high = hn::Max(high, hn::IfThenElse(is_finite, v, high));
    };
    const auto see_all = [&](const N* x, Index count) HWY_ATTR {
      Index i = 0;
      for (; i + lanes <= count; i += lanes) see(hn::LoadU(d, x + i));
      for (; i < count; ++i) see(hn::Set(d, x[i]));
    };
    if (block_.cells_follow_one_another())
      see_all(first_cells(), (block_.last_cell - block_.first_cell) * block_.blocks.row);
    else
      for (Index cell = block_.first_cell; cell < block_.last_cell; ++cell)
        if (block_.is_seen(cell))
          block_.for_each_row(cell, [&](const Strides& at) HWY_ATTR {
            see_all(block_.load_in(in_, &Strides::in, at, copy), block_.real_length());
          });
    FiniteRange<N> range{hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
    if (range.lowest > range.highest) range = {0, 0};
    return range;
  }

  void raise_row(N* to, const Strides& at) {
    const Borrowing borrowing(block_);
    raise(block_.load_in(in_, &Strides::in, at, block_.spare()), block_.real_part(to), block_.real_length());
    pad(to);
  }
  HWY_NOINLINE void raise(const N* x, N* to, Index count) {
    const D d;
    // Copies of its own: the numbers written could be members, as far as a compiler knows.
    const Powers powers = powers_;
    V seen = seen_;
    transform(
        count, to,
        [&seen, d, powers](V v) HWY_ATTR {
          const V power = powers.power(d, v);
          seen = seen + power;
          return power;
        },
        x);
    seen_ = seen;
  }

  void pad_above_and_below() const {
    std::fill(block_.kept(0), block_.kept_cell(block_.first_cell), N(0));
    std::fill(block_.kept_cell(block_.last_cell), block_.kept(block_.kept_rows()), N(0));
  }

  /// One row of the last vertical axis: the sum over the outer taps of what `make(to, offsets)` makes of each.
  template <class Make>
  const N* make_row(int axis, const Strides& at, N* to, const Make& make) {
    if (axis < 0) {
      make(to, at);
      return to;
    }
    const PooledAxis& outer = block_.rows.vertical[axis];
    const Taps taps = outer.window.taps(block_.cursor.vertical_position(axis));
    sum_rows(taps.count, to, [&](Index r, N* row) {
      return make_row(axis - 1, Block::moved(at, outer, taps.first + r * taps.step), row, make);
    });
    return to;
  }

  /// to = leaf(0) + ... + leaf(count - 1), as a tree; `leaf(number, row)` may use the row or answer another one.
  template <class Leaf>
  void sum_rows(Index count, N* to, const Leaf& leaf, Index first = 0) {
    const Borrowing borrowing(block_);
    const Index length = block_.blocks.row;
    if (count > 4) {
      const Index half = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(count - 1)));
      sum_rows(half, to, leaf, first);
      N* rest = block_.spare();
      sum_rows(count - half, rest, leaf, first + half);
      add_rows(length, to, to, rest);
      return;
    }
    const N* row[4] = {};
    for (Index i = 0; i < count; ++i) row[i] = leaf(first + i, i == 0 ? to : block_.spare());
    if (count == 1 && row[0] != to) std::copy(row[0], row[0] + length, to);
    if (count == 2) add_rows(length, to, row[0], row[1]);
    if (count == 3) add_rows(length, to, row[0], row[1], row[2]);
    if (count == 4) add_rows(length, to, row[0], row[1], row[2], row[3]);
  }

  /// Rows of columns, one for every output row, from where the first tap of its windows is on: where they were kept.
  void sum_across() {
    const Axis& window = block_.last.window;
    const auto row = [&](Index number) { return block_.kept(number); };
    if (window.kernel <= most_flat_taps) return fold(window, block_.count, block_.blocks.row, row(0), row(0));
    for (Index j = 0; j < block_.count; ++j)
      sum_rows(window.kernel, row(j), [&](Index r, N*) { return row(j * window.stride + r * window.dilation); });
  }

  /// Short windows of all rows at once. Between rows this makes sums of two of them, which nobody reads.
  void sum_along(const N* columns, N* sums) {
    Axis axis = block_.axis;
    const Index row = block_.blocks.row, sums_row = block_.blocks.sums_row;
    if (!axis.adaptive && axis.kernel <= most_flat_taps) {
      axis.stride = block_.blocks.step;
      return fold(axis, block_.all_outputs() / block_.inner, block_.inner, columns, sums);
    }
    for (Index j = 0; j < block_.count; ++j)
      if (axis.adaptive && block_.inner == 1)
        sum_bins(columns + j * row, sums + j * sums_row);
      else
        fold(axis, block_.end - block_.begin, block_.inner, columns + j * row, sums + j * sums_row);
  }
  static constexpr Index most_flat_taps = 4;

  /// Bins of single numbers, which a fold of rows would take one by one.
  HWY_NOINLINE void sum_bins(const N* pixels, N* sums) const {
    for (Index output = block_.begin; output < block_.end; ++output) {
      const Taps taps = block_.axis.taps(output);
      sums[output - block_.begin] = sum_numbers(pixels + taps.first, taps.count);
    }
  }
  static N sum_numbers(const N* numbers, Index count) {
    constexpr Index few = 8;  // more are summed in halves, for their digits' sake
    if (count > few)
      return Folded::Op::combine(sum_numbers(numbers, count / 2), sum_numbers(numbers + count / 2, count - count / 2));
    N sum = numbers[0];
    for (Index i = 1; i < count; ++i) sum = Folded::Op::combine(sum, numbers[i]);
    return sum;
  }

  /// Windows of pixels with so many lanes, none of which is padding. The sums may be written over the pixels.
  HWY_NOINLINE void fold(const Axis& axis, Index outputs, Index lanes, const N* pixels, N* sums) {
    flat_.inner = {lanes, {1, 1, 1, 1}};
    flat_.horizontal.stride.in = lanes;
    Axis& window = flat_.horizontal.window;
    window = axis;
    if (!axis.adaptive) {
      window.lo = window.hi = 0;
      window.input = axis.span(outputs);
      window.output = outputs;
    }
    RowFold<Folded> sum(flat_, pixels, block_.rest_of_scratch);
    sum(start_, sums, [&](const N* values, Index step, Index begin, Index end) {
      N* to = sums + begin * lanes;
      if (values == to && step == 1) return;
      for (Index output = begin; output < end; ++output)
        for (Index lane = 0; lane < lanes; ++lane)
          to[(output - begin) * lanes + lane] = values[(output - begin) * step * lanes + lane];
    });
  }

  /// Adds the padded taps. Windows of one tap, which must give that tap's number, are marked as not usable.
  void add_zeros(Index j, N zero_power) {
    N* sums = block_.sums(j);
    padded_.for_each_output(block_, j, [&](Index output, Index zeros, bool is_single) {
      N* sum = sums + (output - block_.begin) * block_.inner;
      for (Index lane = 0; lane < block_.inner; ++lane) {
        if (zeros > 0) sum[lane] += static_cast<N>(zeros) * zero_power;
        if (!Powers::single_taps_are_exact && is_single) sum[lane] = std::numeric_limits<N>::quiet_NaN();
      }
    });
  }

  Block& block_;
  Powers& powers_;
  const void* in_;
  N* columns_;  ///< the sum over the vertical taps, where rows are not kept
  const PaddedTaps padded_;
  Rows flat_;  ///< what is folded now, as an input of its own
  RowCursor start_{flat_, 0};
  V seen_ = hn::Zero(D());  ///< the sum of all powers, which is NaN if one is
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_POWER_SUMS_INL_H_
