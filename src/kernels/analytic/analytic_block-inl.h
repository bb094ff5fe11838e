// Per-target code: where smooth max and Lp stand: some output rows and columns, the cells that these see, and rows of
// scratch. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_ANALYTIC_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ANALYTIC_BLOCK_INL_H_
#undef NDPOOL_ANALYTIC_BLOCK_INL_H_
#else
#define NDPOOL_ANALYTIC_BLOCK_INL_H_
#endif

#include "kernels/analytic/analytic.hpp"
#include "kernels/forward/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// out[i] = f(in[i] ...), vector by vector. The last vector is made of the last elements, some of them again; where
/// that would read what was written, and where there are too few, it is filled up with copies.
template <class N, class F, class... In>
HWY_INLINE void transform(Index count, N* out, const F& f, const In*... in) {
  const hn::ScalableTag<N> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(hn::LoadU(d, in + i)...), d, out + i);
  if (i == count) return;
  if (i > 0 && ((in != out) && ...)) {
    i = count - lanes;
    hn::StoreU(f(hn::LoadU(d, in + i)...), d, out + i);
    return;
  }
  const auto rest = [&](const N* from) HWY_ATTR {
    HWY_ALIGN N all[hn::MaxLanes(d)];
    for (Index lane = 0; lane < lanes; ++lane) all[lane] = from[i + lane < count ? i + lane : i];
    return hn::Load(d, all);
  };
  HWY_ALIGN N results[hn::MaxLanes(d)];
  hn::Store(f(rest(in)...), d, results);
  std::copy(results, results + (count - i), out + i);
}

/// A mask that is true everywhere.
template <class D>
HWY_INLINE hn::Mask<D> all_lanes() {
  const hn::RebindToUnsigned<D> du;
  return hn::MaskFromVec(hn::BitCast(D(), hn::Set(du, hn::TFromD<decltype(du)>(-1))));
}

/// The block at hand. The members are for reading.
template <class N>
class AnalyticBlock {
 public:
  AnalyticBlock(const Rows& of_rows, Index first_row, Index last_row, void* scratch)
      : rows(of_rows),
        axis(of_rows.horizontal.window),
        inner(of_rows.inner.extent),
        blocks(analytic_blocks(of_rows)),
        outer_axes(std::max(0, of_rows.vertical_count - 1)),
        cursor(of_rows, first_row),
        first_row_(first_row),
        last_row_(last_row),
        pitch_(((blocks.row_bytes - 128) * sizeof(N) / 8 + 63) / 64 * 64 + 128) {
    if (rows.vertical_count > 0)
      last = rows.vertical[outer_axes];
    else
      last.window = batch_axis(1);
    char* memory = static_cast<char*>(scratch);
    const auto take = [&](Index row_count) {
      char* start = memory;
      memory += static_cast<std::size_t>(row_count) * blocks.row_bytes;
      return start;
    };
    kept_ = take(blocks.kept_rows);
    exponents_ = take(blocks.kept_rows);
    sums_ = take(blocks.rows);
    spare_ = take(blocks.spare_rows);
    rest_of_scratch = memory;
  }

  /// Calls use() for each block, once.
  template <class Use>
  void for_each(const Use& use) {
    for (Index row = first_row_; row < last_row_;) {
      first = rows.vertical_count > 0 ? cursor.vertical_position(outer_axes) : 0;
      count = std::min({blocks.rows, last_row_ - row, last.window.output - first});
      for (begin = 0; begin < axis.output; begin += blocks.strip) {
        end = std::min(begin + blocks.strip, axis.output);
        find_cells();
        use();
      }
      row += count;
      for (Index i = 0; i < count; ++i) cursor.next();
    }
  }

  Index outputs() const { return (end - begin) * inner; }
  Index length() const { return pixels * inner; }  ///< of a row with its padding
  /// Of all rows of outputs, with what is between them.
  Index all_outputs() const { return (count - 1) * blocks.sums_row + outputs(); }
  Index real_length() const { return real_pixels * inner; }
  N* real_part(N* row) const { return row + (real_column - first_column) * inner; }

  // ---- rows of scratch ----

  /// The rows of the windows, numbered from the first tap of the first one on, and exponents for them.
  N* kept(Index number) const { return reinterpret_cast<N*>(kept_) + number * blocks.row; }
  N* exponents(Index number) const { return reinterpret_cast<N*>(exponents_) + number * blocks.row; }
  N* kept_cell(Index cell) const { return kept(cell - top); }
  Index kept_rows() const { return last.window.span(count); }
  N* sums(Index j) const { return reinterpret_cast<N*>(sums_) + j * blocks.sums_row; }

  N* spare() { return row_at(spare_, used_++); }
  /// Gives back at the end of its life what was taken since its begin.
  class Borrowing {
   public:
    explicit Borrowing(AnalyticBlock& block) : block_(block), used_(block.used_) {}
    Borrowing(const Borrowing&) = delete;
    Borrowing& operator=(const Borrowing&) = delete;
    ~Borrowing() { block_.used_ = used_; }

   private:
    AnalyticBlock& block_;
    const int used_;
  };

  // ---- rows of the arrays ----

