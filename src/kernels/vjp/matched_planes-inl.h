// Per-target code: the VJP of max and min from tap numbers, cell by cell: whole planes. No include guard of the usual
// kind: see rows-inl.h.
//
// Lanes of a cell are seen alike: by outputs at the same distances, under the same taps. So are cells of a row that are
// a multiple of the stride apart. So whole vectors are made at once, and each cell is written once, zeros included.
#if defined(NDPOOL_MATCHED_PLANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_MATCHED_PLANES_INL_H_
#undef NDPOOL_MATCHED_PLANES_INL_H_
#else
#define NDPOOL_MATCHED_PLANES_INL_H_
#endif

#include "kernels/vjp/matches-inl.h"
#include "kernels/forward/planes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Makes whole planes of gx.
///
/// Gradients and taps are first copied, a band of rows at a time, with taps that match nothing all around. So all cells
/// of a class are alike.
template <class T>
class MatchedPlanes {
 public:
  using Name = TapName<T>;

  /// True if planes may be made this way, and sooner than by a scatter. The object must agree.
  static bool may_make(const Rows& rows) {
    const Axis& axis = rows.horizontal.window;
    const Index lanes = rows.inner.extent;
    if (match_row_bytes(rows) == 0 || !SightClasses::fit(axis)) return false;
    // Vectors are made of lanes behind the axis, or along it. There every tap takes time, which a scatter does not.
    if (lanes == 1 && (axis.stride > 2 || axis.input < Matches<T>::lanes || rows.tap_count > most_taps)) return false;
    if (lanes > 1 && lanes < 4 && axis.stride > 1) return false;
    Index sights = SightClasses::largest(axis);
    for (int v = 0; v < rows.vertical_count; ++v) {
      if (!SightClasses::fit(rows.vertical[v].window)) return false;
      sights *= SightClasses::largest(rows.vertical[v].window);
      if (sights > most_sights) return false;
    }
    return true;
  }
  explicit operator bool() const { return layout_.band_steps > 0; }

  /// `scratch` has room for a row of cells and for a band.
  MatchedPlanes(const Rows& rows, T* gx, void* scratch, bool stream)
      : rows_(rows),
        axis_(rows.horizontal.window),
        inner_(rows.inner.extent),
        layout_(rows),
        gx_(gx),
        row_(static_cast<T*>(scratch)),
        band_gy_(reinterpret_cast<T*>(static_cast<char*>(scratch) + match_row_bytes(rows))),
        band_names_(reinterpret_cast<Name*>(band_gy_ + layout_.elements)),
        packed_(tangent_in_is_packed(rows)),
        stream_(stream) {
    if (layout_.band_steps <= 0 || rows.vertical_count != 1) return;
    const PooledAxis& vertical = rows.vertical[0];
    for (Index c = 0; c < vertical.window.stride; ++c)
      combine_with_row(product(from_nowhere(), layout_.across[0].of[c], layout_.pitch[0], layout_.across[0].nearest,
                               vertical.tap_stride),
                       lists_[c]);
    const auto sees = [&](int near) { return sees_fours(lists_, near, layout_.pitch[0]); };
    only_fours_ = makes_fours(vertical) && vertical.window.input % 2 == 0 && (sees(0) || sees(1));
  }

  /// The gradients of a plane where they lie, and how many elements of the array are before and behind its first.
  struct Gradients {
    const T* at = nullptr;
    Index before = 0, behind = 0;
  };

  /// Brings some outputs of rows that follow one another, from the given vertical positions on, to rows a pitch apart.
  /// Only their names if `gy` is null. Not a template of planes, which would be compiled for every kind of index.
  struct Load {
    void* context;
    void (*rows)(void* context, const Index* positions, Index rows, Index first, Index outputs, T* gy, Name* names,
                 Index pitch);
  };

  /// The plane at an offset in gx. Where gradients can be read where they lie, also beyond the plane, only names are
  /// asked for.
  void make(Index plane, const Load& load, const Gradients& gy) {
    const Index steps = rows_.vertical_count > 0 ? layout_.across[0].steps : 1;
    gy_ = can_read(gy) ? gy.at : nullptr;
    for (Index begin = 0; begin < steps; begin += layout_.band_steps) {
      const Index end = std::min(begin + layout_.band_steps, steps);
      Index positions[max_rank + 1] = {};
      load_rows(0, begin, end, 0, true, positions, load);
      make_steps(plane, begin, end);
    }
  }

 private:
  static constexpr Index most_taps = 4 * Matches<T>::lanes;

