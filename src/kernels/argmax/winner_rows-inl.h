// Per-target code: winners of neighbouring outputs along a row, in registers. No include guard of the usual kind: see
// rows-inl.h.
#if defined(NDPOOL_WINNER_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_WINNER_ROWS_INL_H_
#undef NDPOOL_WINNER_ROWS_INL_H_
#else
#define NDPOOL_WINNER_ROWS_INL_H_
#endif

#include "kernels/argmax/winner_vectors-inl.h"
#include "kernels/forward/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Rows of outputs whose windows have two or three columns, side by side or a cell apart from the next.
template <class T, WinnerUse use>
class WinnerRows {
 public:
  using Vectors = WinnerVectors<T, use>;
  using Window = typename Vectors::Window;
  using Run = typename Vectors::Run;

  /// Windows of which one cell at most is on padding at either end. False if a NaN was seen, or padding may have won:
  /// what was made of it is wrong. `R` is the number of input rows of a window, or 0 for any.
  template <bool flips, int kernel, int stride, int R>
  static HWY_NOINLINE bool make(const Axis& axis, const Window& window, const Run& run) {
    const D d;
    Row<flips, R> row(window, run);
    const Index outputs = axis.output, lo = axis.lo;
    constexpr Index reach = (lanes - 1) * stride + kernel;  // cells under a vector of outputs
    const Index last_plain = std::min((axis.input - reach + lo) / stride, outputs - lanes);
    V at_edges = hn::Zero(d);
    const AtEdges edges{axis.input, Vectors::template flip<flips>(Vectors::identity(), run)};
    for (Index r = 0; r < run.count; ++r, row.next()) {
      if (Vectors::watches && kernel == 3 && stride == 2 && lo == 0) row.see_first_cells();
      for (Index output = 0; output < outputs;) {
        output = std::min(output, outputs - lanes);  // the last vector may make some outputs again
        if (output * stride < lo || output > last_plain) {
          const V values = row.make(output, stride, ColumnsAt<kernel, stride, AtEdges>{output * stride - lo, edges});
          at_edges = hn::Or(at_edges, is_padding(values));
          output += lanes;
          continue;
        }
        for (; output <= last_plain; output += lanes) {
          const Index cell = output * stride - lo;
          row.template ask<stride>(output);
          row.make(output, stride, ColumnsAt<kernel, stride, Plainly>{cell, {}});
        }
      }
    }
    return hn::AllFalse(d, hn::MaskFromVec(at_edges)) && !row.saw_nan();
  }

  /// Rows of less than a vector of outputs, but more than half of one: two taps at stride 2, all on the input. Both
  /// halves of a vector of outputs are stored, and may overlap.
  template <bool flips, int R>
  static HWY_NOINLINE bool make_narrow(const Axis& axis, const Window& window, const Run& run) {
    Row<flips, R> row(window, run);
    const Index upper = axis.output - lanes / 2;
    for (Index r = 0; r < run.count; ++r, row.next()) row.make(0, 2, PairsAt{2 * upper}, upper);
    return !row.saw_nan();
  }

 private:
  using D = typename Vectors::D;
  using V = typename Vectors::V;
  using VCarried = typename Vectors::VCarried;
  using Best = typename Vectors::Best;
  static constexpr Index lanes = Vectors::lanes;

  /// Marks values that padding may have won.
  static HWY_INLINE V is_padding(V value) { return hn::VecFromMask(D(), hn::Eq(value, Vectors::identity())); }

  /// The columns of neighbouring outputs in one row; at stride 2, lanes are as `Blocks` gives them.
  template <class Vector>
  struct Columns {
    Vector first, second, third;
  };

