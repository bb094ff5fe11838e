// Per-target code: sums of pairs over windows, axis by axis, in the stated tree. No include guard of the usual kind:
// see lanes-inl.h.
#if defined(NDPOOL_ANALYTIC_PAIR_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ANALYTIC_PAIR_SUMS_INL_H_
#undef NDPOOL_ANALYTIC_PAIR_SUMS_INL_H_
#else
#define NDPOOL_ANALYTIC_PAIR_SUMS_INL_H_
#endif

#include "kernels/analytic/pairs-inl.h"
#include "kernels/analytic/slice.hpp"

#include <bit>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace analytic {

using namespace ndpool::analytic;  // what does not depend on the target

/// Fractions and exponents of a box.
template <class W>
struct Planes {
  W *fraction, *exponent;
  Planes operator+(Index offset) const { return {fraction + offset, exponent + offset}; }
};

/// The windows of one axis of a box [before][cells][behind].
template <class W>
class PairFold {
 public:
  using D = hn::ScalableTag<W>;
  static constexpr Index max_lanes = static_cast<Index>(hn::MaxLanes(D()));

  PairFold(const Windows& windows, Index before, Index behind, Planes<W> in, Planes<W> out, Planes<W> levels)
      : windows_(windows), before_(before), behind_(behind), in_(in), out_(out), level_planes_(levels) {}

  /// Levels of sums over 2, 4, 8, ... taps, which overlapping windows share; 0 if they would not gain.
  static int level_count(const Windows& windows) {
    const Index taps = windows.max_taps();
    const int levels = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(taps))) - 1;
    const double direct = static_cast<double>(windows.outputs) * static_cast<double>(taps);
    return taps >= 8 && direct > 3.0 * static_cast<double>(windows.cells) * levels ? levels : 0;
  }
  /// Elements of the levels of one block behind `before`.
  static Index level_elements(const Windows& windows, Index behind) {
    return level_count(windows) * windows.cells * behind;
  }

  void operator()() {
    levels_ = level_count(windows_);
    if (levels_ > 0 || behind_ >= max_lanes || before_ < max_lanes) {
      for (Index b = 0; b < before_; ++b) fold_block(b);
      return;
    }
    // Few elements lie side by side: blocks fill the lanes.
    const Index step = windows_.cells * behind_, out_step = windows_.outputs * behind_;
    for (Index o = 0; o < windows_.outputs; ++o) {
      const NominalTaps taps = windows_.taps(o);
      for (Index i = 0; i < behind_; ++i)
        for (Index b = 0; b < before_; b += max_lanes) {
          lanes_ = std::min(max_lanes, before_ - b);
          lane_step_ = step;
          source_ = in_ + (b * step + i);
          put(sum(taps.first, taps.count), out_ + (b * out_step + o * behind_ + i), out_step);
        }
    }
  }

 private:
  void fold_block(Index b) {
    source_ = in_ + b * windows_.cells * behind_;
    if (levels_ > 0) make_levels();
    const Planes<W> block = source_;
    const Planes<W> to = out_ + b * windows_.outputs * behind_;
    if (behind_ >= max_lanes) {
      for (Index o = 0; o < windows_.outputs; ++o) {
        const NominalTaps taps = windows_.taps(o);
        for (Index i = 0; i < behind_; i += max_lanes) {
          lanes_ = std::min(max_lanes, behind_ - i);
          lane_step_ = 1;
          source_ = block + i;
          lane_offset_ = i;
          put(sum(taps.first, taps.count), to + (o * behind_ + i), 1);
        }
      }
      return;
    }
    // Outputs fill the lanes, where as many have windows of as many taps, evenly apart.
    for (Index i = 0; i < behind_; ++i) {
      source_ = block + i;
      lane_offset_ = i;
      for (Index o = 0; o < windows_.outputs; o += lanes_) {
        const NominalTaps taps = windows_.taps(o);
        Index stride = 0;
        lanes_ = even_outputs(o, taps, stride);
        lane_step_ = stride * behind_;
        lane_stride_ = stride;
        put(sum(taps.first, taps.count), to + (o * behind_ + i), behind_);
      }
      lane_stride_ = 0;
    }
  }
  Index even_outputs(Index first, const NominalTaps& taps, Index& stride) const {
    Index count = 1;
    for (; count < max_lanes && first + count < windows_.outputs; ++count) {
      const NominalTaps next = windows_.taps(first + count);
      if (count == 1) stride = next.first - taps.first;
      if (next.count != taps.count || next.first != taps.first + count * stride) break;
    }
    if (!is_inside(taps.first, taps.count) || !is_inside(taps.first + (count - 1) * stride, taps.count)) {
      stride = 0;
      return 1;
    }
    return count;
  }
  bool is_inside(Index first, Index taps) const {
    return first >= 0 && first + (taps - 1) * windows_.tap_step < windows_.cells;
  }

  /// The stated tree over taps, of which those on no cell are absent.
  Pair<D> sum(Index first, Index count) const {
    const D d;
    const Index step = windows_.tap_step, last = first + (count - 1) * step;
    if (count <= 0 || last < 0 || first >= windows_.cells) return zero_pair(d);
    if (count == 1) return load(source_, first);
    const Index half = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(count - 1)));
    if (levels_ > 0 && half * 2 == count && is_inside(first, count))
      return load_level(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count))) - 2, first);
    const Pair<D> earlier = sum(first, half);
    return sum_of(d, earlier, sum(first + half * step, count - half));
  }
  Pair<D> load_level(int level, Index cell) const {
    return load(level_planes_ + (level * windows_.cells * behind_ + lane_offset_), cell);
  }
  Pair<D> load(Planes<W> from, Index cell) const {
    const D d;
    const Planes<W> at = from + cell * behind_;
    if (lane_step_ == 1 && lanes_ == max_lanes) return {hn::LoadU(d, at.fraction), hn::LoadU(d, at.exponent)};
    HWY_ALIGN W fraction[max_lanes], exponent[max_lanes];
    for (Index lane = 0; lane < max_lanes; ++lane) {
      const Index offset = (lane < lanes_ ? lane : 0) * lane_step_;
      fraction[lane] = at.fraction[offset];
      exponent[lane] = at.exponent[offset];
    }
    return {hn::Load(d, fraction), hn::Load(d, exponent)};
  }
  void put(const Pair<D>& pair, Planes<W> to, Index step) const {
    const D d;
    HWY_ALIGN W fraction[max_lanes], exponent[max_lanes];
    hn::Store(pair.fraction, d, fraction);
    hn::Store(pair.exponent, d, exponent);
    for (Index lane = 0; lane < lanes_; ++lane) {
      to.fraction[lane * step] = fraction[lane];
      to.exponent[lane * step] = exponent[lane];
    }
  }

  void make_levels() {
    const D d;
    Planes<W> from = source_;
    for (int level = 0; level < levels_; ++level) {
      const Planes<W> to = level_planes_ + level * windows_.cells * behind_;
      const Index apart = (Index{1} << level) * windows_.tap_step,
                  count = windows_.cells - (2 * apart - windows_.tap_step);
      if (count > 0)
        for_vectors<W>(
            count * behind_,
            [d](const W* f, const W* e, const W* next_f, const W* next_e, W* to_f, W* to_e) HWY_ATTR {
              const Pair<D> both = sum_of(d, Pair<D>{hn::LoadU(d, f), hn::LoadU(d, e)},
                                          Pair<D>{hn::LoadU(d, next_f), hn::LoadU(d, next_e)});
              hn::StoreU(both.fraction, d, to_f);
              hn::StoreU(both.exponent, d, to_e);
            },
            static_cast<const W*>(from.fraction), static_cast<const W*>(from.exponent),
            static_cast<const W*>(from.fraction + apart * behind_),
            static_cast<const W*>(from.exponent + apart * behind_), to.fraction, to.exponent);
      from = to;
    }
  }

  const Windows windows_;
  const Index before_, behind_;
  const Planes<W> in_, out_, level_planes_;
  int levels_ = 0;
  Planes<W> source_ = {};  ///< of the lanes at hand
  Index lanes_ = 1, lane_step_ = 1, lane_offset_ = 0, lane_stride_ = 0;
};

