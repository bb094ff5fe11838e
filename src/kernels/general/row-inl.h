// Per-target code: folds the last axis of a batch of rows that lie in scratch, with identities in place of padding.
#if defined(NDPOOL_GENERAL_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_GENERAL_ROW_INL_H_
#undef NDPOOL_GENERAL_ROW_INL_H_
#else
#define NDPOOL_GENERAL_ROW_INL_H_
#endif

#include "kernels/general/axis-inl.h"
#include "kernels/general/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace general {

/// Rows of working elements, `pitch` apart, and where their results go.
template <class E>
struct RowBatch {
  typename E::Work* from = nullptr;
  Index pitch = 0;
  Index rows = 0;
  Index cells = 0;       ///< of a row
  Range outputs;         ///< of the last axis, of each row
  Index first_cell = 0;  ///< the cell that rows begin with, where windows are folded by their cells
  typename E::Result** to = nullptr;
  const double* row_counts = nullptr;     ///< factor of the divisor of each row; null if one divisor serves all
  const double* output_counts = nullptr;  ///< the same of each output
};

template <class E>
class RowFold {
 public:
  using Work = typename E::Work;
  using S = typename E::Result;

  RowFold(const Layout& layout, char* scratch, const Finish& finish, AxisFold<E>& axis)
      : layout_(layout), scratch_(scratch), finish_(finish), axis_(axis) {}

  void operator()(RowBatch<E> batch) {
    for (int i = 0; i < layout_.halvings; ++i) halve(batch, i);
    switch (layout_.method) {
      case RowMethod::shifted: return shifted(batch);
      case RowMethod::evens: return evens(batch);
      case RowMethod::phases: return phases(batch);
      default: return any_windows(batch);
    }
  }

  /// Joins all cells of every row: results follow one another in `to`.
  void join_all(RowBatch<E> batch, Work* to) {
    constexpr Index few = 16, many = 128;
    for (int i = 0; batch.cells > few; ++i) {
      if (batch.cells >= many && batch.pitch % 8 == 0)
        join_eights(batch, i);
      else
        halve(batch, i);
    }
    fold_lanes(batch, batch.cells, to);
  }
  /// The same for a row of an array, without a copy of it: makes one row of `batch` of the sums of 8 neighbours each.
  template <class From>
  void join_eights_of(const From* from, Index cells, Work* to) {
    constexpr Index group = 8 * E::lanes;
    const Index whole = cells / group * group, left = cells - whole;
    join_eights(from, whole / 8, to);
    if (left == 0) return;
    Work rest[group];
    for (Index i = 0; i < group; ++i) rest[i] = nothing();
    const From* rows[1] = {from + whole};
    fold_one<E>(1, rows, rest, left, finish_);
    join_eights(rest, (left + 7) / 8, to + whole / 8);
  }

  /// Finishes rows of results that are still working elements.
  static void finish(const Work* sums, Index n, S* to, const Finish& f) {
    if constexpr (E::finishes_rows)
      E::finish_row(sums, n, to, f);
    else
      store_row<E>(sums, n, to, f);
  }

 private:
  template <class T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(scratch_ + offset);
  }

  /// Joins neighbours: rows of half the length. An odd last cell is joined with what changes nothing.
  void halve(RowBatch<E>& batch, int turn) {
    const Index n = batch.rows * batch.pitch / 2;
    Work* const to = at<Work>(layout_.stage_at[turn % 2]);
    if (batch.cells % 2 != 0)
      for (Index r = 0; r < batch.rows; ++r) batch.from[r * batch.pitch + batch.cells] = nothing();
    if constexpr (E::lanes == 1) {
      for (Index i = 0; i < n; ++i)
        E::put(E::combine(E::load(batch.from + 2 * i), E::load(batch.from + 2 * i + 1)), to + i);
    }
#if HWY_TARGET != HWY_SCALAR
    else {
      const typename E::D d;
      for (Index i = 0; i < n; i += E::lanes) {
        const auto low = hn::LoadU(d, batch.from + 2 * i), high = hn::LoadU(d, batch.from + 2 * i + E::lanes);
        hn::StoreU(E::combine(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low)), d, to + i);
      }
    }
