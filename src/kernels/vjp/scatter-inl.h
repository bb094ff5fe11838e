// Per-target code: the VJP of max and min by indices, gradient by gradient, in planes that lie in memory as they are
// counted. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_SCATTER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_SCATTER_INL_H_
#undef NDPOOL_SCATTER_INL_H_
#else
#define NDPOOL_SCATTER_INL_H_
#endif

#include "kernels/vjp/index_check-inl.h"
#include "kernels/forward/planes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// True if flat indices count the pixels of a plane as they lie in memory, and outputs follow one another.
inline bool is_plain_scatter(const Rows& rows) {
  bool plain = tangent_in_is_packed(rows) && tangent_out_is_packed(rows) && rows.out_is_packed();
  for (int v = 0; v < rows.vertical_count; ++v)
    plain = plain && rows.vertical[v].stride.tangent_in == rows.vertical[v].cell_stride * rows.inner.extent;
  return plain;
}

/// Adds gradients up in one plane that lies in memory as it is counted. Cells are zeroed only as far as gradients have
/// come, so that they are still in the cache when one is added.
template <class T>
class PlainScatter {
 public:
  PlainScatter(const Rows& rows, T* plane)
      : lanes_(rows.inner.extent),
        pixels_(input_rows_per_plane(rows) * rows.horizontal.window.input),
        is_small_(pixels_ * lanes_ * static_cast<Index>(sizeof(T)) <= few_bytes),
        plane_(plane) {}
  ~PlainScatter() { zero_to(pixels_); }

  /// Outputs that follow one another, by flat indices.
  void add(const Index* indices, const T* gy, Index outputs) {
    const Index some = std::max<Index>(1, few_outputs / lanes_);
    for (Index begin = 0; begin < outputs; begin += some)
      add_some(indices + begin * lanes_, gy + begin * lanes_, std::min(some, outputs - begin));
  }

  /// Rows of outputs without lanes, by tap numbers: how many, where their windows begin, and how far apart they are.
  struct TapRows {
    Index count, outputs;
    Index taps_step = 0, gy_step = 0;
    Index first, step, row_step = 0;  ///< of windows, in cells of the plane
    Index end;                        ///< the first row reaches no cell from here on
    Index last_end;                   ///< nor does any
  };
  template <class Tap>
  HWY_NOINLINE void add(const Tap* taps, const T* gy, const TapRows& rows, const Index* offsets) {
    const Index outputs = rows.outputs, step = rows.step;
    for (Index row = 0; row < rows.count; ++row, taps += rows.taps_step, gy += rows.gy_step) {
      zero_to(is_small_ ? pixels_ : std::min(rows.end + row * rows.row_step, rows.last_end));
      T* window = plane_ + rows.first + row * rows.row_step;
      for (Index i = 0; i < outputs; ++i, window += step)
        if (taps[i] != no_index<Tap>) window[offsets[taps[i]]] += gy[i];
    }
  }

 private:
  /// What is zeroed at once, and what is looked at together: no more than a first-level cache holds well.
  static constexpr Index few_bytes = 8192, few_outputs = 512;

  HWY_NOINLINE void add_some(const Index* indices, const T* gy, Index outputs) {
    zero_for(indices, outputs * lanes_);
    T* const plane = plane_;
    if (lanes_ == 1) {
      for (Index i = 0; i < outputs; ++i)
        if (indices[i] >= 0) plane[indices[i]] += gy[i];
      return;
    }
    const Index lanes = lanes_;
    for (Index output = 0; output < outputs; ++output, indices += lanes, gy += lanes)
      for (Index lane = 0; lane < lanes; ++lane)
        if (indices[lane] >= 0) plane[indices[lane] * lanes + lane] += gy[lane];
  }

