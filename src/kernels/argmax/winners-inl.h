// Per-target code: max and min with their winners. The number of the winning tap rides along the same two passes as the
// value. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_WINNERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_WINNERS_INL_H_
#undef NDPOOL_WINNERS_INL_H_
#else
#define NDPOOL_WINNERS_INL_H_
#endif

#include "kernels/argmax/tall_winners-inl.h"

#include <optional>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// The winners of output rows, strip by strip: the largest of the elements with the bits of `flips` flipped. Tap
/// numbers have the size of the elements, so that both fit the same vectors. Temporary rows have room behind them, so
/// that vectors need not end where a row does.
template <class T, Nan nan>
class RowWinners {
 public:
  using W = Winner<T, nan>;
  using Bits = typename Order<T>::Bits;
  using Tap = typename W::Tap;

  /// `scratch` has `winner_rows_bytes(rows)`, `tall` has `tall_winners_bytes(rows)`.
  RowWinners(const Rows& rows, const T* in, Bits flips, void* scratch, void* tall, Numbering numbering)
      : rows_(rows),
        numbering_(numbering),
        axis_(rows.horizontal.window),
        inner_(rows.inner.extent),
        in_is_packed_(rows.in_is_packed()),
        strip_(strip_outputs(rows)),
        in_(in),
        flips_(flips) {
    char* next = static_cast<char*>(scratch);
    const std::size_t row_bytes = winner_strip_bytes(rows);
    column_values_ = reinterpret_cast<T*>(next);
    column_taps_ = reinterpret_cast<Tap*>(next + row_bytes);
    values_ = reinterpret_cast<T*>(next + 2 * row_bytes);
    taps_ = reinterpret_cast<Tap*>(next + 3 * row_bytes);
    if (TallWinners<T, nan>::fit(rows, numbering)) tall_.emplace(rows, flips, numbering, tall);
  }

  /// Calls use(begin, end, values, taps) for strips of the outputs of a row: output o is at (o - begin) * inner. Bits
  /// of the values are still flipped.
  template <class Use>
  void operator()(const RowCursor& cursor, Use use) {
    for (Index begin = 0; begin < axis_.output; begin += strip_) {
      const Index end = std::min(begin + strip_, axis_.output);
      const Index first = axis_.start(begin);
      const Index columns = axis_.adaptive ? bins_end(end) - first : axis_.span(end - begin);
      across(cursor, first, columns);
      along(begin, end, first);
      use(begin, end, static_cast<const T*>(values_), static_cast<const Tap*>(taps_));
    }
  }

 private:
  Index bins_end(Index end) const {
    const Taps last = axis_.taps(end - 1);
    return last.first + last.count;
  }

  // ---- across ----

  static constexpr int most_rows = 3;  ///< that are combined in one sweep

  void across(const RowCursor& cursor, Index first, Index columns) {
    const Index real_begin = std::max<Index>(first, 0), real_end = std::min(first + columns, axis_.input);
    const Index before = (real_begin - first) * inner_;
    first_column_ = real_begin;
    length_ = (real_end - real_begin) * inner_;
    const Index behind = (first + columns - real_end) * inner_;
    pad(0, before);
    real_values_ = column_values_ + before;
    real_taps_ = column_taps_ + before;
    if (tall_) {
      (*tall_)(in_ + cursor.offset().in, cursor.vertical_position(0), real_begin * inner_, length_, real_values_,
               real_taps_);
      return pad(before + length_, behind + W::lanes);  // after what was written beyond the columns
    }
    pad(before + length_, behind + W::lanes);
    waiting_ = 0;
    is_first_ = true;
    for_each_row(cursor, 0, in_ + cursor.offset().in, 0, [this](const T* row, Index number) {
      row += first_column_ * rows_.horizontal.stride.in;
      waiting_rows_[waiting_] = in_is_packed_ ? row : gather(row);
      waiting_taps_[waiting_++] = static_cast<Tap>(number);
      if (waiting_ == most_rows || !in_is_packed_) sweep();
    });
    if (waiting_ > 0) sweep();
  }

  void pad(Index begin, Index count) {
    std::fill_n(column_values_ + begin, count, Combiner<Combine::max, nan, T>::identity());
    std::fill_n(column_taps_ + begin, count, W::no_tap);
  }

