// Per-target code: winners of tall windows, down the rows of a plane. No include guard of the usual kind: see
// rows-inl.h.
//
// Rows are cut into blocks as high as a window. A window is then the end of one block and the beginning of the next,
// and the winners of all ends and of all beginnings take one comparison per row each: three, however high the window
// is.
#if defined(NDPOOL_TALL_WINNERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_TALL_WINNERS_INL_H_
#undef NDPOOL_TALL_WINNERS_INL_H_
#else
#define NDPOOL_TALL_WINNERS_INL_H_
#endif

#include "kernels/argmax/winner_order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// The winners of whole columns of a window, for output rows that come one after the other. Numbers count from the
/// first row of the plane until they are asked for.
template <class T, Nan nan>
class TallWinners {
 public:
  using W = Winner<T, nan>;
  using Tap = typename W::Tap;
  using Bits = typename Order<T>::Bits;

  /// `memory` has `tall_winners_bytes(rows)`, which is 0 if winners are not found this way.
  TallWinners(const Rows& rows, Bits flips, Numbering numbering, void* memory)
      : axis_(rows.vertical[0].window),
        length_(rows.horizontal.window.input * rows.inner.extent),
        pitch_(tall_winners_pitch(rows)),
        row_step_(rows.vertical[0].stride.in),
        weight_(number_weight(rows.vertical[0], numbering)),
        flips_(flips),
        values_(static_cast<T*>(memory)),
        taps_(reinterpret_cast<Tap*>(values_ + (axis_.kernel + 1) * pitch_)) {}

  /// True if numbers of all rows fit their type, and rows a vector.
  static bool fit(const Rows& rows, Numbering numbering) {
    if (tall_winners_bytes(rows) == 0 || sizeof(T) < 4 || !rows.in_is_packed()) return false;
    if (rows.horizontal.window.input * rows.inner.extent < W::lanes) return false;
    const Index rows_in_all = rows.vertical[0].window.input + rows.vertical[0].window.kernel;
    return rows_in_all < (Index{1} << 29) / std::max<Index>(1, number_weight(rows.vertical[0], numbering));
  }

  /// The winners of columns [begin, begin + count) of the window of an output row, in the plane at `plane`.
  void operator()(const T* plane, Index output, Index begin, Index count, T* values, Tap* taps) {
    const Index start = axis_.start(output), first = std::max<Index>(start, 0);
    const Index end = std::min(start + axis_.kernel, axis_.input), block = first / axis_.kernel;
    if (plane != plane_) {
      plane_ = plane;
      ends_block_ = beginning_block_ = -1;
    }
    const Index offset = -start * weight_;
    if (first == block * axis_.kernel) {
      find_beginning(block, end);
      return write(at(axis_.kernel) + begin, none, offset, count, values, taps);
    }
    find_ends(block, first);
    const Index from = at(first - block * axis_.kernel) + begin;
    if (end <= (block + 1) * axis_.kernel) return write(from, none, offset, count, values, taps);
    find_beginning(block + 1, end);
    write(from, at(axis_.kernel) + begin, offset, count, values, taps);
  }

 private:
  static constexpr Index none = -1;
  /// Where the winners from a row of a block to its end are; those of the beginning of the next come last.
  Index at(Index row) const { return row * pitch_; }

  W load_row(const T* from, Index number) const {
    const auto flips = hn::BitCast(typename W::D(), hn::Set(hn::ScalableTag<Bits>(), flips_));
    return {hn::Xor(hn::LoadU(typename W::D(), from), flips),
            hn::Set(typename W::DTap(), static_cast<Tap>(number * weight_))};
  }

  /// Calls f(element) for vectors of a row; the last may come again, in part.
  template <class F>
  static HWY_INLINE void for_each_vector(Index count, const F& f) {
    for (Index i = 0; i < count; i += W::lanes) f(std::min(i, count - W::lanes));
  }

  /// From every row of a block on, from the last to a given one.
  void find_ends(Index block, Index first) {
    if (block == ends_block_ && first >= ends_first_) return;
    const Index begin = block * axis_.kernel, end = std::min(begin + axis_.kernel, axis_.input);
    for (Index row = end - 1; row >= first; --row) find_end(row, row - begin, row + 1 == end);
    ends_block_ = block;
    ends_first_ = first;
  }
  HWY_NOINLINE void find_end(Index number, Index slot, bool is_last) {
    const T* row = plane_ + number * row_step_;
    T* const values = values_ + at(slot);
    Tap* const taps = taps_ + at(slot);
    const Index pitch = pitch_;
    const W tap = load_row(row, number);
    for_each_vector(length_, [&](Index i) HWY_ATTR {
      W winner{load_row(row + i, number).value, tap.tap};
      if (!is_last) winner.take_later(W::template load<1>(values + pitch + i, taps + pitch + i));
      winner.store(values + i, taps + i);
    });
  }

  /// The rows of a block before one.
  void find_beginning(Index block, Index end) {
    if (block != beginning_block_ || end < beginning_end_) {
      beginning_block_ = block;
      beginning_end_ = block * axis_.kernel;
    }
    for (; beginning_end_ < end; ++beginning_end_)
      add_to_beginning(beginning_end_, beginning_end_ == block * axis_.kernel);
  }
  HWY_NOINLINE void add_to_beginning(Index number, bool is_first) {
    const T* row = plane_ + number * row_step_;
    T* const values = values_ + at(axis_.kernel);
    Tap* const taps = taps_ + at(axis_.kernel);
    const W tap = load_row(row, number);
    // Winners stay what they are when the same row comes again.
    for_each_vector(length_, [&](Index i) HWY_ATTR {
      W winner{load_row(row + i, number).value, tap.tap};
      if (!is_first) {
        W before = W::template load<1>(values + i, taps + i);
        before.take_later(winner);
        winner = before;
      }
      winner.store(values + i, taps + i);
    });
  }

  /// Winners of an end and of a beginning, if there are both. There is room for a vector behind what is written.
  HWY_NOINLINE void write(Index end, Index beginning, Index offset, Index count, T* values, Tap* taps) const {
    const auto by = hn::Set(typename W::DTap(), static_cast<Tap>(offset));
    const T* const from = values_;
    const Tap* const from_taps = taps_;
    for (Index i = 0; i < count; i += W::lanes) {
      W winner = W::template load<1>(from + end + i, from_taps + end + i);
      if (beginning >= 0) winner.take_later(W::template load<1>(from + beginning + i, from_taps + beginning + i));
      winner.shifted(by).store(values + i, taps + i);
    }
  }

  const Axis& axis_;
  const Index length_, pitch_, row_step_, weight_;
  const Bits flips_;
  T* const values_;
  Tap* const taps_;
  const T* plane_ = nullptr;
  Index ends_block_ = -1, ends_first_ = 0;          ///< whose ends are known, from which row on
  Index beginning_block_ = -1, beginning_end_ = 0;  ///< whose beginning is known, to which row
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_TALL_WINNERS_INL_H_
