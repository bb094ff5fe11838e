// Per-target code: folds the windows of one axis. Rows are everything that lies behind that axis in memory, so one call
// serves every axis but a last one whose rows would be shorter than a vector (row-inl.h).
#if defined(NDPOOL_GENERAL_AXIS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_GENERAL_AXIS_INL_H_
#undef NDPOOL_GENERAL_AXIS_INL_H_
#else
#define NDPOOL_GENERAL_AXIS_INL_H_
#endif

#include "kernels/general/fold-inl.h"
#include "kernels/general/layout.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace general {

/// What a fold of an axis reads and writes. Source rows stand for cells [lo, hi); other taps are absent.
template <class From, class To>
struct AxisCall {
  const AxisLayout& axis;
  Range outputs;
  Index lo, hi;
  const From* from;
  Index from_step;
  Index n;
  To* to;
  Index to_step;
  const double* counts;  ///< factor of the divisor that each output adds, from the first of `outputs` on; may be null
};

/// Folds windows of an axis with the scratch of one thread.
template <class E>
class AxisFold {
 public:
  using Work = typename E::Work;
  using S = typename E::Stored;

  AxisFold(const Layout& layout, char* scratch, const Finish& finish)
      : layout_(layout),
        identity_(reinterpret_cast<Work*>(scratch + layout.identity_at)),
        zeros_(reinterpret_cast<SourceOf<E>*>(scratch + layout.zeros_at)),
        levels_(reinterpret_cast<Work*>(scratch + layout.levels_at)),
        trees_(reinterpret_cast<Work*>(scratch + layout.trees_at)),
        finish_(finish) {
    std::fill_n(identity_, layout.identity_elements, E::identity(finish));
    if (E::is_sum)
      std::memset(static_cast<void*>(zeros_), 0, static_cast<std::size_t>(layout.identity_elements) * sizeof(S));
  }

  /// The same scratch, other results.
  AxisFold(const AxisFold& other, const Finish& finish)
      : layout_(other.layout_),
        identity_(other.identity_),
        zeros_(other.zeros_),
        levels_(other.levels_),
        trees_(other.trees_),
        finish_(finish) {}

  template <class From, class To>
  void operator()(const AxisCall<From, To>& call) {
    const Windows& windows = call.axis.windows;
    if (call.axis.blocks != nullptr && call.outputs.end - call.outputs.begin > 1) return fold_shared(call);
    if (!call.axis.residues.empty()) return fold_residues(call);
    if (fold_as_one_run(call) || repeat(call)) return;
    const Index count = call.outputs.end - call.outputs.begin, period = std::min(windows.period(), count);
    if (period == count && windows.kind == Windows::Kind::bins) return fold_each(call);
    const Index chunk = std::min(call.n, layout_.chunk);
    for (Index at = 0; at < call.n; at += chunk)
      for (Index phase = 0; phase < period; ++phase) fold_phase(call, phase, period, at, std::min(chunk, call.n - at));
  }

  /// Joins `parts` rows of working elements, nested or as a tree of at most 8.
  template <class To>
  void join(const Work* const* rows, const Index* advance, int parts, bool nested, Index outputs, To* to, Index to_step,
            Index n, const Finish& f) {
    if constexpr (E::is_sum) {
      if (nested && parts > max_fold) return join_many(rows, advance, parts, outputs, to, to_step, n, f);
      if (nested) return fold<E, Join::nested>(parts, FoldCall<Work, To>{rows, advance, outputs, to, to_step, n, f});
    }
    fold<E>(parts, FoldCall<Work, To>{rows, advance, outputs, to, to_step, n, f});
  }