  /// How a band lies in scratch.
  struct Layout {
    explicit Layout(const Rows& rows) {
      along.find(rows.horizontal.window);
      Index size = 0;
      if (__builtin_mul_overflow(along.steps + along.span, rows.inner.extent, &size)) return;
      for (int v = rows.vertical_count - 1; v >= 0; --v) {
        pitch[v] = size;
        across[v].find(rows.vertical[v].window);
        if (v > 0 && __builtin_mul_overflow(size, across[v].steps + across[v].span, &size)) return;
      }
      constexpr Index beyond = 64;  // what vectors may read
      constexpr auto each = static_cast<Index>(sizeof(T) + sizeof(Name));
      constexpr Index room = static_cast<Index>(match_band_bytes) / each - beyond;
      if (rows.vertical_count == 0) {
        band_steps = size <= room ? 1 : 0;
        elements = size + beyond;
        return;
      }
      // A band is to stay in the first-level cache, but rows that are loaded for two bands are to be few.
      constexpr Index few = (Index{16} << 10) / each;
      const Index loaded = std::min(room / size, std::max(few / size, 4 * across[0].span + 4));
      band_steps = loaded - across[0].span;
      elements = loaded * size + beyond;
    }
    SightClasses along;
    PerAxis<SightClasses> across;
    Index pitch[max_rank + 1] = {};
    Index band_steps = 0;
    Index elements = 0;  ///< of gradients, before the names
  };

  void load_rows(int axis, Index begin, Index end, Index base, bool exists, Index* positions, const Load& load) {
    if (axis == rows_.vertical_count) return load_some(1, exists ? 1 : 0, 0, base, positions, load);
    const SightClasses& across = layout_.across[axis];
    const Index rows = end - begin + across.span, first = begin + across.nearest;
    const Index outputs = rows_.vertical[axis].window.output;
    if (axis + 1 == rows_.vertical_count) {
      const Index before = std::clamp<Index>(-first, 0, rows);
      positions[axis] = first + before;
      const Index there = exists ? std::clamp<Index>(outputs - positions[axis], 0, rows - before) : 0;
      return load_some(rows, there, before, base, positions, load);
    }
    for (Index i = 0; i < rows; ++i) {
      positions[axis] = first + i;
      const bool is_output = positions[axis] >= 0 && positions[axis] < outputs;
      load_rows(axis + 1, 0, layout_.across[axis + 1].steps, base + i * layout_.pitch[axis], exists && is_output,
                positions, load);
    }
  }
  /// More names than these may be lost, which are those of rows that are loaded later, or of none.
  static HWY_INLINE void name_none(Name* names, Index count) {
    constexpr Index some = 16;
    for (Index i = 0; i < count; i += some) std::fill_n(names + i, some, Name{no_name});
  }
  /// Rows that follow one another; `there` of them exist, behind some that do not.
  void load_some(Index rows, Index there, Index before, Index base, const Index* positions, const Load& load) {
    const Index pitch = rows_.vertical_count > 0 ? layout_.pitch[rows_.vertical_count - 1] : 0;
    const Index width = layout_.along.steps + layout_.along.span;
    const Index first = std::clamp<Index>(-layout_.along.nearest, 0, width);
    const Index last = std::clamp<Index>(axis_.output - layout_.along.nearest, first, width);
    for (Index row = 0; row < rows; ++row) {
      Name* const names = band_names_ + base + row * pitch;
      const bool is_there = row >= before && row < before + there;
      name_none(names, (is_there ? first : width) * inner_);
      if (is_there) name_none(names + last * inner_, (width - last) * inner_);
    }
    const Index at = base + before * pitch + first * inner_;
    if (there > 0 && first < last)
      load.rows(load.context, positions, there, first + layout_.along.nearest, last - first,
                gy_ == nullptr ? band_gy_ + at : nullptr, band_names_ + at, pitch);
  }

  /// Where no axis has been looked at.
  static Sights from_nowhere() {
    Sights none;
    none.count = 1;
    none.of[0] = {0, 0};
    return none;
  }

  void make_steps(Index plane, Index begin, Index end) {
    if (rows_.vertical_count > 0) return rows_below(0, from_nowhere(), begin, end, 0, plane);
    Sights lists[SightClasses::most];
    combine_with_row(from_nowhere(), lists);
    make_rows(lists, 0, plane, {});
  }

  /// Walks over the input rows under some steps of an axis, with the output rows that see each of them.
  void rows_below(int axis, const Sights& above, Index begin, Index end, Index base, Index offset) {
    const PooledAxis& vertical = rows_.vertical[axis];
    const SightClasses& across = layout_.across[axis];
    const bool is_last = axis + 1 == rows_.vertical_count;
    Sights here[SightClasses::most];
    for (Index c = 0; c < vertical.window.stride && rows_.vertical_count > 1; ++c) {
      here[c] = product(above, across.of[c], layout_.pitch[axis], across.nearest, vertical.tap_stride);
      if (is_last) combine_with_row(here[c], lists_[c]);
    }
    const Index stride = vertical.window.stride, last = std::min(end * stride, vertical.window.input);
    if (is_last) {
      const Index made = make_fours(vertical, begin, last, base, offset);
      for (Index c = 0; c < stride; ++c)
        if (const Index first = made + c; first < last)
          make_rows(lists_[c], base + (made / stride - begin) * layout_.pitch[axis],
                    offset + first * vertical.stride.tangent_in,
                    {(last - first - 1) / stride + 1, stride * vertical.stride.tangent_in, layout_.pitch[axis]});
      return;
    }
    for (Index cell = begin * stride; cell < last; ++cell)
      rows_below(axis + 1, here[cell % stride], 0, layout_.across[axis + 1].steps,
                 base + (cell / stride - begin) * layout_.pitch[axis], offset + cell * vertical.stride.tangent_in);
  }

