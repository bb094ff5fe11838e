// Per-target code: values of max and min with their winners, in registers: every tap of a window is compared in
// row-major order, and values and indices are written at once. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_FUSED_WINNERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FUSED_WINNERS_INL_H_
#undef NDPOOL_FUSED_WINNERS_INL_H_
#else
#define NDPOOL_FUSED_WINNERS_INL_H_
#endif

#include "kernels/columns-inl.h"
#include "kernels/planes-inl.h"
#include "kernels/winners-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// For scalars whose winners are not found in registers, and where there are no vectors.
struct NoFusedWinners {
  explicit NoFusedWinners(const TangentJob&) {}
  Index operator()(const RowCursor&, Index) const { return 0; }
};

#if HWY_TARGET != HWY_SCALAR

/// Writes values and indices of rows of float, where windows are small or lanes fill vectors. NaNs are noticed by a sum
/// of all that was read, and at edges the value of padding is; such rows are for the careful path.
template <Combine kind>
class FusedWinners {
 public:
  using T = float;
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using DNumber = hn::ScalableTag<std::int32_t>;
  using Number = hn::Vec<DNumber>;
  static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));

  explicit FusedWinners(const TangentJob& job)
      : job_(job), rows_(job.rows), axis_(job.rows.horizontal.window), inner_(job.rows.inner.extent) {
    const bool is_flat = job.index_kind == IndexKind::flat;
    if (job.use != WinnerUse::indices || !(is_flat || job.index_kind == IndexKind::u8)) return;
    if (!rows_.in_is_packed() || !rows_.out_is_packed() || !tangent_out_is_packed(rows_)) return;
    if (axis_.adaptive || rows_.tap_count > most_taps || (is_flat && !can_number_cells(rows_))) return;
    flat_ = is_flat;
    numbering_ = is_flat ? Numbering::cells : Numbering::taps;
    in_lanes_ = inner_ >= lanes && rows_.tap_count <= few_taps;
    along_ = inner_ == 1 && can_move_lanes();
  }

  /// Makes rows from the cursor's on, up to `most`. Answers how many; 0 if this one is for another path.
  Index operator()(const RowCursor& cursor, Index most) {
    if (!in_lanes_ && !along_) return 0;
    if (alone_ > 0) {
      --alone_;
      return make(cursor, 1) ? 1 : 0;
    }
    const Index count = run_length(rows_, cursor, std::min(most, most_rows));
    if (make(cursor, count)) return count;
    if (count == 1) return 0;
    alone_ = count - 1;  // where there was a NaN, rows are made one by one
    return make(cursor, 1) ? 1 : 0;
  }

 private:
  /// Windows of lanes are compared tap by tap, which is slower than row by row and column by column where there are
  /// more.
  static constexpr Index few_taps = 8, most_taps = 64;
  static constexpr Index most_rows = 16;  ///< that are made together, and made again where there is a NaN

  /// Windows along a row, of which one cell at most is on padding at either end.
  bool can_move_lanes() const {
    if (axis_.kernel < 2 || axis_.kernel > 3 || axis_.stride > 2 || axis_.dilation != 1) return false;
    if (axis_.output < lanes || axis_.input < (lanes - 1) * axis_.stride + axis_.kernel) return false;
    const Index beyond = axis_.start(axis_.output - 1) + axis_.kernel - axis_.input;
    return axis_.lo <= (axis_.kernel == 2 && axis_.stride == 2 ? 0 : 1) && beyond <= 1;
  }

  /// The input rows of a window, in row-major order of their taps: where they are, and what they add to the number of a
  /// winner. Numbers are those of taps, or of cells relative to tap 0.
  struct Window {
    const T* row[most_taps];
    std::int32_t number[most_taps];
    int count = 0;
  };
  void gather(const RowCursor& cursor, int axis, const T* base, Index number, Window& window) const {
    if (axis == rows_.vertical_count) {
      window.row[window.count] = base;
      window.number[window.count++] = static_cast<std::int32_t>(number);
      return;
    }
    const PooledAxis& vertical = rows_.vertical[axis];
    const Taps taps = vertical.window.taps(cursor.vertical_position(axis));
    for (Index r = 0; r < taps.count; ++r)
      gather(cursor, axis + 1, base + (taps.first + r * taps.step) * vertical.stride.in,
             number + (taps.first_tap + r) * number_weight(vertical, numbering_), window);
  }

  /// Some rows that follow one another: where the next is, and where its windows begin in a plane.
  struct Run {
    Index count, in_step = 0, out_step = 0, index_step = 0, cell_step = 0;
    T* out;
    void* indices;
    Index first_cell;  ///< of tap 0 of the first window
  };

  bool make(const RowCursor& cursor, Index count) const {
    Window window;
    gather(cursor, 0, static_cast<const T*>(job_.in) + cursor.offset().in, 0, window);
    Run run{.count = count,
            .out = static_cast<T*>(job_.out) + cursor.offset().out,
            .indices = static_cast<char*>(job_.tangent_out) + cursor.offset().tangent_out * (flat_ ? 8 : 1),
            .first_cell =
                window_start(rows_, cursor, [](const PooledAxis& axis) { return axis.cell_stride; }) + axis_.start(0)};
    if (rows_.vertical_count > 0) {
      const PooledAxis& last = rows_.vertical[rows_.vertical_count - 1];
      run.in_step = last.window.stride * last.stride.in;
      run.out_step = last.stride.out;
      run.index_step = last.stride.tangent_out;
      run.cell_step = last.window.stride * last.cell_stride;
    }
    if (in_lanes_) return make_lanes(window, run);
    if (axis_.kernel == 2) return axis_.stride == 1 ? make_along<2, 1>(window, run) : make_along<2, 2>(window, run);
    return axis_.stride == 1 ? make_along<3, 1>(window, run) : make_along<3, 2>(window, run);
  }

  /// The best of some taps that come in row-major order, and a sum that is a NaN if one of them was. Infinities of both
  /// signs add up to one as well; that only costs time.
  struct Best {
    V value, sum;
    Number number;
    HWY_INLINE Best(V first, Number at) : value(first), sum(first), number(at) {}
    HWY_INLINE void take(V candidate, Number at) {
      const auto wins = kind == Combine::max ? hn::Gt(candidate, value) : hn::Lt(candidate, value);
      value = kind == Combine::max ? hn::Max(candidate, value) : hn::Min(candidate, value);
      number = hn::IfThenElse(hn::RebindMask(DNumber(), wins), at, number);
      sum = hn::Add(sum, candidate);
    }
  };

  static HWY_INLINE V identity() { return hn::Set(D(), Combiner<kind, Nan::propagate, T>::identity()); }
  static HWY_INLINE Number number(std::int32_t n) { return hn::Set(DNumber(), n); }

  /// Indices of neighbouring outputs; `cells` are where their windows begin.
  HWY_INLINE void store_indices(Number numbers, Number cells, void* indices, Index at) const {
    if (flat_) {
      const hn::ScalableTag<std::int64_t> wide;
      const hn::Half<DNumber> half;
      const Number flat = hn::Add(numbers, cells);
      auto* const to = static_cast<std::int64_t*>(indices) + at;
      hn::StoreU(hn::PromoteTo(wide, hn::LowerHalf(half, flat)), wide, to);
      hn::StoreU(hn::PromoteTo(wide, hn::UpperHalf(half, flat)), wide, to + lanes / 2);
    } else {
      const hn::Rebind<std::uint8_t, DNumber> narrow;
      hn::StoreU(hn::DemoteTo(narrow, numbers), narrow, static_cast<std::uint8_t*>(indices) + at);
    }
  }

  // ---- outputs side by side ----

  /// Cells of a row from one on.
  struct Plainly {
    HWY_INLINE V operator()(const T* row, Index cell) const { return hn::LoadU(D(), row + cell); }
  };
  /// The same where the first may be before the row, and the last behind it.
  struct WithCare {
    Index length;
    HWY_INLINE V operator()(const T* row, Index cell) const {
      if (cell < 0) return slide<static_cast<int>(lanes) - 1>(D(), hn::LoadU(D(), row), identity());
      if (cell + lanes > length) return slide<1>(D(), identity(), hn::LoadU(D(), row + length - lanes));
      return hn::LoadU(D(), row + cell);
    }
  };

  /// The columns of neighbouring outputs in one row.
  template <int kernel, int stride>
  struct Columns {
    V first, second, third;
    template <class Load>
    HWY_INLINE Columns(const T* row, Index cell, const Load& load) {
      if constexpr (stride == 1) {
        first = load(row, cell);
        second = load(row, cell + 1);
        if constexpr (kernel == 3) third = load(row, cell + 2);
      } else if constexpr (kernel == 2) {
        const V low = load(row, cell), high = load(row, cell + lanes);
        first = hn::ConcatEven(D(), high, low);
        second = hn::ConcatOdd(D(), high, low);
      } else {
        const V low = load(row, cell + 1), high = load(row, cell + 1 + lanes);
        first = hn::ConcatEven(D(), load(row, cell + lanes), load(row, cell));
        second = hn::ConcatEven(D(), high, low);
        third = hn::ConcatOdd(D(), high, low);
      }
    }
  };

  /// A row of outputs and what it is made of; `R` is the number of input rows of a window, or 0 for any.
  template <int kernel, int stride, int R>
  struct Row {
    const FusedWinners& winners;
    const T* rows[R > 0 ? R : most_taps];
    const std::int32_t* numbers;
    int count;
    Run run;
    V seen = hn::Zero(D());

    template <class Load>
    HWY_INLINE void take(int r, Index cell, const Load& load, Best& best) const {
      const Columns<kernel, stride> columns(rows[r], cell, load);
      const Number at = number(numbers[r]), next = hn::Add(at, number(1));
      best.take(columns.first, at);
      best.take(columns.second, next);
      if constexpr (kernel == 3) best.take(columns.third, hn::Add(next, number(1)));
    }

    /// Neighbouring outputs; answers their values.
    template <class Load>
    HWY_INLINE V make(Index output, const Load& load) {
      const Index cell = output * stride - winners.axis_.lo;
      const Columns<kernel, stride> columns(rows[0], cell, load);
      const Number at = number(numbers[0]), next = hn::Add(at, number(1));
      Best best(columns.first, at);
      best.take(columns.second, next);
      if constexpr (kernel == 3) best.take(columns.third, hn::Add(next, number(1)));
      if constexpr (R >= 2) take(1, cell, load, best);
      if constexpr (R >= 3) take(2, cell, load, best);
      if constexpr (R == 0)
        for (int r = 1; r < count; ++r) take(r, cell, load, best);
      seen = hn::Add(seen, best.sum);
      hn::StoreU(best.value, D(), run.out + output);
      const Number steps = hn::Mul(hn::Iota(DNumber(), 0), number(stride));
      const Number cells = hn::Add(steps, number(static_cast<std::int32_t>(run.first_cell + output * stride)));
      winners.store_indices(best.number, cells, run.indices, output);
      return best.value;
    }
  };

  template <int kernel, int stride>
  HWY_INLINE bool make_along(const Window& window, const Run& run) const {
    if (window.count == kernel) return make_outputs<kernel, stride, kernel>(window, run);
    return make_outputs<kernel, stride, 0>(window, run);
  }

  template <int kernel, int stride, int R>
  HWY_NOINLINE bool make_outputs(const Window& window, const Run& run) const {
    const D d;
    Row<kernel, stride, R> row{*this, {}, window.number, window.count, run};
    const int count = R > 0 ? R : window.count;
    std::copy_n(window.row, count, row.rows);
    const Index outputs = axis_.output;
    constexpr Index reach = (lanes - 1) * stride + kernel;  // cells under a vector of outputs
    const Index last_plain = std::min((axis_.input - reach + axis_.lo) / stride, outputs - lanes);
    V at_edges = hn::Zero(d);
    for (Index r = 0; r < run.count; ++r) {
      Index output = 0;
      if (axis_.lo > 0) {
        at_edges = hn::Or(at_edges, is_padding(row.make(0, WithCare{axis_.input})));
        output = lanes;
      }
      for (; output <= last_plain; output += lanes) row.make(output, Plainly());
      if (output < outputs)  // the last vector may make some outputs again
        at_edges = hn::Or(at_edges, is_padding(row.make(outputs - lanes, WithCare{axis_.input})));
      for (int i = 0; i < count; ++i) row.rows[i] += run.in_step;
      next_row(row.run);
    }
    return hn::AllFalse(d, hn::MaskFromVec(at_edges)) && hn::AllFalse(d, hn::IsNaN(row.seen));
  }
  /// Marks values that padding may have won.
  static HWY_INLINE V is_padding(V value) { return hn::VecFromMask(D(), hn::Eq(value, identity())); }

  void next_row(Run& run) const {
    run.out += run.out_step;
    run.indices = static_cast<char*>(run.indices) + run.index_step * (flat_ ? 8 : 1);
    run.first_cell += run.cell_step;
  }

  // ---- lanes side by side ----

  HWY_NOINLINE bool make_lanes(const Window& window, const Run& given) const {
    const D d;
    Run run = given;
    const Index inner = inner_, each = number_weight(rows_.horizontal, numbering_);
    V seen = hn::Zero(d);
    for (Index row = 0; row < run.count; ++row, next_row(run))
      for (Index output = 0; output < axis_.output; ++output) {
        const Taps taps = axis_.taps(output);
        const Index step = taps.step * inner, cell = run.first_cell + output * axis_.stride;
        const auto first_number = static_cast<std::int32_t>(taps.first_tap * each);
        const Number cells = number(static_cast<std::int32_t>(cell));
        for (Index next = 0; next < inner; next += lanes) {
          const Index lane = std::min(next, inner - lanes);  // the last vector may make some outputs again
          const Index from = row * run.in_step + taps.first * inner + lane;
          Best best(hn::LoadU(d, window.row[0] + from), number(window.number[0] + first_number));
          for (int r = 0; r < window.count; ++r) {
            const T* at = window.row[r] + from;
            auto n = static_cast<std::int32_t>(window.number[r] + first_number);
            for (Index t = 0; t < taps.count; ++t, at += step, n += static_cast<std::int32_t>(each))
              best.take(hn::LoadU(d, at), number(n));
          }
          seen = hn::Add(seen, best.sum);
          hn::StoreU(best.value, d, run.out + output * inner + lane);
          store_indices(best.number, cells, run.indices, output * inner + lane);
        }
      }
    return hn::AllFalse(d, hn::IsNaN(seen));
  }

  const TangentJob& job_;
  const Rows& rows_;
  const Axis& axis_;
  const Index inner_;
  bool flat_ = false;  ///< the indices that are asked for
  Numbering numbering_ = Numbering::taps;
  bool in_lanes_ = false, along_ = false;  ///< how rows are made; none if they are not
  Index alone_ = 0;                        ///< rows that are to be made one by one
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FUSED_WINNERS_INL_H_