  /// Cells of a row from one on.
  struct Plainly {
    HWY_INLINE V first(const T* row, Index cell) const { return hn::LoadU(D(), row + cell); }
    HWY_INLINE V last(const T* row, Index cell) const { return hn::LoadU(D(), row + cell); }
  };
  /// The same where the first of all may be before the row, and the last behind it.
  struct AtEdges {
    Index length;
    V padding;
    HWY_INLINE V first(const T* row, Index cell) const {
      if (cell < 0) return slide<static_cast<int>(lanes) - 1>(D(), hn::LoadU(D(), row), padding);
      return hn::LoadU(D(), row + cell);
    }
    HWY_INLINE V last(const T* row, Index cell) const {
      if (cell + lanes > length) return slide<1>(D(), padding, hn::LoadU(D(), row + length - lanes));
      return hn::LoadU(D(), row + cell);
    }
  };

  /// The columns of outputs whose first window begins at a cell.
  template <int kernel, int stride, class Load>
  struct ColumnsAt {
    static constexpr int columns = kernel;
    static constexpr bool in_blocks = stride == 2;
    /// The first of three columns at stride 2 is the last of the output before.
    static constexpr bool shares_first = kernel == 3 && stride == 2;
    Index cell;
    Load load;
    HWY_INLINE Columns<V> operator()(const T* row) const {
      const V at = load.first(row, cell);
      if constexpr (stride == 1) {
        const V last = load.last(row, cell + kernel - 1);
        return {at, kernel == 3 ? hn::LoadU(D(), row + cell + 1) : last, last};
      } else if constexpr (kernel == 2) {
        const V high = load.last(row, cell + lanes), odd = Blocks<T>::odd(high, at);
        return {Blocks<T>::even(high, at), odd, odd};
      } else {
        const V low = hn::LoadU(D(), row + cell + 1), high = load.last(row, cell + 1 + lanes);
        return {Blocks<T>::even(hn::LoadU(D(), row + cell + lanes), at), Blocks<T>::even(high, low),
                Blocks<T>::odd(high, low)};
      }
    }
  };
  /// Two columns at stride 2, of outputs whose upper half begins at a cell.
  struct PairsAt {
    static constexpr int columns = 2;
    static constexpr bool in_blocks = true, shares_first = false;
    Index upper;
    HWY_INLINE Columns<V> operator()(const T* row) const {
      const V low = hn::LoadU(D(), row), high = hn::LoadU(D(), row + upper), odd = Blocks<T>::odd(high, low);
      return {Blocks<T>::even(high, low), odd, odd};
    }
  };

  /// A row of outputs and what it is made of. All of it is copied, so that it can live in registers: bytes that are
  /// written might else be a part of it.
  template <bool flips, int R>
  class Row {
   public:
    HWY_INLINE Row(const Window& given, const Run& given_run)
        : count_(given.count),
          run_(given_run),
          ahead_(rows_ahead(given_run) * given_run.in_step),
          tangents_ahead_(rows_ahead(given_run) * given_run.tangent_step) {
      for_each_row<0>([&](int r) HWY_ATTR {
        row_[r] = given.row[r];
        carried_[r] = given.carried[r];
      });
    }

    /// Neighbouring outputs; answers their values.
    template <class ColumnsOf>
    HWY_INLINE V make(Index output, Index stride, const ColumnsOf& columns, Index upper = lanes / 2) {
      const Best best = best_of(columns);
      const Index first_cell = run_.first_cell + output * stride;
      Vectors::template store<flips, ColumnsOf::in_blocks>(best, run_, output, first_cell, stride, upper);
      return best.value;
    }

    /// Asks for the memory of outputs that a run will come to, in the order of memory (Columns::ask).
    template <int stride>
    HWY_INLINE void ask(Index output) const {
      if (ahead_ == 0) return;
      constexpr int fresh = std::min(R, stride);
      if constexpr (R > 0) {
        const Index from = output * fresh * stride;
        ask_for<fresh * stride * lanes>(row_[R - fresh] + ahead_ + from);
        if constexpr (!Vectors::carries_numbers)
          ask_for<fresh * stride * lanes>(carried_[R - fresh] + tangents_ahead_ + from);
      } else {
        for (int r = 0; r < count_; ++r) {
          hwy::Prefetch(row_[r] + ahead_ + stride * output);
          if constexpr (!Vectors::carries_numbers) hwy::Prefetch(carried_[r] + tangents_ahead_ + stride * output);
        }
      }
    }
    /// Looks at the first cells, which are not the last of an output before.
    HWY_INLINE void see_first_cells() {
      for_each_row<0>([&](int r) HWY_ATTR { seen_ = hn::Add(seen_, hn::Set(D(), *row_[r])); });
    }

