// One axis of a pool: which input cells each output sees, and which outputs see each input cell. Together with
// geometry.hpp, which lines axes up to an N-D window, this is the only window arithmetic in ndpool.
#pragma once

#include <ndpool/extents.hpp>
#include <ndpool/whole_numbers.hpp>

namespace ndpool {

/// Where padding comes from.
enum class PaddingRule : unsigned char {
  given,       ///< the numbers the caller gave
  same_upper,  ///< as many outputs as ceil(input / stride); the odd cell goes last
  same_lower,  ///< the same, the odd cell goes first
  valid,       ///< none
};

/// The window of one axis as a caller describes it.
struct AxisWindow {
  Index kernel = 1;                       ///< taps
  Index stride = 1;                       ///< cells from window to window
  Index lo = 0;                           ///< padded cells before the input
  Index hi = 0;                           ///< padded cells after the input
  Index dilation = 1;                     ///< cells from tap to tap
  bool ceil_mode = false;                 ///< rounds the number of windows up
  PaddingRule rule = PaddingRule::given;  ///< replaces lo and hi unless it is `given`
};

/// The taps of one output on one axis. Real tap number `r` (0 .. count-1) is tap `first_tap + r` of the window and
/// reads input cell `first + r * step`.
struct Taps {
  Index first = 0;      ///< input cell of the first real tap
  Index count = 0;      ///< real taps
  Index step = 1;       ///< input cells from tap to tap
  Index first_tap = 0;  ///< number of the first real tap inside the window
  Index length = 0;     ///< taps of the window, whatever they fall on; the same at every position of a windowed axis
  Index padded = 0;     ///< taps that fall on padding; overhang is in neither count
};

/// An arithmetic progression of positions: first, first + step, ..., `count` of them.
struct Progression {
  Index first = 0;  ///< the first position
  Index count = 0;  ///< how many positions
  Index step = 1;   ///< from one position to the next
};

/// Positions from `begin` up to, but not including, `end`.
struct Range {
  Index begin = 0;  ///< the first position
  Index end = 0;    ///< one past the last position
};

/// Cells at the end of an axis that no window sees although a window more would, and the padded cells that are missing
/// there to see them all.
struct Loss {
  Index cells = 0;    ///< cells that no window sees
  Index padding = 0;  ///< padded cells that one window more would need
};

/// How bins lie: bin i covers floor((i * cells + phase) / bins) .. ceil(((i + 1) * cells + phase) / bins). A whole axis
/// has phase 0; a part of it that begins with another bin has the remainder that its first bin begins with.
struct BinPattern {
  Index cells = 0;  ///< cells of the whole axis
  Index bins = 0;   ///< its bins
  Index phase = 0;  ///< 0 <= phase < bins, or -bins < phase <= 0 for the transposed bins
};

/// First input cell of bin `bin`: floor(bin * length / bins), for 0 <= bin < bins; 0 if there are no bins.
constexpr Index adaptive_start(Index length, Index bins, Index bin, Index phase = 0) {
  if (bins < 1) return 0;
  const detail::Quotient start = detail::multiply_divide(bin, length, bins);
  return phase == 0 ? start.floor : start.floor + detail::floor_divide(start.rest + phase, bins);
}

/// One past the last input cell of bin `bin`: ceil((bin + 1) * length / bins); 0 if there are no bins.
constexpr Index adaptive_end(Index length, Index bins, Index bin, Index phase = 0) {
  if (bins < 1) return 0;
  const detail::Quotient end = detail::multiply_divide(bin + 1, length, bins);
  return end.floor + detail::ceil_divide(end.rest + phase, bins);
}

/// One axis, resolved for an input length. Made by `batch_axis`, `windowed_axis` and `adaptive_axis`, which validate;
/// the members are for reading.
struct Axis {
  Index input = 0;          ///< cells
  Index output = 0;         ///< windows
  Index kernel = 1;         ///< taps of a window; for an adaptive axis the length of its longest bin
  Index stride = 1;         ///< cells from window to window
  Index dilation = 1;       ///< cells from tap to tap
  Index lo = 0;             ///< padded cells before the input
  Index hi = 0;             ///< padded cells after the input
  bool adaptive = false;    ///< bins instead of a sliding window
  bool pooled = false;      ///< false of batch axes, whose windows are single cells
  BinPattern pattern = {};  ///< of a part of an adaptive axis; without bins it is that of the whole axis

