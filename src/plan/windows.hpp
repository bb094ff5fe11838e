// The windows of one axis as the general engine sees them: where each begins, how many taps it has, and after how many
// outputs the pattern repeats. Regular, adaptive and transposed windows are three formulas; the maps do not ask which.
#pragma once

#include <ndpool/axis.hpp>

namespace ndpool {

/// Nominal taps of one output: `first`, `first + step`, ... Cells outside of the axis are absent taps.
struct NominalTaps {
  Index first = 0;
  Index count = 0;
};

struct Windows {
  enum class Kind : unsigned char { regular, bins, transposed };

  Index cells = 1;    ///< length of the axis that is read
  Index outputs = 1;  ///< length of the axis that is written
  Kind kind = Kind::regular;
  Index kernel = 1, stride = 1, lo = 0, dilation = 1;  ///< of regular and transposed windows
  Index tap_step = 1;                                  ///< cells from tap to tap
  BinPattern pattern = {};                             ///< of bins

  /// The windows of a pool.
  static constexpr Windows of(const Axis& axis) {
    if (!axis.adaptive)
      return {axis.input, axis.output,   Kind::regular, axis.kernel, axis.output == 1 ? 1 : axis.stride,
              axis.lo,    axis.dilation, axis.dilation};
    return of_bins(axis.input, axis.output, axis.bins());
  }

  /// Bins of equal length that do not overlap are regular.
  static constexpr Windows of_bins(Index cells, Index outputs, const BinPattern& pattern) {
    if (pattern.phase != 0 || pattern.cells % pattern.bins != 0) {
      Windows bins{cells, outputs, Kind::bins};
      bins.pattern = pattern;
      return bins;
    }
    const Index length = pattern.cells / pattern.bins;
    return {cells, outputs, Kind::regular, length, outputs == 1 ? 1 : length};
  }

  /// For every cell of a pool, the nominal outputs that have a tap on it.
  static constexpr Windows transposed(const Axis& axis) {
    if (axis.adaptive) {
      const BinPattern bin = axis.bins();
      return of_bins(axis.output, axis.input, {bin.bins, bin.cells, -bin.phase});
    }
    if (axis.output == 1 && axis.lo == 0 && axis.dilation == 1 && axis.kernel >= axis.input) {
      Windows one{1, axis.input, Kind::bins};  // every cell has its one tap on the one output
      one.pattern = {1, axis.input, 0};
      return one;
    }
    if (axis.stride == 1)
      return {axis.output,   axis.input,   Kind::regular, axis.kernel, 1, (axis.kernel - 1) * axis.dilation - axis.lo,
              axis.dilation, axis.dilation};
    return {
        axis.output, axis.input, Kind::transposed, axis.kernel,
        axis.stride, axis.lo,    axis.dilation,    axis.dilation / detail::common_divisor(axis.stride, axis.dilation)};
  }

  constexpr NominalTaps taps(Index output) const {
    if (kind == Kind::regular) return {output * stride - lo, kernel};
    if (kind == Kind::bins) {
      const Index first = adaptive_start(pattern.cells, pattern.bins, output, pattern.phase);
      return {first, adaptive_end(pattern.cells, pattern.bins, output, pattern.phase) - first};
    }
    // Outputs o with o * stride + tap * dilation = position for some tap below kernel.
    const Index position = output + lo, last = detail::floor_divide(position, stride);
    Index first = detail::ceil_divide(position - (kernel - 1) * dilation, stride);
    if (dilation == 1) return {first, detail::larger(0, last - first + 1)};
    while (first <= last && (position - first * stride) % dilation != 0) ++first;
    return {first, first > last ? 0 : (last - first) / tap_step + 1};
  }

  /// Bounds of the cells that outputs [first, last] need; both grow with the outputs.
  constexpr Index begin(Index first) const {
    if (kind != Kind::transposed) return taps(first).first;
    return detail::ceil_divide(first + lo - (kernel - 1) * dilation, stride);
  }
  constexpr Index end(Index last) const {
    if (kind == Kind::transposed) return detail::floor_divide(last + lo, stride) + 1;
    const NominalTaps window = taps(last);
    return window.first + (window.count - 1) * tap_step + 1;
  }