 private:
  /// A tap's row, or the row of an absent tap. An extreme is not changed by a tap that comes twice.
  template <class From>
  struct TapRows {
    template <class To>
    TapRows(const AxisCall<From, To>& call, Index first_cell, Index at, const From* absent_row)
        : from(call.from + at),
          from_step(call.from_step),
          lo(call.lo),
          hi(call.hi),
          tap_step(call.axis.windows.tap_step),
          first(first_cell),
          absent(absent_row) {}
    const From* from;
    Index from_step, lo, hi, tap_step, first;
    const From* absent;
    const From* operator()(Index tap) const {
      const Index cell = first + tap * tap_step;
      return cell >= lo && cell < hi ? from + (cell - lo) * from_step : absent;
    }
    bool is_present(Index tap) const {
      const Index cell = first + tap * tap_step;
      return cell >= lo && cell < hi;
    }
    /// First tap on a present cell, or -1.
    Index first_present(Index count) const {
      const Index tap = first >= lo ? 0 : detail::ceil_divide(lo - first, tap_step);
      return tap < count && is_present(tap) ? tap : -1;
    }
  };
  template <class From>
  const From* absent_row() const {
    if constexpr (std::is_same_v<From, Work>)
      return identity_;
    else
      return E::is_sum ? zeros_ : nullptr;
  }

  /// Rows that follow one another on both sides are one long row.
  template <class From, class To>
  bool fold_as_one_run(const AxisCall<From, To>& call) {
    const Windows& w = call.axis.windows;
    if (!w.is_regular() || w.stride != 1 || w.kernel > max_fold || call.from_step != call.n || call.to_step != call.n ||
        finish_.counts != nullptr || call.counts != nullptr)
      return false;
    const Index first = call.outputs.begin - w.lo, count = call.outputs.end - call.outputs.begin;
    if (first < call.lo || first + count - 1 + (w.kernel - 1) * w.tap_step >= call.hi) return false;
    const From* rows[max_fold];
    for (Index j = 0; j < w.kernel; ++j) rows[j] = call.from + (first + j * w.tap_step - call.lo) * call.from_step;
    fold_one<E>(static_cast<int>(w.kernel), rows, call.to, call.n * count, finish_);
    return true;
  }

  /// Every window is the one cell.
  template <class From, class To>
  bool repeat(const AxisCall<From, To>& call) {
    const Windows& w = call.axis.windows;
    if (w.kind != Windows::Kind::bins || w.cells != 1 || call.counts != nullptr || call.hi <= call.lo) return false;
    const Index stays[1] = {0}, chunk = std::min(call.n, layout_.chunk);
    for (Index at = 0; at < call.n; at += chunk) {
      const From* const rows[1] = {call.from + at};
      Finish f = finish_;
      if (f.counts != nullptr) f.counts += at;
      fold<E>(1, FoldCall<From, To>{rows, stays, call.outputs.end - call.outputs.begin, call.to + at, call.to_step,
                                    std::min(chunk, call.n - at), f});
    }
    return true;
  }

  /// Transposed windows of outputs a stride apart begin at neighbouring cells: those of each residue are regular.
  template <class From, class To>
  void fold_residues(const AxisCall<From, To>& call) {
    const Index stride = call.axis.windows.stride, begin = call.outputs.begin, count = call.outputs.end - begin;
    for (Index phase = 0; phase < std::min(stride, count); ++phase) {
      const Index first = (begin + phase) / stride, outputs = (count - 1 - phase) / stride + 1;
      const AxisLayout& residue = call.axis.residues[static_cast<std::size_t>((begin + phase) % stride)];
      (*this)(AxisCall<From, To>{residue,
                                 {first, first + outputs},
                                 call.lo,
                                 call.hi,
                                 call.from,
                                 call.from_step,
                                 call.n,
                                 call.to + phase * call.to_step,
                                 call.to_step * stride,
                                 nullptr});
    }
  }