  /// How the bins of an adaptive axis lie.
  constexpr BinPattern bins() const { return pattern.bins > 0 ? pattern : BinPattern{input, output, 0}; }

  /// Input cell under tap 0 of an output; negative where that is padding.
  constexpr Index start(Index output_position) const {
    if (!adaptive) return output_position * stride - lo;
    const BinPattern bin = bins();
    return adaptive_start(bin.cells, bin.bins, output_position, bin.phase);
  }

  /// The taps of an output. Constant time.
  constexpr Taps taps(Index output_position) const {
    const Index begin = start(output_position);
    if (adaptive) {
      const BinPattern bin = bins();
      const Index length = adaptive_end(bin.cells, bin.bins, output_position, bin.phase) - begin;
      return {begin, length, 1, 0, length, 0};
    }
    if (begin >= 0 && begin < input && kernel - 1 <= detail::floor_divide(input - 1 - begin, dilation))
      return {begin, kernel, dilation, 0, kernel, 0};  // nearly all windows: every tap on the input
    // Taps stay on the dilation grid: the start is stepped into the input, never clamped to its edge.
    const Index first_tap = begin < 0 ? detail::ceil_divide(-begin, dilation) : 0;
    const Index real_end = detail::smaller(kernel, detail::floor_divide(input - 1 - begin, dilation) + 1);
    const Index counted = detail::smaller(kernel, detail::floor_divide(input + hi - 1 - begin, dilation) + 1);
    const Index real = detail::larger(0, real_end - first_tap);
    if (real == 0) return {0, 0, dilation, 0, kernel, counted};
    return {begin + first_tap * dilation, real, dilation, first_tap, kernel, counted - real};
  }

  /// The outputs that see an input cell, in increasing order.
  constexpr Progression outputs_seeing(Index input_position) const {
    if (adaptive) {  // the transposed bins: the same two formulas with input and output exchanged
      const BinPattern bin = bins();
      const Index begin = adaptive_start(bin.bins, bin.cells, input_position, -bin.phase);
      const Index end = adaptive_end(bin.bins, bin.cells, input_position, -bin.phase);
      if (pattern.bins == 0) return {begin, end - begin, 1};
      const Index first = detail::larger(0, begin);  // bins beyond the part are not its own
      return {first, detail::smaller(output, end) - first, 1};
    }
    // Solve o * stride + tap * dilation = position; taps that solve it are stride / g apart, outputs dilation / g.
    const Index position = input_position + lo;
    const Index divisor = detail::common_divisor(stride, dilation);
    const Index tap_step = stride / divisor, output_step = dilation / divisor;
    const Index tap = smallest_tap_reaching(position, tap_step);
    if (tap < 0) return {};
    const Index last = (position - tap * dilation) / stride;
    const Index steps = detail::smaller((kernel - 1 - tap) / tap_step, last / output_step);
    const Index beyond = last < output ? 0 : detail::ceil_divide(last - (output - 1), output_step);
    if (beyond > steps) return {};
    return {last - steps * output_step, steps - beyond + 1, output_step};
  }

  /// Cells from tap 0 of one output to the last tap of the `outputs`-th from there, on a windowed axis.
  constexpr Index span(Index outputs) const { return (outputs - 1) * stride + (kernel - 1) * dilation + 1; }