  /// Where the rows of a cell of the last vertical axis begin.
  Strides at_cell(Index cell) const { return moved(cursor.offset(), last, cell); }
  static Strides moved(Strides at, const PooledAxis& along, Index cell) {
    at.in += cell * along.stride.in;
    at.tangent_in += cell * along.stride.tangent_in;
    return at;
  }
  bool is_seen(Index cell) const {
    return last.window.adaptive || last.window.kernel >= last.window.stride ||
           last.window.outputs_seeing(cell).count > 0;
  }
  /// True if all cells that the windows of the block see lie as rows are kept.
  bool cells_follow_one_another() const {
    return outer_axes == 0 && is_packed(&Strides::in) && real_pixels * inner == blocks.row &&
           (last_cell - first_cell == 1 || last.stride.in == blocks.row) && last.window.kernel >= last.window.stride;
  }
  /// Calls f(offsets) for every input row that the block may see at a cell of the last vertical axis: the loops over
  /// the outer axes.
  template <class F>
  void for_each_row(Index cell, const F& f) const {
    for_each_outer_row(outer_axes - 1, at_cell(cell), f);
  }

  bool is_packed(Index Strides::*array) const {
    return rows.horizontal.stride.*array == inner && (inner == 1 || rows.inner.stride.*array == 1);
  }
  /// The real columns of an input row, packed: in place if they can be read so.
  const N* load_in(const void* array, Index Strides::*which, const Strides& at, N* copy) const {
    return load(array, which, at.*which, real_column, real_pixels, copy);
  }
  const N* load(const void* array, Index Strides::*which, Index offset, Index first_pixel, Index count_of_pixels,
                N* copy) const {
    const Index column_stride = rows.horizontal.stride.*which, lane_stride = rows.inner.stride.*which;
    const N* from = static_cast<const N*>(array) + offset + first_pixel * column_stride;
    if (is_packed(which)) return from;
    for (Index pixel = 0; pixel < count_of_pixels; ++pixel)
      for (Index lane = 0; lane < inner; ++lane)
        copy[pixel * inner + lane] = from[pixel * column_stride + lane * lane_stride];
    return copy;
  }
  /// Brings packed pixels to where they belong.
  void store(const N* packed, void* array, Index Strides::*which, Index offset, Index first_pixel,
             Index count_of_pixels) const {
    const Index column_stride = rows.horizontal.stride.*which, lane_stride = rows.inner.stride.*which;
    N* to = static_cast<N*>(array) + offset + first_pixel * column_stride;
    for (Index pixel = 0; pixel < count_of_pixels; ++pixel)
      for (Index lane = 0; lane < inner; ++lane)
        to[pixel * column_stride + lane * lane_stride] = packed[pixel * inner + lane];
  }

  /// Where output row j of an array begins.
  Index output_offset(Index Strides::*which, Index j) const { return cursor.offset().*which + j * last.stride.*which; }
  /// Calls finish(out) for the results of output row j, packed, and brings them there.
  template <class Finish>
  void write_row(void* array, Index Strides::*which, Index j, const Finish& finish) {
    const Index offset = output_offset(which, j);
    if (is_packed(which)) return finish(static_cast<N*>(array) + offset + begin * inner);
    const Borrowing borrowing(*this);
    N* packed = spare();
    finish(packed);
    store(packed, array, which, offset, begin, end - begin);
  }

  const Rows& rows;
  const Axis& axis;
  const Index inner;
  const AnalyticBlocks blocks;
  const int outer_axes;   ///< vertical axes before the last
  PooledAxis last;        ///< the last vertical axis, or one of a single cell
  char* rest_of_scratch;  ///< for the pass along rows

  RowCursor cursor;                        ///< at the first row
  Index first = 0, count = 0;              ///< output rows
  Index begin = 0, end = 0;                ///< outputs
  Index first_cell = 0, last_cell = 0;     ///< input rows, on the last vertical axis
  Index top = 0;                           ///< the row under the first tap, which may be padding
  Index first_column = 0, pixels = 0;      ///< columns with padding, and
  Index real_column = 0, real_pixels = 0;  ///< those of the input

 private:
  N* row_at(char* first_of_rows, Index number) const {
    return reinterpret_cast<N*>(first_of_rows + static_cast<std::size_t>(number) * pitch_);
  }

  /// The rows and columns that the windows of the block see. Rows of columns have their padding, too.
  void find_cells() {
    if (last.window.adaptive) {
      const Taps first_bin = last.window.taps(first), last_bin = last.window.taps(first + count - 1);
      top = first_cell = first_bin.first;
      last_cell = last_bin.first + last_bin.count;
    } else {
      top = last.window.start(first);
      first_cell = std::max<Index>(top, 0);
      last_cell = std::min(top + last.window.span(count), last.window.input);
    }
    first_column = axis.adaptive ? 0 : axis.start(begin);
    pixels = axis.adaptive ? axis.input : axis.span(end - begin);
    real_column = std::max<Index>(first_column, 0);
    real_pixels = std::min(first_column + pixels, axis.input) - real_column;
  }

  template <class F>
  void for_each_outer_row(int outer_axis, const Strides& at, const F& f) const {
    if (outer_axis < 0) return f(at);
    const PooledAxis& outer = rows.vertical[outer_axis];
    const Taps taps = outer.window.taps(cursor.vertical_position(outer_axis));
    for (Index r = 0; r < taps.count; ++r)
      for_each_outer_row(outer_axis - 1, moved(at, outer, taps.first + r * taps.step), f);
  }

  const Index first_row_, last_row_;
  const std::size_t pitch_;  ///< bytes from row to row: the blocks have room for the longest numbers
  char *kept_, *exponents_, *sums_, *spare_;
  int used_ = 0;
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ANALYTIC_BLOCK_INL_H_