  /// Bins that hardly repeat: one output after the other.
  template <class From, class To>
  void fold_each(const AxisCall<From, To>& call) {
    const Index outputs = call.outputs.end - call.outputs.begin, chunk = std::min(call.n, layout_.chunk);
    for (Index at = 0; at < call.n; at += chunk) {
      const Index n = std::min(chunk, call.n - at);
      Finish f = finish_;
      if (f.counts != nullptr) f.counts += at;
      WindowWalk walk(call.axis.windows, call.outputs.begin);
      To* to = call.to + at;
      for (Index o = 0; o < outputs; ++o, to += call.to_step) {
        const NominalTaps window = walk.next();
        if (call.counts != nullptr) f.count = finish_.count * call.counts[o];
        if (window.count > max_fold || window.first < call.lo || window.first + window.count > call.hi) {
          const TapRows<From> taps{call, window.first, at, absent_row<From>()};
          if (window.count > max_fold)
            fold_long(taps, window.count, to, n, f);
          else
            fold_short(taps, window.count, 0, 1, to, 0, n, f);
          continue;
        }
        const From* rows[max_fold];
        rows[0] = call.from + at + (window.first - call.lo) * call.from_step;
        for (Index j = 1; j < window.count; ++j) rows[j] = rows[j - 1] + call.from_step;
        fold_one<E>(static_cast<int>(window.count), rows, to, n, f);
      }
    }
  }

  /// Every `period`-th output: their windows are alike, so those that lack no tap go in one call.
  template <class From, class To>
  void fold_phase(const AxisCall<From, To>& call, Index phase, Index period, Index at, Index n) {
    const Windows& windows = call.axis.windows;
    const Index outputs = (call.outputs.end - call.outputs.begin - 1 - phase) / period + 1;
    const Index step = windows.tap_step, cells_on = windows.advance();
    const NominalTaps window = windows.taps(call.outputs.begin + phase);
    Finish f = finish_;
    if (f.counts != nullptr) f.counts += at;
    // Outputs [full_begin, full_end) of this phase have all their taps.
    const Index full_begin = std::max<Index>(0, detail::ceil_divide(call.lo - window.first, cells_on));
    const Index full_end =
        std::min(outputs, detail::floor_divide(call.hi - 1 - window.first - (window.count - 1) * step, cells_on) + 1);
    for (Index i = 0; i < outputs;) {
      const Index number = phase + i * period;
      TapRows<From> taps{call, window.first + i * cells_on, at, absent_row<From>()};
      To* const to = call.to + number * call.to_step + at;
      if (call.counts != nullptr) f.count = finish_.count * call.counts[number];
      Index many = 1;
      if (i >= full_begin && i < full_end)
        many = call.counts == nullptr ? full_end - i : same_counts(call.counts + number, period, full_end - i);
      if (window.count > max_fold) {
        for (Index k = 0; k < many; ++k, taps.first += cells_on)
          fold_long(taps, window.count, to + k * period * call.to_step, n, f);
      } else {
        fold_short(taps, window.count, cells_on * call.from_step, many, to, period * call.to_step, n, f);
      }
      i += many;
    }
  }
  static Index same_counts(const double* counts, Index step, Index limit) {
    Index many = 1;
    while (many < limit && counts[many * step] == counts[0]) ++many;
    return many;
  }

  template <class From, class To>
  void fold_short(const TapRows<From>& taps, Index count, Index advance, Index outputs, To* to, Index to_step, Index n,
                  const Finish& f) {
    const From* rows[max_fold];
    Index by[max_fold];
    const Index present = taps.first_present(count);
    if (present < 0) {  // no tap at all
      const Work* none[1] = {identity_};
      const Index stays[1] = {0};
      return fold<E>(1, FoldCall<Work, To>{none, stays, outputs, to, to_step, n, f});
    }
    for (Index j = 0; j < count; ++j) {
      rows[j] = taps(j);
      if (!E::is_sum && !taps.is_present(j)) rows[j] = taps(present);
      by[j] = advance;
    }
    fold<E>(static_cast<int>(count), FoldCall<From, To>{rows, by, outputs, to, to_step, n, f});
  }