  /// The outputs for which a tap of a windowed axis is on the input; neighbours, since the tap moves by a stride.
  constexpr Range outputs_with_tap(Index tap) const {
    const Index cell = tap * dilation - lo;  // under this tap of output 0
    const Index begin = detail::smaller(output, cell < 0 ? detail::ceil_divide(-cell, stride) : 0);
    const Index end = detail::smaller(output, detail::floor_divide(input - 1 - cell, stride) + 1);
    return {begin, detail::larger(begin, end)};
  }

  /// The outputs of a windowed axis whose taps are all on the input.
  constexpr Range full_outputs() const {
    const Index begin = outputs_with_tap(0).begin;
    return {begin, detail::larger(begin, outputs_with_tap(kernel - 1).end)};
  }

  /// What rounding the number of windows down loses at the end of the axis.
  constexpr Loss loss() const {
    if (adaptive) return {};
    Axis longer = *this;  // with every window that starts on the input
    longer.output = detail::larger(output, detail::ceil_divide(input + lo, stride));
    Loss lost;
    Index windows = output;
    for (Index cell = detail::larger(0, start(output)); cell < input; ++cell) {
      const Progression seeing = longer.outputs_seeing(cell);
      if (seeing.count == 0 || seeing.first < output) continue;
      ++lost.cells;
      windows = detail::larger(windows, seeing.first + 1);
    }
    if (lost.cells > 0) lost.padding = span(windows) - (lo + input + hi);
    return lost;
  }

  /// The first output whose window holds no input cell, or -1. Cost: the logarithm of the dilation.
  constexpr Index first_empty_output() const {
    if (adaptive || output == 0) return -1;
    if (taps(0).count == 0) return 0;  // also the first of the windows that end before the input
    const Index over_gap = first_output_over_gap();
    if (over_gap >= 0) return over_gap;
    return start(output - 1) < input ? -1 : detail::ceil_divide(input + lo, stride);
  }

 private:
  /// Smallest tap number from which a whole number of strides leads back to an output, or -1.
  constexpr Index smallest_tap_reaching(Index position, Index tap_step) const {
    if (dilation == 1) return position % stride < kernel ? position % stride : -1;
    for (Index tap = 0; tap < detail::smaller(kernel, tap_step) && tap * dilation <= position; ++tap)
      if ((position - tap * dilation) % stride == 0) return tap;
    return -1;
  }

  /// The first output that starts in the padding and has the whole input between two of its taps, or -1. Its first tap
  /// that is not before the input is at (start mod dilation), which must be `input` or more.
  constexpr Index first_output_over_gap() const {
    if (dilation <= input) return -1;
    const Index before = dilation - 1 - (lo - 1) % dilation;  // start(0) mod dilation, where lo > 0
    const Index first = lo == 0 ? -1 : detail::first_residue_in(stride, before, dilation, {input, dilation - 1});
    return first >= 0 && first < output && start(first) < 0 ? first : -1;
  }
};

/// What `outputs_seeing` answers for the cells of an axis one after another, without dividing for each where windows
/// are not dilated.
class CellWalk {
 public:
  /// Begins at a cell. `axis` must outlive the walk.
  constexpr explicit CellWalk(const Axis& axis, Index cell = 0)
      : axis_(axis),
        steps_(!axis.adaptive && axis.dilation == 1),
        max_strides_((axis.kernel - 1) / axis.stride),
        rest_((axis.kernel - 1) % axis.stride),
        cell_(cell),
        last_((axis.lo + cell) / axis.stride),
        tap_((axis.lo + cell) % axis.stride) {}

  /// The outputs that see the current cell, in increasing order.
  constexpr Progression outputs() const {
    if (!steps_) return axis_.outputs_seeing(cell_);
    if (tap_ >= axis_.kernel) return {};
    const Index first = detail::larger(0, last_ - (tap_ <= rest_ ? max_strides_ : max_strides_ - 1));
    const Index end = detail::smaller(last_ + 1, axis_.output);
    return first < end ? Progression{first, end - first, 1} : Progression{};
  }