    HWY_INLINE void next() {
      for_each_row<0>([&](int r) HWY_ATTR {
        row_[r] += run_.in_step;
        if constexpr (!Vectors::carries_numbers) carried_[r] += run_.tangent_step;
      });
      run_.next();
    }
    HWY_INLINE bool saw_nan() const {
      if constexpr (Vectors::watches) return !hn::AllFalse(D(), hn::IsNaN(seen_));
      return false;
    }

   private:
    static Index rows_ahead(const Run& run) { return RowRun{.in_step = run.in_step}.rows_ahead(sizeof(T), run.asked); }

    /// Calls f(r) for all rows from one on, one call after the other where their number is known: then nothing of them
    /// is in memory.
    template <int first, class F>
    HWY_INLINE void for_each_row(const F& f) const {
      if constexpr (R > 0) {
        const auto all = [&]<int... r>(std::integer_sequence<int, r...>) HWY_ATTR { (f(r + first), ...); };
        all(std::make_integer_sequence<int, R - first>());
      } else {
        for (int r = first; r < count_; ++r) f(r);
      }
    }

    /// Looks at the columns of all rows of a window: `columns(row)` are those of one. The best of each row comes first,
    /// which is in row-major order as well and leaves less to wait for.
    template <class ColumnsOf>
    HWY_INLINE Best best_of(const ColumnsOf& columns) {
      V sum = hn::Zero(D());
      Best best = best_in_row(columns, 0, sum);
      for_each_row<1>([&](int r) HWY_ATTR {
        V in_row = sum;
        const Best later = best_in_row(columns, r, in_row);
        if constexpr (Vectors::watches) sum = hn::Add(sum, in_row);
        best.take(later.value, later.carried);
      });
      if constexpr (Vectors::watches) seen_ = hn::Add(seen_, sum);
      return best;
    }
    template <class ColumnsOf>
    HWY_INLINE Best best_in_row(const ColumnsOf& columns, int r, [[maybe_unused]] V& sum) const {
      const auto flip = [&](V v) HWY_ATTR { return Vectors::template flip<flips>(v, run_); };
      const Columns<V> values = columns(row_[r]);
      const Columns<VCarried> carried = carried_of(columns, r);
      Best best{flip(values.first), carried.first};
      best.take(flip(values.second), carried.second);
      if constexpr (ColumnsOf::columns == 3) best.take(flip(values.third), carried.third);
      if constexpr (Vectors::watches) {
        sum = ColumnsOf::shares_first ? values.second : hn::Add(values.first, values.second);
        if constexpr (ColumnsOf::columns == 3) sum = hn::Add(sum, values.third);
      }
      return best;
    }
    template <class ColumnsOf>
    HWY_INLINE Columns<VCarried> carried_of(const ColumnsOf& columns, int r) const {
      if constexpr (Vectors::carries_numbers) {
        const auto number = [&](int more) HWY_ATTR { return Vectors::number(static_cast<Index>(carried_[r]) + more); };
        return {number(0), number(1), number(2)};
      } else {
        return columns(carried_[r]);
      }
    }

    static constexpr int most = R > 0 ? R : static_cast<int>(Vectors::most_taps);
    const T* row_[most];
    std::conditional_t<Vectors::carries_numbers, typename Vectors::Number, const T*> carried_[most];
    const int count_;
    Run run_;
    const Index ahead_, tangents_ahead_;  ///< how far ahead memory is asked for, in elements; 0 if it is not
    V seen_ =
        hn::Zero(D());  ///< a NaN if a cell was. Infinities of both signs add up to one, too, which costs only time
  };
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_WINNER_ROWS_INL_H_