/// The sums over all windows of a slice, or over the transposed windows.
template <class W>
class PairSums {
 public:
  PairSums(const Slice& slice, bool is_transposed) : slice_(slice), is_transposed_(is_transposed) {}

  void operator()(Planes<W> in, Planes<W> out) const {
    Planes<W> from = in;
    for (std::size_t a = 0; a < slice_.axes.size(); ++a) {
      const SliceAxis& axis = slice_.axes[a];
      const Windows& windows = is_transposed_ ? axis.transposed : axis.windows;
      const Index before = is_transposed_ ? axis.transposed_before : axis.before;
      const Index behind = is_transposed_ ? axis.transposed_behind : axis.behind;
      const bool is_last = a + 1 == slice_.axes.size();
      constexpr int first_buffer = 4;
      const auto buffer = [](int which, Index elements) -> Planes<W> {
        W* const memory = static_cast<W*>(careful_scratch(which, static_cast<std::size_t>(elements) * 2 * sizeof(W)));
        return {memory, memory + elements};
      };
      const Planes<W> to =
          is_last ? out : buffer(first_buffer + static_cast<int>(a % 2), before * windows.outputs * behind);
      const Planes<W> levels =
          buffer(first_buffer + 2, std::max<Index>(1, PairFold<W>::level_elements(windows, behind)));
      PairFold<W>(windows, before, behind, from, to, levels)();
      from = to;
    }
  }

 private:
  const Slice& slice_;
  const bool is_transposed_;
};

}  // namespace analytic
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ANALYTIC_PAIR_SUMS_INL_H_