  /// Goes to the next cell.
  constexpr void next() {
    ++cell_;
    if (++tap_ < axis_.stride) return;
    tap_ = 0;
    ++last_;
  }

 private:
  const Axis& axis_;
  bool steps_;
  Index max_strides_, rest_;  ///< strides in a window, and the taps behind the last of them
  Index cell_;
  Index last_;  ///< the last output that starts at or before the cell
  Index tap_;   ///< the cell's tap in it
};

/// An axis that is not pooled: every cell is its own window.
constexpr Axis batch_axis(Index length) {
  Axis axis;
  axis.input = axis.output = length;
  return axis;
}

/// Resolves a windowed axis of `length` cells into `axis`. Nothing is written if the answer is a fault; `number` is the
/// axis of the array that the fault names.
constexpr Fault windowed_axis(Index length, AxisWindow window, int number, Axis& axis) {
  const Index k = window.kernel, s = window.stride, d = window.dilation;
  if (k < 1) return {Code::not_positive, Argument::kernel, number, {k}};
  if (s < 1) return {Code::not_positive, Argument::stride, number, {s}};
  if (d < 1) return {Code::not_positive, Argument::dilation, number, {d}};
  if (window.rule != PaddingRule::given) window.lo = window.hi = 0;
  if (window.lo < 0) return {Code::negative, Argument::padding, number, {window.lo}};
  if (window.hi < 0) return {Code::negative, Argument::padding, number, {window.hi}};
  if (length < 0) return {Code::negative, Argument::shape, number, {length}};
  if (length == 0) return {Code::zero_length, Argument::shape, number, {}};

  Index effective = 0;
  if (__builtin_mul_overflow(d, k - 1, &effective) || __builtin_add_overflow(effective, 1, &effective))
    return {Code::overflow, Argument::dilation, number, {d, k}};
  if (window.rule == PaddingRule::same_upper || window.rule == PaddingRule::same_lower) {
    // (ceil(L/s) - 1) * s < L, so only the last addition can overflow.
    Index covered = (detail::ceil_divide(length, s) - 1) * s;
    if (__builtin_add_overflow(covered, effective, &covered))
      return {Code::overflow, Argument::kernel, number, {k, length}};
    const Index total = detail::larger(0, covered - length);
    const Index half = total / 2;
    window.lo = window.rule == PaddingRule::same_upper ? half : total - half;
    window.hi = total - window.lo;
  }
  Index padded = 0;
  if (__builtin_add_overflow(length, window.lo, &padded) || __builtin_add_overflow(padded, window.hi, &padded))
    return {Code::overflow, Argument::padding, number, {window.lo, window.hi}};

  const Index room = padded - effective;  // both are positive, so this cannot wrap
  Index output = detail::floor_divide(room, s) + 1;
  if (window.ceil_mode && room % s != 0) {
    ++output;
    // Rounding up made a last window; it stays only if it starts inside the input or the padding before it.
    if (output - 1 > (length + window.lo - 1) / s) --output;
  }
  if (output < 1)
    return {Code::kernel_exceeds_input, Argument::kernel, number, {k, length, window.lo, window.hi, effective}};

  axis = {length, output, k, s, d, window.lo, window.hi, false, true};
  return {};
}

/// Resolves an axis of `length` cells into `bins` bins. Nothing is written if the answer is a fault.
constexpr Fault adaptive_axis(Index length, Index bins, int number, Axis& axis) {
  if (bins < 1) return {Code::not_positive, Argument::output_size, number, {bins}};
  if (length < 0) return {Code::negative, Argument::shape, number, {length}};
  if (length == 0) return {Code::zero_length, Argument::shape, number, {}};
  // A bin starts at most gcd(length, bins) / bins short of the next cell, which makes the longest bin this long.
  const Index divisor = detail::common_divisor(length, bins);
  const Index longest = detail::ceil_divide(length - divisor, bins) + 1;
  axis = {length, bins, longest, 1, 1, 0, 0, true, true};
  return {};
}

}  // namespace ndpool