  constexpr bool is_regular() const { return kind == Kind::regular; }
  /// Every output is its own cell.
  constexpr bool is_identity() const {
    return is_regular() && kernel == 1 && stride == 1 && lo == 0 && cells == outputs;
  }

  /// Every output is a cell, `stride` apart.
  constexpr bool is_subsampling() const {
    return is_regular() && kernel == 1 && lo == 0 && (outputs - 1) * stride < cells;
  }

  /// The pattern repeats after `period` outputs, `advance` cells further on.
  constexpr Index period() const {
    if (is_regular()) return 1;
    return kind == Kind::transposed ? stride : pattern.bins / detail::common_divisor(pattern.cells, pattern.bins);
  }
  constexpr Index advance() const {
    if (is_regular()) return stride;
    return kind == Kind::transposed ? 1 : pattern.cells / detail::common_divisor(pattern.cells, pattern.bins);
  }
  /// Cells of the widest window, roughly, and cells per output.
  constexpr Index reach() const {
    if (is_regular()) return (kernel - 1) * dilation + 1;
    return kind == Kind::bins ? pattern.cells / pattern.bins + 2 : (kernel - 1) * dilation / stride + 2;
  }
  constexpr double pace() const {
    if (is_regular()) return static_cast<double>(stride);
    return kind == Kind::bins ? static_cast<double>(pattern.cells) / static_cast<double>(pattern.bins)
                              : 1.0 / static_cast<double>(stride);
  }
  /// Taps of the window with most of them.
  constexpr Index max_taps() const {
    if (is_regular()) return kernel;
    return kind == Kind::bins ? (pattern.cells + pattern.bins - 1) / pattern.bins + 1 : (kernel - 1) / stride + 1;
  }
};

/// What `Windows::taps` answers for one output after the other, without divisions but for dilated transposed windows.
class WindowWalk {
 public:
  constexpr WindowWalk(const Windows& windows, Index output) : windows_(windows), output_(output) {
    if (windows.kind == Windows::Kind::bins) {
      const BinPattern& pattern = windows.pattern;
      quotient_ = pattern.cells / pattern.bins;
      rest_ = pattern.cells % pattern.bins;
      first_ = adaptive_start(pattern.cells, pattern.bins, output, pattern.phase);
      // output * cells + phase - first * bins, which fits although the products may not.
      phase_ = static_cast<Index>(static_cast<std::uint64_t>(output) * static_cast<std::uint64_t>(pattern.cells) +
                                  static_cast<std::uint64_t>(pattern.phase) -
                                  static_cast<std::uint64_t>(first_) * static_cast<std::uint64_t>(pattern.bins));
    } else if (windows.kind == Windows::Kind::transposed) {
      quotient_ = (windows.kernel - 1) / windows.stride;
      rest_ = (windows.kernel - 1) % windows.stride;
      first_ = detail::floor_divide(output + windows.lo, windows.stride);
      phase_ = output + windows.lo - first_ * windows.stride;
    }
  }
  constexpr NominalTaps next() {
    if (windows_.kind == Windows::Kind::bins) {
      const Index first = first_;
      first_ += quotient_;
      phase_ += rest_;
      if (phase_ >= windows_.pattern.bins) phase_ -= windows_.pattern.bins, ++first_;
      return {first, first_ - first + (phase_ != 0 ? 1 : 0)};
    }
    if (windows_.kind == Windows::Kind::regular || windows_.dilation != 1) return windows_.taps(output_++);
    const Index count = phase_ <= rest_ ? quotient_ + 1 : quotient_, last = first_;
    if (++phase_ == windows_.stride) phase_ = 0, ++first_;
    return {last - count + 1, count};
  }

 private:
  Windows windows_;
  Index output_;
  Index first_ = 0,
        phase_ = 0;  ///< first cell of the next bin, or last output on the next cell; what a division leaves
  Index quotient_ = 0, rest_ = 0;
};

}  // namespace ndpool