  /// One long window that shares nothing: blocks of 8, 64, ... taps in turn.
  template <class From, class To>
  void fold_long(const TapRows<From>& taps, Index count, To* to, Index n, const Finish& f) {
    if (n >= E::lanes) {
      TapRows<From> present = taps;
      Index left = count;
      if constexpr (!E::is_sum) {  // absent taps change nothing
        const Index first = taps.first_present(count);
        if (first >= 0) {
          present.first += first * taps.tap_step;
          left = std::min(count - first, (taps.hi - 1 - present.first) / taps.tap_step + 1);
        }
      }
      if (present.is_present(0) && present.is_present(left - 1)) {
        Work* folded = trees_ + 3 * layout_.tree_pitch;  // behind what waits
        if constexpr (std::is_same_v<To, Work>) folded = to;
        fold_tall<E>(present(0), taps.tap_step * taps.from_step, left, folded, n, f, trees_);
        if constexpr (!std::is_same_v<To, Work>) {
          const Work* rows[1] = {folded};
          fold_one<E>(1, rows, to, n, f);
        }
        return;
      }
    }
    const Work* rows[max_fold];
    const int parts = fold_parts(taps, 0, count, rows, trees_, n);
    fold_one<E>(parts, rows, to, n, f);
  }
  template <class From>
  int fold_parts(const TapRows<From>& taps, Index first, Index count, const Work** rows, Work* room, Index n) {
    Index unit = max_fold;
    while (unit * max_fold < count) unit *= max_fold;
    int parts = 0;
    for (Index at = 0; at < count; at += unit, ++parts)
      rows[parts] = fold_block(taps, first + at, std::min(unit, count - at), room + parts * layout_.tree_pitch,
                               room + max_fold * layout_.tree_pitch, n);
    return parts;
  }
  template <class From>
  const Work* fold_block(const TapRows<From>& taps, Index first, Index count, Work* to, Work* room, Index n) {
    TapRows<From> block = taps;
    block.first += first * taps.tap_step;
    if (block.first_present(count) < 0) return identity_;
    if (count <= max_fold) {
      fold_short(block, count, 0, 1, to, 0, n, finish_);
      return to;
    }
    const Work* rows[max_fold];
    const int parts = fold_parts(block, 0, count, rows, room, n);
    fold_one<E>(parts, rows, to, n, finish_);
    return to;
  }