  void zero_for(const Index* indices, Index count) {
    if (is_small_) return zero_to(pixels_);
    if (zeroed_ == pixels_) return;
    zero_to(std::min(pixels_, largest(indices, count) + 1));
  }
  /// The largest index, or at least 0: of indices that fit 31 bits, the larger halves are 0 or -1.
  Index largest(const Index* indices, Index count) const {
    Index last = 0, i = 0;
#if HWY_TARGET != HWY_SCALAR
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::ScalableTag<Index> d;
    const hn::Repartition<std::int32_t, decltype(d)> halves;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    if (pixels_ <= Index{0x7FFFFFFF}) {
      auto even = hn::Zero(halves), odd = even;
      for (; i + 2 * lanes <= count; i += 2 * lanes) {
        even = hn::Max(even, hn::BitCast(halves, hn::LoadU(d, indices + i)));
        odd = hn::Max(odd, hn::BitCast(halves, hn::LoadU(d, indices + i + lanes)));
      }
      last = hn::GetLane(hn::MaxOfLanes(halves, hn::Max(even, odd)));
    }
#endif
    for (; i < count; ++i) last = std::max(last, indices[i]);
    return last;
  }
  void zero_to(Index end) {
    if (end <= zeroed_) return;
    std::fill(plane_ + zeroed_ * lanes_, plane_ + end * lanes_, T(0));
    zeroed_ = end;
  }

  const Index lanes_, pixels_;
  const bool is_small_;
  T* const plane_;
  Index zeroed_ = 0;
};

/// Scatters the planes of a job whose cells and outputs lie plainly.
template <class T, class I>
class PlainPlanes {
 public:
  explicit PlainPlanes(const IndexJob& job)
      : job_(job), rows_(job.rows), axis_(rows_.horizontal.window), offsets_(static_cast<Index*>(job.scratch)) {
    if constexpr (std::is_unsigned_v<I>)
      TapOffsets(rows_, offsets_, weight);
    else if (rows_follow(rows_, &Strides::out) && rows_follow(rows_, &Strides::tangent_out))
      together_ = rows_.rows_per_plane;
    if (std::is_unsigned_v<I> && rows_.vertical_count > 0)
      together_ = rows_.vertical[rows_.vertical_count - 1].window.output;
  }

  void operator()(Index first_row, Index last_row) const {
    RowCursor plane(rows_, first_row);
    for (Index row = first_row; row < last_row; row += rows_.rows_per_plane, plane.next_loop()) {
      PlainScatter<T> scatter(rows_, static_cast<T*>(job_.like_in) + plane.offset().tangent_in);
      for (Index in_plane = 0; in_plane < rows_.rows_per_plane; in_plane += together_)
        add_rows(RowCursor(rows_, row + in_plane), scatter);
    }
  }

 private:
  static Index weight(const PooledAxis& axis) { return axis.cell_stride; }

  void add_rows(const RowCursor& cursor, PlainScatter<T>& scatter) const {
    const I* indices = static_cast<const I*>(job_.indices) + cursor.offset().out;
    const T* gy = static_cast<const T*>(job_.like_out) + cursor.offset().tangent_out;
    if constexpr (std::is_signed_v<I>) {
      scatter.add(indices, gy, together_ * axis_.output);
    } else {
      typename PlainScatter<T>::TapRows some{.count = together_,
                                             .outputs = axis_.output,
                                             .first = window_start(rows_, cursor, weight) + axis_.start(0),
                                             .step = axis_.stride,
                                             .end = axis_.input,
                                             .last_end = axis_.input};
      for (int v = 0; v < rows_.vertical_count; ++v) {
        const PooledAxis& vertical = rows_.vertical[v];
        const Axis& window = vertical.window;
        const Index last = window.start(cursor.vertical_position(v)) + window.span(1) - 1;
        const bool is_last_axis = v + 1 == rows_.vertical_count;
        some.end += (is_last_axis ? last : std::min(last, window.input - 1)) * vertical.cell_stride;
        some.last_end += (is_last_axis ? window.input - 1 : std::min(last, window.input - 1)) * vertical.cell_stride;
        if (!is_last_axis) continue;
        some.taps_step = vertical.stride.out;
        some.gy_step = vertical.stride.tangent_out;
        some.row_step = window.stride * vertical.cell_stride;
      }
      scatter.add(indices, gy, some, offsets_);
    }
  }

  const IndexJob& job_;
  const Rows& rows_;
  const Axis& axis_;
  Index* offsets_;
  Index together_ = 1;  ///< rows that are added together
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_SCATTER_INL_H_
