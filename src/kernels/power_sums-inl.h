// Per-target code: the powers of the cells of a block, and their sums over its windows. No include guard of the usual
// kind: see rows-inl.h.
#if defined(NDPOOL_POWER_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_POWER_SUMS_INL_H_
#undef NDPOOL_POWER_SUMS_INL_H_
#else
#define NDPOOL_POWER_SUMS_INL_H_
#endif

#include "kernels/analytic_block-inl.h"
#include "kernels/powers-inl.h"

#include <optional>

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

  PowerSums(Block& block, Powers& powers, const void* in)
      : block_(block),
        powers_(powers),
        in_(in),
        columns_(block.spare()),
        full_(block.axis.adaptive ? Range{0, 0} : block.axis.full_outputs()) {
    along_.inner = {block.inner, {1, 1, 1, 1}};
    along_.horizontal.stride.in = block.inner;
    along_.horizontal.window = block.axis;
  }

  /// The sums of powers over all windows of the block.
  void make() {
    begin_block();
    if (powers_.needs_range()) powers_.set_range(find_range());
    const auto power = [this](N* to, const Strides& at) { raise_row(to, at); };
    keep_rows(power);
    const N zero_power = powers_.zero_power();
    for (Index j = 0; j < block_.count; ++j) {
      sum_windows(j, power, block_.sums(j));
      add_zeros(j, zero_power);
    }
  }

  /// Before rows are summed along.
  void begin_block() {
    Axis& window = along_.horizontal.window;
    if (!block_.axis.adaptive) {
      window = {block_.pixels, block_.end - block_.begin, window.kernel, window.stride, window.dilation};
      window.pooled = true;
    }
    fold_.emplace(along_, columns_, block_.rest_of_scratch);
  }

  /// make(to, offsets) for every cell that the windows see, if rows are kept.
  template <class Make>
  void keep_rows(const Make& make) {
    if (block_.blocks.kept_rows == 0) return;
    for (Index cell = block_.first_cell; cell < block_.last_cell; ++cell)
      if (block_.is_seen(cell)) make_row(block_.outer_axes - 1, block_.at_cell(cell), block_.kept(cell), make);
  }

  /// The sums over all windows of output row j of the block.
  template <class Make>
  void sum_windows(Index j, const Make& make, N* sums) {
    const Taps taps = block_.last.window.taps(block_.first + j);
    const auto cell = [&](Index r) { return taps.first + r * taps.step; };
    if (block_.blocks.kept_rows == 0)
      sum_rows(taps.count, columns_,
               [&](Index r, N* row) { return make_row(block_.outer_axes - 1, block_.at_cell(cell(r)), row, make); });
    else
      sum_rows(taps.count, columns_, [&](Index r, N*) { return block_.kept(cell(r)); });
    sum_along(sums);
  }

  /// Zeros where a row has padding.
  void pad(N* row) const {
    N* real = block_.real_part(row);
    std::fill(row, real, N(0));
    std::fill(real + block_.real_length(), row + block_.length(), N(0));
  }

  template <class... In>
  static HWY_NOINLINE void add_rows(Index length, N* to, const In*... in) {
    transform(
        length, to, [](auto... v) HWY_ATTR { return (v + ...); }, in...);
  }

  /// Calls f(output, zeros, is single) for the outputs of row j that may have padded taps, or a single one. The number
  /// of zeros is not a product over the axes: it is all taps that count, without the real ones.
  template <class F>
  void for_each_padded(Index j, const F& f) const {
    const Axis& axis = block_.axis;
    if (!powers_.adds_zeros && Powers::single_taps_are_exact) return;
    TapCounts vertical;
    bool is_full = true;
    const auto count = [&](const Taps& taps) {
      vertical.real *= taps.count;
      vertical.counted *= taps.count + taps.padded;
      is_full = is_full && taps.count == taps.length;
    };
    count(block_.last.window.taps(block_.first + j));
    for (int v = 0; v < block_.outer_axes; ++v)
      count(block_.rows.vertical[v].window.taps(block_.cursor.vertical_position(v)));
    if (axis.adaptive && vertical.counted == vertical.real && vertical.real > 1) return;
    if (!powers_.adds_zeros && vertical.real > 1) return;
    const bool skips_full = is_full && !axis.adaptive && vertical.real * axis.kernel > 1;
    for (Index output = block_.begin; output < block_.end; ++output) {
      if (skips_full && output >= full_.begin && output < full_.end) {
        output = full_.end - 1;
        continue;
      }
      const Taps taps = axis.taps(output);
      const Index real = vertical.real * taps.count;
      const Index zeros = powers_.adds_zeros ? vertical.counted * (taps.count + taps.padded) - real : 0;
      f(output, zeros, real + zeros == 1);
    }
  }

 private:
  FiniteRange<N> find_range() {
    const D d;
    const Borrowing borrowing(block_);
    N* copy = block_.spare();
    N* ignored = block_.spare();
    const N largest = std::numeric_limits<N>::max();
    V low = hn::Set(d, largest), high = hn::Set(d, -largest);
    for (Index cell = block_.first_cell; cell < block_.last_cell; ++cell)
      if (block_.is_seen(cell))
        block_.for_each_row(cell, [&](const Strides& at) HWY_ATTR {
          const N* x = block_.load_in(in_, &Strides::in, at, copy);
          transform(
              block_.real_length(), ignored,
              [&](V v) HWY_ATTR {
                const auto is_finite = hn::Le(hn::Abs(v), hn::Set(d, largest));
                low = hn::Min(low, hn::IfThenElse(is_finite, v, low));
                high = hn::Max(high, hn::IfThenElse(is_finite, v, high));
                return v;
              },
              x);
        });
    FiniteRange<N> range{hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
    if (range.lowest > range.highest) range = {0, 0};
    return range;
  }

  HWY_NOINLINE void raise_row(N* to, const Strides& at) {
    const D d;
    const Borrowing borrowing(block_);
    const N* x = block_.load_in(in_, &Strides::in, at, block_.spare());
    // A copy of its own: the numbers written could be its members, as far as a compiler knows.
    const Powers powers = powers_;
    transform(
        block_.real_length(), block_.real_part(to), [d, powers](V v) HWY_ATTR { return powers.power(d, v); }, x);
    pad(to);
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
    const Index length = block_.length();
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

  HWY_NOINLINE void sum_along(N* sums) {
    const Index inner = block_.inner;
    (*fold_)(start_, sums, [&](const N* values, Index step, Index begin, Index end) {
      N* to = sums + begin * inner;
      if (values == to) return;
      for (Index output = begin; output < end; ++output)
        for (Index lane = 0; lane < inner; ++lane)
          to[(output - begin) * inner + lane] = values[(output - begin) * step * inner + lane];
    });
  }

  /// Adds the padded taps. Windows of one tap, which must give that tap's number, are marked as not usable.
  void add_zeros(Index j, N zero_power) {
    N* sums = block_.sums(j);
    for_each_padded(j, [&](Index output, Index zeros, bool is_single) {
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
  N* columns_;        ///< what is folded along: the sum over the vertical taps
  const Range full_;  ///< outputs of a row without padding
  Rows along_;        ///< the columns of a strip as an input of their own
  std::optional<RowFold<Reduction<N, Combine::sum, Nan::propagate>>> fold_;
  RowCursor start_{along_, 0};
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_POWER_SUMS_INL_H_