  /// Overlapping long windows: blocks at every place of a lattice, then each window of its parts.
  template <class From, class To>
  void fold_shared(const AxisCall<From, To>& call) {
    const Windows& w = call.axis.windows;
    const Blocks& blocks = *call.axis.blocks;
    const Index count = call.outputs.end - call.outputs.begin;
    const Index cells = (count - 1) * w.stride + (w.kernel - 1) * w.tap_step + 1, places = cells / blocks.lattice + 1;
    Index chunk = layout_.level_elements / (places * std::max(1, blocks.levels - 1));
    chunk = std::min({call.n, std::max<Index>(chunk / 16 * 16 - level_gap, 64), layout_.chunk});
    const Index pitch = chunk + level_gap;
    for (Index at = 0; at < call.n; at += chunk) {
      const Index n = std::min(chunk, call.n - at);
      make_levels(call, places, pitch, at, n, cells);
      fold_levels(call, places, pitch, at, n);
    }
  }
  Work* level_row(int level, Index place, Index places, Index pitch) const {
    return levels_ + ((level - 1) * places + place) * pitch;
  }
  template <class From, class To>
  void make_levels(const AxisCall<From, To>& call, Index places, Index pitch, Index at, Index n, Index cells) {
    const Windows& w = call.axis.windows;
    const Blocks& blocks = *call.axis.blocks;
    const Index start = call.outputs.begin * w.stride - w.lo, lattice = blocks.lattice;
    for (int level = 1; level < blocks.levels; ++level) {
      const int ratio = static_cast<int>(blocks.size[level] / blocks.size[level - 1]);
      const Index below = blocks.size[level - 1] * w.tap_step, span = (blocks.size[level] - 1) * w.tap_step;
      const Index last = (cells - 1 - span) / lattice;
      Index by[max_fold];
      if (level > 1) {
        const Work* rows[max_fold];
        for (int j = 0; j < ratio; ++j) {
          rows[j] = level_row(level - 1, j * below / lattice, places, pitch);
          by[j] = pitch;
        }
        fold<E>(ratio, FoldCall<Work, Work>{rows, by, last + 1, level_row(level, 0, places, pitch), pitch, n, finish_});
        continue;
      }
      const Index full_begin = std::max<Index>(0, detail::ceil_divide(call.lo - start, lattice));
      const Index full_end = std::min(last + 1, detail::floor_divide(call.hi - 1 - span - start, lattice) + 1);
      for (Index i = 0; i <= last;) {
        const Index many = i >= full_begin && i < full_end ? full_end - i : 1;
        const TapRows<From> taps{call, start + i * lattice, at, absent_row<From>()};
        fold_short(taps, ratio, lattice * call.from_step, many, level_row(1, i, places, pitch), pitch, n, finish_);
        i += many;
      }
    }
  }
  template <class From, class To>
  void fold_levels(const AxisCall<From, To>& call, Index places, Index pitch, Index at, Index n) {
    const Windows& w = call.axis.windows;
    const Blocks& blocks = *call.axis.blocks;
    const Index start = call.outputs.begin * w.stride - w.lo, lattice = blocks.lattice;
    const Index count = call.outputs.end - call.outputs.begin;
    Finish f = finish_;
    if (f.counts != nullptr) f.counts += at;
    for (Index o = 0; o < count;) {
      const Work* rows[Blocks::max_parts];
      Index by[Blocks::max_parts], many = count - o;
      if (call.counts != nullptr) {
        f.count = finish_.count * call.counts[o];
        many = same_counts(call.counts + o, 1, many);
      }
      for (int j = 0; j < blocks.parts; ++j) {
        const auto [level, tap] = blocks.part[j];
        const Index cell = o * w.stride + tap * w.tap_step;
        by[j] = w.stride / lattice * pitch;
        if (level > 0) {
          rows[j] = level_row(level, cell / lattice, places, pitch);
          continue;
        }
        // A single tap is a row of the source.
        const TapRows<From> taps{call, start + cell, at, absent_row<From>()};
        if constexpr (std::is_same_v<From, Work>) {
          if (taps.is_present(0)) {
            rows[j] = taps(0);
            by[j] = w.stride * call.from_step;
            many = std::min(many, (call.hi - 1 - start - cell) / w.stride + 1);
            continue;
          }
        }
        many = 1;
        Work* const single = trees_ + 2 * layout_.tree_pitch;
        fold_short(taps, 1, 0, 1, single, 0, n, finish_);
        rows[j] = single;
      }
      join(rows, by, blocks.parts, blocks.nested, many, call.to + o * call.to_step + at, call.to_step, n, f);
      o += many;
    }
  }

  /// More than 8 digits: the last ones first.
  template <class To>
  void join_many(const Work* const* rows, const Index* advance, int parts, Index outputs, To* to, Index to_step,
                 Index n, const Finish& f) {
    for (Index o = 0; o < outputs; ++o) {
      const Work* at[Blocks::max_parts];
      for (int j = 0; j < parts; ++j) at[j] = rows[j] + (advance == nullptr ? 0 : o * advance[j]);
      int left = parts;
      for (int turn = 0; left > max_fold; turn ^= 1) {
        Work* const joined_row = trees_ + turn * layout_.tree_pitch;
        fold<E, Join::nested>(max_fold,
                              FoldCall<Work, Work>{at + left - max_fold, nullptr, 1, joined_row, 0, n, finish_});
        left -= max_fold - 1;
        at[left - 1] = joined_row;
      }
      fold<E, Join::nested>(left, FoldCall<Work, To>{at, nullptr, 1, to + o * to_step, 0, n, f});
    }
  }

  static constexpr Index level_gap = 32;

  const Layout& layout_;
  Work* identity_;
  SourceOf<E>* zeros_;
  Work* levels_;
  Work* trees_;
  const Finish& finish_;
};

}  // namespace general
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_GENERAL_AXIS_INL_H_