  /// True if no row is made by itself, and all that is read with the names of no output is in the array.
  bool can_read(const Gradients& gy) const {
    if (gy.at == nullptr || !only_fours_) return false;
    const SightClasses &across = layout_.across[0], &along = layout_.along;
    const Index pitch = rows_.vertical[0].stride.tangent_out;
    const Index first = across.nearest * pitch + along.nearest;
    const Index last = (across.steps + across.span + across.nearest) * pitch + along.steps + along.span;
    return -first <= gy.before && last + 2 * Matches<T>::lanes <= gy.behind;
  }
  bool makes_fours(const PooledAxis& vertical) const {
    return vertical.window.stride == 2 && axis_.stride == 2 && inner_ == 1 && packed_;
  }

  /// Input rows from a step on, two by two, where windows are those of `Matches::make_fours`. Answers the first that is
  /// not made.
  Index make_fours(const PooledAxis& vertical, Index begin, Index last, Index base, Index offset) const {
    const Index first = begin * vertical.window.stride;
    if (!makes_fours(vertical) || last - first < 2) return first;
    const Index pitch = vertical.stride.tangent_in, band_pitch = layout_.pitch[rows_.vertical_count - 1];
    T* to = gx_ + offset + first * pitch;
    Run run{(last - first) / 2, 2 * pitch, band_pitch, band_pitch};
    run.streams = stream_ && pitch % Matches<T>::lanes == 0 && Matches<T>::can_stream(to, axis_.input, run);
    const T* gy = band_gy_ + base;
    if (gy_ != nullptr) {
      run.gradients = vertical.stride.tangent_out;
      gy = gy_ + (begin + layout_.across[0].nearest) * run.gradients + layout_.along.nearest;
    }
    const Matches<T> matches(gy, band_names_ + base);
    return matches.make_fours(lists_, to, pitch, axis_.input, run) ? first + 2 * run.count : first;
  }

  void combine_with_row(const Sights& output_rows, Sights* lists) const {
    for (Index c = 0; c < axis_.stride; ++c)
      lists[c] = product(output_rows, layout_.along.of[c], inner_, layout_.along.nearest, 1);
  }

  using Run = typename Matches<T>::Run;

  /// Input rows that are seen alike; `lists` has the sights of the classes along them.
  void make_rows(const Sights* lists, Index base, Index offset, Run run) {
    T* to = gx_ + offset;
    const Index length = axis_.input * inner_;
    run.streams = stream_ && packed_ && makes_whole_rows() && Matches<T>::can_stream(to, length, run);
    const auto lies_fine = [&](Index by) { return reinterpret_cast<std::uintptr_t>(to + by) % 32 == 0; };
    const bool copies = stream_ && packed_ && !run.streams && lies_fine(0) && lies_fine(run.cells);
    if (packed_ && !copies) return make_cells(lists, base, to, run);
    for (Index row = 0; row < run.count; ++row, to += run.cells) {
      make_cells(lists, base + row * run.outputs, row_, {});
      if (copies) {
        copy_streaming(row_, to, length);
        continue;
      }
      for (Index pixel = 0; pixel < axis_.input; ++pixel)
        for (Index lane = 0; lane < inner_; ++lane)
          to[pixel * rows_.horizontal.stride.tangent_in + lane * rows_.inner.stride.tangent_in] =
              row_[pixel * inner_ + lane];
    }
  }

  /// The cells of a row are made together, not lanes by lanes.
  bool makes_whole_rows() const { return axis_.stride == 1 || inner_ == 1; }

  void make_cells(const Sights* lists, Index base, T* cells, const Run& run) const {
    const Index length = axis_.input * inner_;
    const auto matches = [&](Index by) { return Matches<T>(band_gy_ + base + by, band_names_ + base + by); };
    if (axis_.stride == 1) return matches(0).make(lists[0], cells, length, run);
    if (inner_ == 1) return matches(0).make_pairs(lists[0], lists[1], cells, length, run);
    for (Index row = 0; row < run.count; ++row)
      for (Index pixel = 0; pixel < axis_.input; ++pixel)
        matches(row * run.outputs + pixel / axis_.stride * inner_)
            .make(lists[pixel % axis_.stride], cells + row * run.cells + pixel * inner_, inner_, {});
  }

  const Rows& rows_;
  const Axis& axis_;
  const Index inner_;
  const Layout layout_;
  T* gx_;
  T* row_;
  T* band_gy_;
  Name* band_names_;
  const T* gy_ = nullptr;  ///< gradients of the plane, where they are not copied
  const bool packed_, stream_;
  bool only_fours_ = false;  ///< all input rows are made two by two
  /// By classes of the last vertical axis and along the row. If there is one vertical axis, all planes have the same.
  Sights lists_[SightClasses::most][SightClasses::most];
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_MATCHED_PLANES_INL_H_