#endif
    batch.from = to;
    batch.pitch /= 2;
    batch.cells = (batch.cells + 1) / 2;
  }
  /// Joins 8 neighbours at a time, as three times halving does. Missing cells are what changes nothing.
  void join_eights(RowBatch<E>& batch, int turn) {
    Work* const to = at<Work>(layout_.stage_at[turn % 2]);
    for (Index r = 0; r < batch.rows; ++r)
      for (Index c = batch.cells; c % 8 != 0; ++c) batch.from[r * batch.pitch + c] = nothing();
    join_eights(batch.from, batch.rows * batch.pitch / 8, to);
    batch.from = to;
    batch.pitch /= 8;
    batch.cells = (batch.cells + 7) / 8;
  }
  /// Makes n joined elements, and up to a vector more.
  template <class From>
  HWY_NOINLINE void join_eights(const From* from, Index n, Work* to) const {
    const auto load = [&](Index i) NDPOOL_ALWAYS_INLINE { return load_element<E>(from + i, finish_); };
    if constexpr (E::lanes == 1) {
      for (Index i = 0; i < n; ++i) {
        const auto tap = [&](auto j) NDPOOL_ALWAYS_INLINE { return load(8 * i + j); };
        E::put(joined<E, Join::tree, 0, 8>(tap), to + i);
      }
    }
#if HWY_TARGET != HWY_SCALAR
    else {
      const typename E::D d;
      const auto pair = [&](auto low, auto high) NDPOOL_ALWAYS_INLINE {
        return E::combine(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
      };
      const auto four = [&](Index i) NDPOOL_ALWAYS_INLINE {
        return pair(pair(load(i), load(i + E::lanes)), pair(load(i + 2 * E::lanes), load(i + 3 * E::lanes)));
      };
      for (Index i = 0; i < n; i += E::lanes) {
        const auto low = four(8 * i);
        hn::StoreU(pair(low, four(8 * i + 4 * E::lanes)), d, to + i);
      }
    }
#endif
  }
  /// Of float sums -0: adding +0 would change the sign of a zero.
  Work nothing() const {
    if constexpr (E::is_sum && std::is_floating_point_v<Work>) return Work(-0.0);
    return E::identity(finish_);
  }

  /// Calls `fold(first, end, finish)` for runs of rows with the same divisors whose results are equally far apart.
  template <class Fold>
  void for_runs(const RowBatch<E>& batch, const Fold& fold) {
    for (Index r = 0; r < batch.rows;) {
      Index end = r + 1;
      if (E::stores_fused && end < batch.rows) {
        const Index step = batch.to[end] - batch.to[r];
        while (end < batch.rows && batch.to[end] - batch.to[end - 1] == step &&
               (batch.row_counts == nullptr || batch.row_counts[end] == batch.row_counts[r]))
          ++end;
      }
      Finish f = finish_;
      if (batch.row_counts != nullptr) {
        f.count = finish_.count * batch.row_counts[r];
        f.counts = batch.output_counts;
      }
      fold(r, end, f);
      r = end;
    }
  }
  Index outputs(const RowBatch<E>& batch) const { return (batch.outputs.end - batch.outputs.begin) * layout_.lanes; }

  /// What windows at every cell are made of: taps are pointers into the row, or into rows of blocks.
  struct ShiftedTaps {
    const Work* tap[Blocks::max_parts];
    int parts = 0;
    bool nested = false;
  };
  ShiftedTaps make_shifted_taps(const RowBatch<E>& batch) {
    const Index step = layout_.lanes * layout_.axes.back().windows.tap_step;
    ShiftedTaps taps;
    int& parts = taps.parts;
    const Work** const tap = taps.tap;
    if (layout_.row_blocks == nullptr) {
      for (; parts < layout_.row_kernel; ++parts) tap[parts] = batch.from + parts * step;
    } else {
      const Blocks& blocks = *layout_.row_blocks;
      const Index run = batch.rows * batch.pitch;
      Work* const rows = at<Work>(layout_.lanes_at);
      const Work* level_rows[Blocks::max_levels] = {batch.from};
      for (int level = 1; level < blocks.levels; ++level) {
        const int ratio = static_cast<int>(blocks.size[level] / blocks.size[level - 1]);
        const Work* from[max_fold];
        for (int j = 0; j < ratio; ++j) from[j] = level_rows[level - 1] + j * blocks.size[level - 1] * step;
        Work* const to = rows + (level - 1) * (run + 128);
        level_rows[level] = to;
        const Index length = run - (blocks.size[level] - 1) * step;
        if (length > 0) fold_one<E>(ratio, from, to, length, finish_);
      }
      for (; parts < blocks.parts; ++parts)
        tap[parts] = level_rows[blocks.part[parts].level] + blocks.part[parts].at * step;
      taps.nested = blocks.nested;
    }
    return taps;
  }

  /// Stride 1.
  void shifted(const RowBatch<E>& batch) {
    const Index n = outputs(batch);
    const ShiftedTaps taps = make_shifted_taps(batch);
    const int parts = taps.parts;
    const bool nested = taps.nested;
    const Work* const* const tap = taps.tap;
    Index by[Blocks::max_parts];
    std::fill_n(by, parts, batch.pitch);
    for_runs(batch, [&](Index r, Index end, const Finish& f) {
      const Work* rows[Blocks::max_parts];
      for (int j = 0; j < parts; ++j) rows[j] = tap[j] + r * batch.pitch;
      if constexpr (E::stores_fused) {
        axis_.join(rows, by, parts, nested, end - r, reinterpret_cast<Stored<S>*>(batch.to[r]),
                   end - r > 1 ? batch.to[r + 1] - batch.to[r] : 0, n, f);
      } else {
        Work* const sums = at<Work>(layout_.folded_at);
        axis_.join(rows, by, parts, nested, end - r, sums, n, n, f);
        finish(sums, n, batch.to[r], f);
      }
    });
  }

  /// Stride 2: every other result of the taps that two vectors have in common.
  void evens(const RowBatch<E>& batch) {
    const Index n = outputs(batch);
    Work* const sums = at<Work>(layout_.folded_at);
    if (layout_.row_kernel > max_fold) return evens_of_blocks(batch, n, sums);
    for_runs(batch, [&](Index r, Index end, const Finish& f) {
      for (; r < end; ++r) {
        even_row(batch.from + r * batch.pitch, sums, n);
        finish(sums, n, batch.to[r], f);
      }
    });
  }
  /// Long windows are made at every cell, which sharing makes cheap.
  void evens_of_blocks(const RowBatch<E>& batch, Index n, Work* sums) {
    const ShiftedTaps taps = make_shifted_taps(batch);
    Work* const all = at<Work>(layout_.stage_at[0]);
    for_runs(batch, [&](Index r, Index end, const Finish& f) {
      for (; r < end; ++r) {
        const Work* rows[Blocks::max_parts];
        for (int j = 0; j < taps.parts; ++j) rows[j] = taps.tap[j] + r * batch.pitch;
        axis_.join(rows, nullptr, taps.parts, taps.nested, 1, all, 0, 2 * n - 1, f);
        even_taps<1>(all, sums, n);
        finish(sums, n, batch.to[r], f);
      }
    });
  }
  void even_row(const Work* from, Work* to, Index n) const {
    switch (layout_.row_kernel) {
      case 1: return even_taps<1>(from, to, n);
      case 2: return even_taps<2>(from, to, n);
      case 3: return even_taps<3>(from, to, n);
      case 4: return even_taps<4>(from, to, n);
      case 5: return even_taps<5>(from, to, n);
      case 6: return even_taps<6>(from, to, n);
      case 7: return even_taps<7>(from, to, n);
      default: return even_taps<8>(from, to, n);
    }
  }
  /// May write up to a vector beyond `n`.
  template <int kernel>
  HWY_NOINLINE void even_taps(const Work* from, Work* to, Index n) const {
    const Index step = layout_.axes.back().windows.tap_step;
    const auto window = [&](Index begin) NDPOOL_ALWAYS_INLINE {
      const auto tap = [&](auto j) NDPOOL_ALWAYS_INLINE { return E::load(from + begin + j * step); };
      return joined<E, Join::tree, 0, kernel>(tap);
    };
    if constexpr (E::lanes == 1) {
      for (Index i = 0; i < n; ++i) E::put(window(2 * i), to + i);
    }
#if HWY_TARGET != HWY_SCALAR
    else {
      const typename E::D d;
      for (Index i = 0; i < n; i += E::lanes) {
        if (kernel == 2 && step == 1) {
          const auto low = hn::LoadU(d, from + 2 * i), high = hn::LoadU(d, from + 2 * i + E::lanes);
          hn::StoreU(E::combine(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low)), d, to + i);
          continue;
        }
        const auto low = window(2 * i), high = window(2 * i + E::lanes);
        hn::StoreU(hn::ConcatEven(d, high, low), d, to + i);
      }
    }
#endif
  }

  /// Transposed windows: outputs a stride apart see windows that are one cell apart, so that each phase is shifted
  /// taps.
  void phases(const RowBatch<E>& batch) {
    const Windows& w = layout_.axes.back().windows;
    const Index n = outputs(batch), stride = w.stride, pitch = n / stride + 2 * 64;
    Work* const phase_rows = at<Work>(layout_.stage_at[0]);
    Work* const sums = at<Work>(layout_.folded_at);
    for_runs(batch, [&](Index r, Index end, const Finish& f) {
      for (; r < end; ++r) {
        for (Index phase = 0; phase < stride && phase < n; ++phase) {
          const NominalTaps window = w.taps(batch.outputs.begin + phase);
          const Index count = (n - phase + stride - 1) / stride;
          Work* const to = phase_rows + phase * pitch;
          const Work* rows[max_fold];
          for (Index j = 0; j < window.count; ++j)
            rows[j] = batch.from + r * batch.pitch + window.first - batch.first_cell + j * w.tap_step;
          if (window.count == 0)
            std::fill_n(to, count, E::identity(finish_));
          else
            fold_one<E>(static_cast<int>(window.count), rows, to, count, f);
        }
        interleave(phase_rows, pitch, stride, n, sums);
        finish(sums, n, batch.to[r], f);
      }
    });
  }
  /// to[i] = from[i % stride][i / stride]; may write up to two vectors beyond n.
  static void interleave(const Work* from, Index pitch, Index stride, Index n, Work* to) {
    Index done = 0;
#if HWY_TARGET != HWY_SCALAR
    if constexpr (E::lanes > 1) {
      const typename E::D d;
      const auto row = [&](Index r) NDPOOL_ALWAYS_INLINE { return hn::LoadU(d, from + r * pitch + done / stride); };
      const Index step = stride * E::lanes;
      if (stride == 2)
        for (; done + step <= n; done += step) hn::StoreInterleaved2(row(0), row(1), d, to + done);
      if (stride == 3)
        for (; done + step <= n; done += step) hn::StoreInterleaved3(row(0), row(1), row(2), d, to + done);
      if (stride == 4)
        for (; done + step <= n; done += step) hn::StoreInterleaved4(row(0), row(1), row(2), row(3), d, to + done);
    }
#endif
    if (done == 0) {
      copy_transposed(from, pitch, stride, n / stride, to, stride);
      done = n / stride * stride;
    }
    for (Index r = 0; r < stride; ++r)
      for (Index i = done + r; i < n; i += stride) to[i] = from[r * pitch + i / stride];
  }

  /// Windows of any kind: rows become lanes, or one output is made after the other.
  void any_windows(const RowBatch<E>& batch) {
    AxisLayout halved;
    const AxisLayout* folded = &layout_.axes.back();
    Index first_cell = batch.first_cell;
    Range range = batch.outputs;
    if (layout_.halvings > 0) {  // windows over what is left begin at cell 0
      halved.windows = {batch.cells, range.end - range.begin, Windows::Kind::regular, layout_.row_kernel,
                        layout_.row_stride};
      folded = &halved;
      range = {0, range.end - range.begin};
      first_cell = 0;
    }
    if (layout_.method == RowMethod::sliding)
      slide(batch, folded->windows, range, first_cell);
    else
      fold_as_lanes(batch, *folded, range, first_cell);
  }

  /// A vector for each output, of which only the first lanes count: stores overlap, in the order of outputs.
  void slide(const RowBatch<E>& batch, const Windows& windows, Range range, Index first_cell) {
    const Index lanes = layout_.lanes, n = outputs(batch);
    Work* const sums = at<Work>(layout_.folded_at);
    for_runs(batch, [&](Index r, Index end, const Finish& f) {
      for (; r < end; ++r) {
        const Work* const row = batch.from + r * batch.pitch;
        if (windows.cells == 1 && lanes == 1 && windows.kind == Windows::Kind::bins) {  // every window is that cell
          std::fill_n(sums, n, row[0]);
          finish(sums, n, batch.to[r], f);
          continue;
        }
        Index begin = range.begin, end_of_inner = range.begin;
        if (windows.is_regular() && windows.kernel <= max_fold) {  // most windows have all their taps
          const Index stride = windows.stride, start = begin * stride - windows.lo - first_cell;
          const Index last = batch.cells - 1 - (windows.kernel - 1) * windows.tap_step;
          const Index before = start < 0 ? std::min(detail::ceil_divide(-start, stride), range.end - begin) : 0;
          if (before > 0)
            slide_row(row, batch.cells, first_cell, WindowWalk(windows, begin), windows.tap_step, before, sums);
          begin += before;
          const Index first = start + before * stride;
          end_of_inner = first > last ? begin : std::min(range.end, begin + (last - first) / stride + 1);
          if (end_of_inner > begin)
            slide_inner(row + first * lanes, end_of_inner - begin, windows, sums + before * lanes);
          begin = end_of_inner;
        }
        if (begin < range.end)
          slide_row(row, batch.cells, first_cell, WindowWalk(windows, begin), windows.tap_step, range.end - begin,
                    sums + (begin - range.begin) * lanes);
        finish(sums, n, batch.to[r], f);
      }
    });
  }
  /// Outputs of regular windows of at most 8 taps that are all there.
  void slide_inner(const Work* from, Index count, const Windows& windows, Work* to) const {
    switch (windows.kernel) {
      case 1: return slide_taps<1>(from, count, windows, to);
      case 2: return slide_taps<2>(from, count, windows, to);
      case 3: return slide_taps<3>(from, count, windows, to);
      case 4: return slide_taps<4>(from, count, windows, to);
      case 5: return slide_taps<5>(from, count, windows, to);
      case 6: return slide_taps<6>(from, count, windows, to);
      case 7: return slide_taps<7>(from, count, windows, to);
      default: return slide_taps<8>(from, count, windows, to);
    }
  }
  template <int kernel>
  HWY_NOINLINE void slide_taps(const Work* from, Index count, const Windows& windows, Work* to) const {
    const Index lanes = layout_.lanes, step = windows.tap_step * lanes, advance = windows.stride * lanes;
    for (Index o = 0; o < count; ++o, from += advance, to += lanes)
      for (Index c = 0; c < lanes; c += E::lanes) {
        const auto tap = [&](auto j) NDPOOL_ALWAYS_INLINE { return E::load(from + c + j * step); };
        E::put(joined<E, Join::tree, 0, kernel>(tap), to + c);
      }
  }
  HWY_NOINLINE void slide_row(const Work* row, Index cells, Index first_cell, WindowWalk walk, Index step, Index count,
                              Work* to) const {
    const Index lanes = layout_.lanes;
    const Work identity = E::identity(finish_);
    for (Index o = 0; o < count; ++o, to += lanes) {
      const NominalTaps window = walk.next();
      const Index first = window.first - first_cell;
      const Work* const from = row + first * lanes;
      if (step == 1 && window.count <= 3 && window.count > 0 && first >= 0 && first + window.count <= cells &&
          lanes <= E::lanes) {
        auto v = E::load(from);
        if (window.count > 1) v = E::combine(v, E::load(from + lanes));
        if (window.count > 2) v = E::combine(v, E::load(from + 2 * lanes));
        E::put(v, to);
        continue;
      }
      const bool is_inside = first >= 0 && first + (window.count - 1) * step < cells;
      for (Index c = 0; c < lanes; c += E::lanes) {
        if (is_inside && window.count > 0)
          E::put(tree_of(InnerTaps{from + c, step * lanes}, 0, window.count), to + c);
        else if (window.count > 0)
          E::put(tree_of(TapsOfRow{row + c, first, step, cells, lanes, identity}, 0, window.count), to + c);
        else
          E::put(E::splat(identity), to + c);
      }
    }
  }
  /// Taps that are all there.
  struct InnerTaps {
    const Work* from;
    Index step;
    HWY_INLINE typename E::V operator()(Index tap) const { return E::load(from + tap * step); }
  };
  struct TapsOfRow {
    const Work* row;
    Index first, step, cells, lanes;
    Work identity;
    HWY_INLINE typename E::V operator()(Index tap) const {
      const Index cell = first + tap * step;
      if (cell < 0 || cell >= cells) return E::splat(identity);
      return E::load(row + cell * lanes);
    }
  };
  template <class Taps>
  static typename E::V tree_of(const Taps& taps, Index first, Index count) {
    const auto tap = [&](Index j) NDPOOL_ALWAYS_INLINE { return taps(first + j); };
    switch (count) {
      case 1: return joined<E, Join::tree, 0, 1>(tap);
      case 2: return joined<E, Join::tree, 0, 2>(tap);
      case 3: return joined<E, Join::tree, 0, 3>(tap);
      case 4: return joined<E, Join::tree, 0, 4>(tap);
      default: break;
    }
    Index half = 4;
    while (half < count - half) half *= 2;
    const typename E::V earlier = tree_of(taps, first, half);
    return E::combine(earlier, tree_of(taps, first + half, count - half));
  }
  void fold_as_lanes(const RowBatch<E>& batch, const AxisLayout& axis, Range range, Index first_cell) {
    constexpr Index side = std::max(block_side<BitsOf<sizeof(Work)>>, block_side<BitsOf<sizeof(S)>>);
    const Index lanes = (batch.rows + side - 1) / side * side, width = layout_.lanes * lanes;
    Work* const in = to_lanes(batch, lanes);
    Finish f = finish_;
    if (batch.row_counts != nullptr) {
      double* const counts = at<double>(layout_.counts_at) + layout_.row_capacity + outputs(batch) + 128;
      for (Index c = 0; c < layout_.lanes; ++c)
        for (Index r = 0; r < lanes; ++r) counts[c * lanes + r] = batch.row_counts[std::min(r, batch.rows - 1)];
      f.counts = counts;
    }
    S* const done = at<S>(layout_.stored_at);
    AxisFold<E> fold(axis_, f);
    const double* counts =
        batch.row_counts == nullptr ? nullptr : layout_.axes.back().counts.data() + batch.outputs.begin;
    fold_and_finish(fold, axis, range, first_cell, first_cell + batch.cells, in, width, width, done, width, counts, f);
    const Index n = outputs(batch);
    write_rows(done, lanes, batch.to, batch.rows, n);
  }
  Work* to_lanes(const RowBatch<E>& batch, Index lanes) {
    Work* const in = at<Work>(layout_.lanes_at);
    const Work* const end = batch.from + batch.rows * batch.pitch;
    rows_to_lanes(EvenRows<const Work>{batch.from, batch.pitch, end}, batch.rows, batch.cells * layout_.lanes, in,
                  lanes);
    return in;
  }
  /// One window of all cells, of rows as lanes; `to` gets one element for each row.
  void fold_lanes(const RowBatch<E>& batch, Index cells, Work* to) {
    constexpr Index side = block_side<BitsOf<sizeof(Work)>>;
    const Index lanes = (batch.rows + side - 1) / side * side;
    Work* const in = to_lanes(batch, lanes);
    AxisLayout axis;
    axis.windows = {cells, 1, Windows::Kind::regular, cells};
    axis_(AxisCall<Work, Work>{axis, {0, 1}, 0, cells, in, lanes, batch.rows, to, batch.rows, nullptr});
  }

 public:
  /// Folds the windows of the last axis and writes results: at once, or in a pass over working elements.
  template <class From>
  void fold_and_finish(AxisFold<E>& fold, const AxisLayout& axis, Range range, Index lo, Index hi, const From* from,
                       Index from_step, Index n, S* to, Index to_step, const double* counts, const Finish& f) {
    if constexpr (E::stores_fused) {
      fold(AxisCall<From, Stored<S>>{axis, range, lo, hi, from, from_step, n, reinterpret_cast<Stored<S>*>(to), to_step,
                                     counts});
    } else {
      Work* const sums = at<Work>(layout_.folded_at);
      fold(AxisCall<From, Work>{axis, range, lo, hi, from, from_step, n, sums, n, nullptr});
      const Index count = range.end - range.begin;
      if (to_step == n && counts == nullptr && f.counts == nullptr) return finish(sums, n * count, to, f);
      Finish of_output = f;
      for (Index o = 0; o < count; ++o) {
        if (counts != nullptr) of_output.count = f.count * counts[o];
        finish(sums + o * n, n, to + o * to_step, of_output);
      }
    }
  }

 private:
  const Layout& layout_;
  char* scratch_;
  const Finish& finish_;
  AxisFold<E>& axis_;
};

}  // namespace general
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_GENERAL_ROW_INL_H_