  /// Calls use(row, number) for the input rows of an output row, in row-major order of the vertical taps; `number` is
  /// what they add to that of a winner.
  template <class Use>
  void for_each_row(const RowCursor& cursor, int axis, const T* base, Index number, const Use& use) {
    if (axis == rows_.vertical_count) return use(base, number);
    const PooledAxis& vertical = rows_.vertical[axis];
    const Taps taps = vertical.window.taps(cursor.vertical_position(axis));
    for (Index r = 0; r < taps.count; ++r)
      for_each_row(cursor, axis + 1, base + (taps.first + r * taps.step) * vertical.stride.in,
                   number + (taps.first_tap + r) * number_weight(vertical, numbering_), use);
  }

  /// Copies a row to where the values are later: that place is free until the columns are complete.
  const T* gather(const T* row) {
    for (Index pixel = 0; pixel * inner_ < length_; ++pixel)
      for (Index lane = 0; lane < inner_; ++lane)
        values_[pixel * inner_ + lane] = row[pixel * rows_.horizontal.stride.in + lane * rows_.inner.stride.in];
    return values_;
  }

  void sweep() {
    const int rows = waiting_;
    waiting_ = 0;
    if (rows == 1)
      sweep_rows<1>();
    else if (rows == 2)
      sweep_rows<2>();
    else
      sweep_rows<3>();
    is_first_ = false;
  }

  template <int R>
  HWY_NOINLINE void sweep_rows() {
    const bool is_first = is_first_;
    const Index length = length_;
    const T *one = waiting_rows_[0], *two = waiting_rows_[R > 1 ? 1 : 0], *three = waiting_rows_[R > 2 ? 2 : 0];
    const auto tap = [this](int r) HWY_ATTR { return hn::Set(typename W::DTap(), waiting_taps_[r]); };
    const auto tap_one = tap(0), tap_two = tap(R > 1 ? 1 : 0), tap_three = tap(R > 2 ? 2 : 0);
    T* values = real_values_;
    Tap* taps = real_taps_;
    const auto flips = hn::BitCast(typename W::D(), hn::Set(hn::ScalableTag<Bits>(), flips_));
    const auto load = [flips](const T* from) HWY_ATTR { return hn::Xor(hn::LoadU(typename W::D(), from), flips); };
    const auto at = [&](Index i) HWY_ATTR {
      W winner{load(one + i), tap_one};
      if (!is_first) {
        W before = W::template load<1>(values + i, taps + i);
        before.take_later(winner);
        winner = before;
      }
      if constexpr (R > 1) winner.take_later({load(two + i), tap_two});
      if constexpr (R > 2) winner.take_later({load(three + i), tap_three});
      winner.store(values + i, taps + i);
    };
    if (length >= W::lanes) {
      Index i = 0;
      for (; i + W::lanes <= length; i += W::lanes) at(i);
      if (i < length) at(length - W::lanes);  // winners stay what they are when the same rows come again
      return;
    }
    // A row shorter than a vector: through a copy, since nothing behind it may be read.
    T copies[R][W::lanes] = {};
    std::copy(one, one + length, copies[0]);
    if constexpr (R > 1) std::copy(two, two + length, copies[1]);
    if constexpr (R > 2) std::copy(three, three + length, copies[2]);
    one = copies[0];
    two = copies[R > 1 ? 1 : 0];
    three = copies[R > 2 ? 2 : 0];
    T kept_values[W::lanes];
    Tap kept_taps[W::lanes];
    std::copy_n(values + length, W::lanes, kept_values);
    std::copy_n(taps + length, W::lanes, kept_taps);
    at(0);
    std::copy_n(kept_values, W::lanes, values + length);
    std::copy_n(kept_taps, W::lanes, taps + length);
  }

  // ---- along ----

  void along(Index begin, Index end, Index first) {
    const Index outputs = end - begin;
    if (axis_.adaptive) {
      for (Index output = begin; output < end; ++output) {
        const Taps taps = axis_.taps(output);
        some_taps<1>((taps.first - first) * inner_, (output - begin) * inner_, inner_, taps.count, inner_);
      }
      return;
    }
    Index kernel = axis_.kernel, shift = axis_.dilation * inner_;
    if (kernel > 4) {
      double_up(axis_.span(outputs) * inner_);
      return pick(outputs);
    }
    if (axis_.stride == 1) return some_taps<1>(0, 0, outputs * inner_, kernel, shift);
    if (axis_.stride == 2 && inner_ == 1) return some_taps<2>(0, 0, outputs, kernel, shift);
    for (Index output = 0; output < outputs; ++output)
      some_taps<1>(output * axis_.stride * inner_, output * inner_, inner_, kernel, shift);
  }

