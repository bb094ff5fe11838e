// Per-target code: max and min with their winners. The number of the winning tap rides along the same two passes as the
// value. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_WINNERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_WINNERS_INL_H_
#undef NDPOOL_WINNERS_INL_H_
#else
#define NDPOOL_WINNERS_INL_H_
#endif

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// A candidate displaces the current winner if it is more extreme, or if it equals it and comes first. NaN equals NaN;
/// whether it beats numbers or loses to them is the policy.
template <Combine kind, Nan nan, class T, class Tap>
HWY_INLINE bool displaces(T candidate, Tap candidate_tap, T current, Tap current_tap) {
  bool better = kind == Combine::max ? candidate > current : candidate < current;
  bool equal = candidate == current;
  if constexpr (std::numeric_limits<T>::has_quiet_NaN) {
    const bool candidate_nan = candidate != candidate, current_nan = current != current;
    better |= nan == Nan::propagate ? candidate_nan & !current_nan : current_nan & !candidate_nan;
    equal |= candidate_nan & current_nan;
  }
  return better | (equal & (candidate_tap < current_tap));
}

/// The winners of output rows. Tap numbers have the size of the elements, so that both fit the same vectors.
template <class T, Combine kind, Nan nan>
class RowWinners {
 public:
  using Tap = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                 std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

  RowWinners(const Rows& rows, const T* in, void* scratch)
      : rows_(rows), axis_(rows.horizontal.window), inner_(rows.inner.extent), in_(in) {
    char* next = static_cast<char*>(scratch);
    const std::size_t row_bytes = winner_row_bytes(rows);
    column_values_ = reinterpret_cast<T*>(next);
    column_taps_ = reinterpret_cast<Tap*>(next + row_bytes);
    values_ = reinterpret_cast<T*>(next + 2 * row_bytes);
    taps_ = reinterpret_cast<Tap*>(next + 3 * row_bytes);
  }

  /// Finds the winners of one output row: `values()` and `taps()`, output o at `o * inner`.
  void find(const RowCursor& cursor) {
    across_taps(cursor, rows_.vertical_count > 0 ? 0 : -1, in_ + cursor.offset().in, 0, true);
    along();
  }
  const T* values() const { return values_; }
  const Tap* taps() const { return taps_; }

 private:
  /// Visits the input rows in row-major order of the vertical taps; answers whether the next row is still the first.
  bool across_taps(const RowCursor& cursor, int axis, const T* base, Index tap, bool is_first) {
    if (axis < 0 || axis == rows_.vertical_count) {
      across(base, static_cast<Tap>(tap), is_first);
      return false;
    }
    const PooledAxis& vertical = rows_.vertical[axis];
    const Taps taps = vertical.window.taps(cursor.vertical_position(axis));
    for (Index r = 0; r < taps.count; ++r)
      is_first = across_taps(cursor, axis + 1, base + (taps.first + r * taps.step) * vertical.stride.in,
                             tap + (taps.first_tap + r) * vertical.tap_stride, is_first);
    return is_first;
  }

  void across(const T* row, Tap tap, bool is_first) {
    const Index length = axis_.input * inner_;
    T* values = column_values_;
    Tap* taps = column_taps_;
    if (is_first || !rows_.in_is_packed()) {
      T* copy = is_first ? values : values_;  // values_ is free until the columns are complete
      gather(row, copy);
      row = copy;
    }
    if (is_first) {
      for (Index i = 0; i < length; ++i) taps[i] = tap;
      return;
    }
    NDPOOL_INDEPENDENT
    for (Index i = 0; i < length; ++i) {
      // Rows come in the order of their taps, so an equal value never displaces an earlier one.
      const bool wins = displaces<kind, nan, T, Tap>(row[i], 1, values[i], 0);
      values[i] = wins ? row[i] : values[i];
      taps[i] = wins ? tap : taps[i];
    }
  }

  void gather(const T* row, T* copy) const {
    for (Index pixel = 0; pixel < axis_.input; ++pixel)
      for (Index lane = 0; lane < inner_; ++lane)
        copy[pixel * inner_ + lane] = row[pixel * rows_.horizontal.stride.in + lane * rows_.inner.stride.in];
  }

  void along() {
    const Range full = axis_.adaptive ? Range{axis_.output, axis_.output} : axis_.full_outputs();
    for (Index output = 0; output < full.begin; ++output) some_taps(output);
    full_windows(full.begin, full.end);
    for (Index output = full.end; output < axis_.output; ++output) some_taps(output);
  }

  /// Windows whose taps are all on the input: the same tap of many outputs at a time.
  void full_windows(Index begin, Index end) {
    if (begin == end) return;
    const Index first = axis_.start(begin) * inner_, shift = axis_.dilation * inner_;
    for (Index tap = 0; tap < axis_.kernel; ++tap) {
      const Index from = first + tap * shift, to = begin * inner_;
      if (axis_.stride == 1)
        one_tap<1>(tap, from, to, (end - begin) * inner_);
      else if (axis_.stride == 2 && inner_ == 1)
        one_tap<2>(tap, from, to, end - begin);
      else
        for (Index output = 0; output < end - begin; ++output)
          one_tap<1>(tap, from + output * axis_.stride * inner_, to + output * inner_, inner_);
    }
  }

  template <Index stride>
  void one_tap(Index number, Index from, Index to, Index count) {
    const T* columns = column_values_ + from;
    const Tap* column_taps = column_taps_ + from;
    T* values = values_ + to;
    Tap* taps = taps_ + to;
    const Tap shift = static_cast<Tap>(number);
    if (number == 0) {
      NDPOOL_INDEPENDENT
      for (Index i = 0; i < count; ++i) {
        values[i] = columns[i * stride];
        taps[i] = column_taps[i * stride];
      }
      return;
    }
    NDPOOL_INDEPENDENT
    for (Index i = 0; i < count; ++i) {
      const T candidate = columns[i * stride];
      const Tap candidate_tap = static_cast<Tap>(column_taps[i * stride] + shift);
      const bool wins = displaces<kind, nan>(candidate, candidate_tap, values[i], taps[i]);
      values[i] = wins ? candidate : values[i];
      taps[i] = wins ? candidate_tap : taps[i];
    }
  }

  /// A window that touches an edge, or a bin: only the taps that are on the input.
  void some_taps(Index output) {
    const Taps taps = axis_.taps(output);
    for (Index lane = 0; lane < inner_; ++lane) {
      const Index at = output * inner_ + lane;
      for (Index r = 0; r < taps.count; ++r) {
        const Index column = (taps.first + r * taps.step) * inner_ + lane;
        const T candidate = column_values_[column];
        const Tap tap = static_cast<Tap>(column_taps_[column] + static_cast<Tap>(taps.first_tap + r));
        if (r > 0 && !displaces<kind, nan>(candidate, tap, values_[at], taps_[at])) continue;
        values_[at] = candidate;
        taps_[at] = tap;
      }
    }
  }

  const Rows& rows_;
  const Axis& axis_;
  const Index inner_;
  const T* in_;
  T *column_values_, *values_;
  Tap *column_taps_, *taps_;
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_WINNERS_INL_H_