  /// Windows of `kernel` taps, `shift` elements apart, from one element on.
  template <Index step>
  HWY_INLINE void some_taps(Index from, Index to, Index count, Index kernel, Index shift) {
    if (kernel == 2)
      taps_of<step, 2>(from, to, count, kernel, shift);
    else if (kernel == 3)
      taps_of<step, 3>(from, to, count, kernel, shift);
    else
      taps_of<step, 0>(from, to, count, kernel, shift);
  }

  /// `K` is the kernel, or 0 for any.
  template <Index step, int K>
  HWY_NOINLINE void taps_of(Index from, Index to, Index count, Index kernel, Index shift) {
    const typename W::DTap d;
    const T* values = column_values_ + from;
    const Tap* taps = column_taps_ + from;
    T* to_values = values_ + to;
    Tap* to_taps = taps_ + to;
    const Index each = number_weight(rows_.horizontal, numbering_);
    const auto one = hn::Set(d, static_cast<Tap>(each)), two = hn::Set(d, static_cast<Tap>(2 * each));
    for (Index i = 0; i < count; i += W::lanes) {
      const T* v = values + i * step;
      const Tap* t = taps + i * step;
      W winner = W::template load<step>(v, t);
      if constexpr (K >= 2) winner.take_any(W::template load<step>(v + shift, t + shift).shifted(one));
      if constexpr (K >= 3) winner.take_any(W::template load<step>(v + 2 * shift, t + 2 * shift).shifted(two));
      if constexpr (K == 0)
        for (Index tap = 1; tap < kernel; ++tap)
          winner.take_any(W::template load<step>(v + tap * shift, t + tap * shift)
                              .shifted(hn::Set(d, static_cast<Tap>(tap * each))));
      winner.store(to_values + i, to_taps + i);
    }
  }

  /// Many taps: windows of 2, 4, 8, ... taps from every column on, and at last two that overlap.
  void double_up(Index total) {
    const Index shift = axis_.dilation * inner_;
    Index size = 1;
    for (; 2 * size <= axis_.kernel; size *= 2) join(size, total -= size * shift);
    if (size < axis_.kernel) join(axis_.kernel - size, total - (axis_.kernel - size) * shift);
  }

  HWY_NOINLINE void join(Index taps, Index count) {
    const Index distance = taps * axis_.dilation * inner_;
    const auto by = hn::Set(typename W::DTap(), static_cast<Tap>(taps * number_weight(rows_.horizontal, numbering_)));
    Index i = 0;
    for (; i + W::lanes <= count; i += W::lanes) {
      W winner = W::template load<1>(column_values_ + i, column_taps_ + i);
      winner.take_any(W::template load<1>(column_values_ + i + distance, column_taps_ + i + distance).shifted(by));
      winner.store(column_values_ + i, column_taps_ + i);
    }
    if (i == count) return;
    // Columns behind the last are still wanted as they are.
    T kept_values[W::lanes];
    Tap kept_taps[W::lanes];
    std::copy_n(column_values_ + count, W::lanes, kept_values);
    std::copy_n(column_taps_ + count, W::lanes, kept_taps);
    W winner = W::template load<1>(column_values_ + i, column_taps_ + i);
    winner.take_any(W::template load<1>(column_values_ + i + distance, column_taps_ + i + distance).shifted(by));
    winner.store(column_values_ + i, column_taps_ + i);
    std::copy_n(kept_values, W::lanes, column_values_ + count);
    std::copy_n(kept_taps, W::lanes, column_taps_ + count);
  }

  /// Every stride-th column is an output.
  void pick(Index outputs) {
    if (axis_.stride == 1) {
      std::copy_n(column_values_, outputs * inner_, values_);
      std::copy_n(column_taps_, outputs * inner_, taps_);
      return;
    }
    for (Index output = 0; output < outputs; ++output)
      for (Index lane = 0; lane < inner_; ++lane) {
        values_[output * inner_ + lane] = column_values_[output * axis_.stride * inner_ + lane];
        taps_[output * inner_ + lane] = column_taps_[output * axis_.stride * inner_ + lane];
      }
  }

  const Rows& rows_;
  const Numbering numbering_;
  const Axis& axis_;
  const Index inner_;
  const bool in_is_packed_;
  const Index strip_;
  const T* in_;
  const Bits flips_;
  T *column_values_, *values_, *real_values_ = nullptr;
  Tap *column_taps_, *taps_, *real_taps_ = nullptr;
  Index first_column_ = 0, length_ = 0;
  const T* waiting_rows_[most_rows];
  Tap waiting_taps_[most_rows];
  int waiting_ = 0;
  bool is_first_ = true;
  std::optional<TallWinners<T, nan>> tall_;
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_WINNERS_INL_H_
