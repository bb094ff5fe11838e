// Per-target code: winners of max and min in registers: every tap of a window is compared in row-major order, and what
// is made of the winners is written at once. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_FUSED_WINNERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FUSED_WINNERS_INL_H_
#undef NDPOOL_FUSED_WINNERS_INL_H_
#else
#define NDPOOL_FUSED_WINNERS_INL_H_
#endif

#include "kernels/columns-inl.h"
#include "kernels/planes-inl.h"
#include "kernels/winners-inl.h"

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// For scalars whose winners are not found in registers, and where there are no vectors.
struct NoFusedWinners {
  template <class Bits>
  NoFusedWinners(const TangentJob&, Bits) {}
  Index operator()(const RowCursor&, Index) const { return 0; }
};

#if HWY_TARGET != HWY_SCALAR

/// Writes values and indices of rows, or the tangents of their winners, where windows are small or lanes fill vectors.
/// The number of a winner, or its tangent, is carried along with it. NaNs are noticed by a sum of all that was read,
/// and at edges the value of padding is; such rows are for the careful path.
template <class T, WinnerUse use>
class FusedWinners {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using Bits = typename Order<T>::Bits;
  using Number = TapOf<T>;
  static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
  static constexpr bool carries_numbers = use == WinnerUse::indices;
  using Carried = std::conditional_t<carries_numbers, Number, T>;
  using DCarried = hn::ScalableTag<Carried>;
  using VCarried = hn::Vec<DCarried>;

  /// Winners are the largest of the elements with the bits of `flips` flipped.
  FusedWinners(const TangentJob& job, Bits flips)
      : job_(job), rows_(job.rows), axis_(job.rows.horizontal.window), inner_(job.rows.inner.extent), flips_(flips) {
    const bool is_flat = job.index_kind == IndexKind::flat;
    if (job.use != use || !rows_.in_is_packed() || !tangent_out_is_packed(rows_)) return;
    if (axis_.adaptive || rows_.tap_count > most_taps) return;
    if constexpr (carries_numbers) {
      if (!(is_flat || job.index_kind == IndexKind::u8) || !rows_.out_is_packed()) return;
      if (is_flat && !can_number_cells(rows_)) return;
      second_size_ = is_flat ? sizeof(std::int64_t) : 1;
      numbering_ = is_flat ? Numbering::cells : Numbering::taps;
    } else {
      if (!tangent_in_is_packed(rows_)) return;
      second_size_ = sizeof(T);
    }
    in_lanes_ = inner_ >= lanes && rows_.tap_count <= few_taps;
    narrow_ = is_common && inner_ == 1 && is_narrow();
    along_ = inner_ == 1 && (narrow_ || can_move_lanes());
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
  /// more. Tangents cannot be had that way.
  static constexpr Index few_taps = carries_numbers ? 8 : 32, most_taps = 64;
  static constexpr Index most_rows = 16;  ///< that are made together, and made again where there is a NaN
  /// Other scalars have fewer constants in their loops, for the compiler's sake.
  static constexpr bool is_common = std::is_same_v<T, float> && lanes == 8;

  /// Windows along a row, of which one cell at most is on padding at either end.
  bool can_move_lanes() const {
    if (axis_.kernel < 2 || axis_.kernel > 3 || axis_.stride > 2 || axis_.dilation != 1) return false;
    if (axis_.output < lanes || axis_.input < (lanes - 1) * axis_.stride + axis_.kernel) return false;
    const Index beyond = axis_.start(axis_.output - 1) + axis_.kernel - axis_.input;
    return axis_.lo <= (axis_.kernel == 2 && axis_.stride == 2 ? 0 : 1) && beyond <= 1;
  }
  /// Rows of less than a vector of outputs, but more than half of one: two taps at stride 2, all on the input.
  bool is_narrow() const {
    return axis_.output < lanes && axis_.output >= lanes / 2 && axis_.kernel == 2 && axis_.stride == 2 &&
           axis_.dilation == 1 && axis_.lo == 0 && 2 * axis_.output <= axis_.input;
  }

  /// The input rows of a window, in row-major order of their taps: where they are, and what they carry: rows of
  /// tangents, or what they add to the number of a winner. Numbers are those of taps, or of cells relative to tap 0.
  struct Window {
    const T* row[most_taps];
    std::conditional_t<carries_numbers, Number, const T*> carried[most_taps];
    int count = 0;
  };
  void gather(const RowCursor& cursor, int axis, const T* base, const T* tangents, Index number, Window& window) const {
    if (axis == rows_.vertical_count) {
      window.row[window.count] = base;
      if constexpr (carries_numbers)
        window.carried[window.count++] = static_cast<Number>(number);
      else
        window.carried[window.count++] = tangents;
      return;
    }
    const PooledAxis& vertical = rows_.vertical[axis];
    const Taps taps = vertical.window.taps(cursor.vertical_position(axis));
    for (Index r = 0; r < taps.count; ++r) {
      const Index cell = taps.first + r * taps.step;
      gather(cursor, axis + 1, base + cell * vertical.stride.in, tangents + cell * vertical.stride.tangent_in,
             number + (taps.first_tap + r) * number_weight(vertical, numbering_), window);
    }
  }

  /// Some rows that follow one another: where the next is, and where its windows begin in a plane.
  struct Run {
    Index count, in_step = 0, tangent_step = 0, out_step = 0, second_step = 0, cell_step = 0;
    T* out;            ///< null if nobody asks for values
    char* second;      ///< indices or tangents
    Index first_cell;  ///< of tap 0 of the first window
  };

  bool make(const RowCursor& cursor, Index count) const {
    Window window;
    const Strides at = cursor.offset();
    gather(cursor, 0, static_cast<const T*>(job_.in) + at.in,
           carries_numbers ? nullptr : static_cast<const T*>(job_.tangent_in) + at.tangent_in, 0, window);
    Run run{.count = count,
            .out = job_.out != nullptr ? static_cast<T*>(job_.out) + at.out : nullptr,
            .second = static_cast<char*>(job_.tangent_out) + at.tangent_out * second_size_,
            .first_cell =
                window_start(rows_, cursor, [](const PooledAxis& axis) { return axis.cell_stride; }) + axis_.start(0)};
    if (rows_.vertical_count > 0) {
      const PooledAxis& last = rows_.vertical[rows_.vertical_count - 1];
      run.in_step = last.window.stride * last.stride.in;
      run.tangent_step = last.window.stride * last.stride.tangent_in;
      run.out_step = last.stride.out;
      run.second_step = last.stride.tangent_out * second_size_;
      run.cell_step = last.window.stride * last.cell_stride;
    }
    if constexpr (is_common)
      if (flips_ == 0) return make_run<false>(window, run);
    return make_run<true>(window, run);
  }

  /// `flips` is false if no bit of the elements is to be flipped.
  template <bool flips>
  HWY_INLINE bool make_run(const Window& window, const Run& run) const {
    if (in_lanes_) return make_lanes<flips>(window, run);
    if constexpr (is_common)
      if (narrow_) return window.count == 2 ? make_narrow<flips, 2>(window, run) : make_narrow<flips, 0>(window, run);
    if (axis_.kernel == 2)
      return axis_.stride == 1 ? make_along<flips, 2, 1>(window, run) : make_along<flips, 2, 2>(window, run);
    return axis_.stride == 1 ? make_along<flips, 3, 1>(window, run) : make_along<flips, 3, 2>(window, run);
  }

  /// The best of some taps that come in row-major order, and a sum that is a NaN if one of them was. Infinities of both
  /// signs add up to one as well; that only costs time.
  struct Best {
    V value, sum;
    VCarried carried;
    HWY_INLINE Best(V first, VCarried with) : value(first), sum(first), carried(with) {}
    HWY_INLINE void take(V candidate, VCarried with) {
      const auto wins = hn::Gt(candidate, value);
      value = hn::Max(candidate, value);
      carried = hn::IfThenElse(hn::RebindMask(DCarried(), wins), with, carried);
      if constexpr (std::is_floating_point_v<T>) sum = hn::Add(sum, candidate);
    }
  };

  static HWY_INLINE V identity() { return hn::Set(D(), Combiner<Combine::max, Nan::propagate, T>::identity()); }
  static HWY_INLINE VCarried number(Index n) { return hn::Set(DCarried(), static_cast<Carried>(n)); }
  template <bool flips>
  HWY_INLINE V flip(V v) const {
    if constexpr (flips) return hn::Xor(v, hn::BitCast(D(), hn::Set(hn::ScalableTag<Bits>(), flips_)));
    return v;
  }

  /// Writes neighbouring outputs from one on; `cells` is where their windows begin. Those of the upper half of the
  /// vector begin at `upper`.
  template <bool flips>
  HWY_INLINE void store(const Best& best, VCarried cells, const Run& run, Index at, Index upper = lanes / 2) const {
    if constexpr (carries_numbers) {
      if (run.out != nullptr) store_halves(flip<flips>(best.value), run.out + at, upper);
      if (numbering_ == Numbering::cells)
        store_flat(hn::Add(best.carried, cells), reinterpret_cast<std::int64_t*>(run.second) + at, upper);
      else
        store_taps(best.carried, reinterpret_cast<std::uint8_t*>(run.second) + at, upper);
    } else {
      store_halves(best.carried, reinterpret_cast<T*>(run.second) + at, upper);
    }
  }
  static HWY_INLINE void store_halves(V v, T* to, Index upper) {
    const D d;
    const hn::Half<D> half;
    if (upper == lanes / 2) return hn::StoreU(v, d, to);
    hn::StoreU(hn::LowerHalf(half, v), half, to);
    hn::StoreU(hn::UpperHalf(half, v), half, to + upper);
  }
  static HWY_INLINE void store_flat(VCarried flat, std::int64_t* to, [[maybe_unused]] Index upper) {
    if constexpr (sizeof(T) == 8) {
      hn::StoreU(flat, DCarried(), to);
    } else {
      const hn::ScalableTag<std::int64_t> wide;
      const hn::Half<DCarried> half;
      hn::StoreU(hn::PromoteTo(wide, hn::LowerHalf(half, flat)), wide, to);
      hn::StoreU(hn::PromoteTo(wide, hn::UpperHalf(half, flat)), wide, to + upper);
    }
  }
  static HWY_INLINE void store_taps(VCarried taps, std::uint8_t* to, Index upper) {
    const hn::Rebind<std::uint8_t, DCarried> narrow;
    const auto bytes = hn::TruncateTo(narrow, hn::BitCast(hn::ScalableTag<Bits>(), taps));
    if (upper == lanes / 2) return hn::StoreU(bytes, narrow, to);
    std::uint8_t both[lanes];
    hn::StoreU(bytes, narrow, both);
    std::memcpy(to, both, lanes / 2);
    std::memcpy(to + upper, both + lanes / 2, lanes / 2);
  }

  // ---- outputs side by side ----

  /// Cells of a row from one on.
  struct Plainly {
    HWY_INLINE V operator()(const T* row, Index cell) const { return hn::LoadU(D(), row + cell); }
  };
  /// The same where the first may be before the row, and the last behind it.
  struct WithCare {
    Index length;
    V padding;
    HWY_INLINE V operator()(const T* row, Index cell) const {
      if (cell < 0) return slide<static_cast<int>(lanes) - 1>(D(), hn::LoadU(D(), row), padding);
      if (cell + lanes > length) return slide<1>(D(), padding, hn::LoadU(D(), row + length - lanes));
      return hn::LoadU(D(), row + cell);
    }
  };

  /// The columns of neighbouring outputs in one row.
  template <class Vector>
  struct Columns {
    Vector first, second, third;
  };
  template <int kernel, int stride, class Load>
  static HWY_INLINE Columns<V> columns_of(const T* row, Index cell, const Load& load) {
    const D d;
    if constexpr (stride == 1) {
      const V second = load(row, cell + 1);
      return {load(row, cell), second, kernel == 3 ? load(row, cell + kernel - 1) : second};
    } else if constexpr (kernel == 2) {
      return pairs_of(row, cell, cell + lanes, load);
    } else {
      const V low = load(row, cell + 1), high = load(row, cell + 1 + lanes);
      return {hn::ConcatEven(d, load(row, cell + lanes), load(row, cell)), hn::ConcatEven(d, high, low),
              hn::ConcatOdd(d, high, low)};
    }
  }
  /// Two columns at stride 2, of outputs whose upper half may be anywhere.
  template <class Load>
  static HWY_INLINE Columns<V> pairs_of(const T* row, Index cell, Index upper_cell, const Load& load) {
    const D d;
    const V low = load(row, cell), high = load(row, upper_cell), odd = hn::ConcatOdd(d, high, low);
    return {hn::ConcatEven(d, high, low), odd, odd};
  }
  static HWY_INLINE Columns<VCarried> numbers_of(Number first) {
    const VCarried at = number(static_cast<Index>(first)), next = hn::Add(at, number(1));
    return {at, next, hn::Add(next, number(1))};
  }

  /// A row of outputs and what it is made of; `R` is the number of input rows of a window, or 0 for any.
  template <bool flips, int R>
  struct Row {
    const FusedWinners& winners;
    Window window;
    Run run;
    V seen = hn::Zero(D());

    Row(const FusedWinners& all, const Window& given, const Run& given_run) : winners(all), run(given_run) {
      window.count = R > 0 ? R : given.count;
      std::copy_n(given.row, window.count, window.row);
      std::copy_n(given.carried, window.count, window.carried);
    }

    /// Looks at the columns of all rows of a window: `columns(row)` are those of one.
    template <int kernel, class ColumnsOf>
    HWY_INLINE Best best_of(const ColumnsOf& columns) {
      const int count = R > 0 ? R : window.count;
      const auto with = [&](int r) HWY_ATTR {
        if constexpr (carries_numbers)
          return numbers_of(window.carried[r]);
        else
          return columns(window.carried[r]);
      };
      const auto take = [&](Best& best, const Columns<V>& values, const Columns<VCarried>& carried) HWY_ATTR {
        best.take(winners.template flip<flips>(values.second), carried.second);
        if constexpr (kernel == 3) best.take(winners.template flip<flips>(values.third), carried.third);
      };
      const Columns<V> first = columns(window.row[0]);
      const Columns<VCarried> carried = with(0);
      Best best(winners.template flip<flips>(first.first), carried.first);
      take(best, first, carried);
      for (int r = 1; r < count; ++r) {
        const Columns<V> values = columns(window.row[r]);
        const Columns<VCarried> others = with(r);
        best.take(winners.template flip<flips>(values.first), others.first);
        take(best, values, others);
      }
      if constexpr (std::is_floating_point_v<T>) seen = hn::Add(seen, best.sum);
      return best;
    }

    /// Neighbouring outputs; answers their values.
    template <int kernel, int stride, class Load>
    HWY_INLINE V make(Index output, const Load& load) {
      const Index cell = output * stride - winners.axis_.lo;
      const Best best = best_of<kernel>(
          [&](const T* row) HWY_ATTR { return FusedWinners::template columns_of<kernel, stride>(row, cell, load); });
      const VCarried steps = hn::Mul(hn::Iota(DCarried(), 0), number(stride));
      winners.template store<flips>(best, hn::Add(steps, number(run.first_cell + output * stride)), run, output);
      return best.value;
    }

    void next() {
      for (int i = 0; i < (R > 0 ? R : window.count); ++i) {
        window.row[i] += run.in_step;
        if constexpr (!carries_numbers) window.carried[i] += run.tangent_step;
      }
      next_row(run);
    }
    bool saw_nan() const {
      if constexpr (std::is_floating_point_v<T>) return !hn::AllFalse(D(), hn::IsNaN(seen));
      return false;
    }
  };

  template <bool flips, int kernel, int stride>
  HWY_INLINE bool make_along(const Window& window, const Run& run) const {
    if constexpr (is_common)
      if (window.count == kernel) return make_outputs<flips, kernel, stride, kernel>(window, run);
    return make_outputs<flips, kernel, stride, 0>(window, run);
  }

  template <bool flips, int kernel, int stride, int R>
  HWY_NOINLINE bool make_outputs(const Window& window, const Run& run) const {
    const D d;
    Row<flips, R> row(*this, window, run);
    const Index outputs = axis_.output;
    constexpr Index reach = (lanes - 1) * stride + kernel;  // cells under a vector of outputs
    const Index last_plain = std::min((axis_.input - reach + axis_.lo) / stride, outputs - lanes);
    V at_edges = hn::Zero(d);
    const WithCare with_care{axis_.input, flip<flips>(identity())};
    for (Index r = 0; r < run.count; ++r, row.next()) {
      Index output = 0;
      if (axis_.lo > 0) {
        at_edges = hn::Or(at_edges, is_padding(row.template make<kernel, stride>(0, with_care)));
        output = lanes;
      }
      for (; output <= last_plain; output += lanes) row.template make<kernel, stride>(output, Plainly());
      if (output < outputs)  // the last vector may make some outputs again
        at_edges = hn::Or(at_edges, is_padding(row.template make<kernel, stride>(outputs - lanes, with_care)));
    }
    return hn::AllFalse(d, hn::MaskFromVec(at_edges)) && !row.saw_nan();
  }
  /// Marks values that padding may have won.
  static HWY_INLINE V is_padding(V value) { return hn::VecFromMask(D(), hn::Eq(value, identity())); }

  /// Both halves of a vector of outputs are stored, and may overlap.
  template <bool flips, int R>
  HWY_NOINLINE bool make_narrow(const Window& window, const Run& run) const {
    const DCarried d;
    Row<flips, R> row(*this, window, run);
    const Index upper = axis_.output - lanes / 2;
    const auto in_lower = hn::FirstN(d, static_cast<std::size_t>(lanes / 2));
    const VCarried outputs =
        hn::IfThenElse(in_lower, hn::Iota(d, 0), hn::Iota(d, static_cast<Carried>(upper - lanes / 2)));
    for (Index r = 0; r < run.count; ++r, row.next()) {
      const Best best =
          row.template best_of<2>([&](const T* from) HWY_ATTR { return pairs_of(from, 0, 2 * upper, Plainly()); });
      store<flips>(best, hn::Add(hn::Add(outputs, outputs), number(row.run.first_cell)), row.run, 0, upper);
    }
    return !row.saw_nan();
  }

  static void next_row(Run& run) {
    if (run.out != nullptr) run.out += run.out_step;
    run.second += run.second_step;
    run.first_cell += run.cell_step;
  }

  // ---- lanes side by side ----

  template <bool flips>
  HWY_NOINLINE bool make_lanes(const Window& window, const Run& given) const {
    const D d;
    Run run = given;
    const Index inner = inner_, each = number_weight(rows_.horizontal, numbering_);
    V seen = hn::Zero(d);
    for (Index row = 0; row < run.count; ++row, next_row(run))
      for (Index output = 0; output < axis_.output; ++output) {
        const Taps taps = axis_.taps(output);
        const Index step = taps.step * inner, first_number = taps.first_tap * each;
        const VCarried cells = number(run.first_cell + output * axis_.stride);
        for (Index next = 0; next < inner; next += lanes) {
          const Index lane = std::min(next, inner - lanes);  // the last vector may make some outputs again
          const Index from = taps.first * inner + lane;
          const auto value = [&](int r, Index t) HWY_ATTR {
            return flip<flips>(hn::LoadU(d, window.row[r] + row * run.in_step + from + t * step));
          };
          const auto with = [&](int r, Index t) HWY_ATTR {
            if constexpr (carries_numbers)
              return number(static_cast<Index>(window.carried[r]) + first_number + t * each);
            else
              return hn::LoadU(d, window.carried[r] + row * run.tangent_step + from + t * step);
          };
          Best best(value(0, 0), with(0, 0));
          for (Index t = 1; t < taps.count; ++t) best.take(value(0, t), with(0, t));
          for (int r = 1; r < window.count; ++r)
            for (Index t = 0; t < taps.count; ++t) best.take(value(r, t), with(r, t));
          if constexpr (std::is_floating_point_v<T>) seen = hn::Add(seen, best.sum);
          store<flips>(best, cells, run, output * inner + lane);
        }
      }
    if constexpr (std::is_floating_point_v<T>) return hn::AllFalse(d, hn::IsNaN(seen));
    return true;
  }

  const TangentJob& job_;
  const Rows& rows_;
  const Axis& axis_;
  const Index inner_;
  const Bits flips_;
  Index second_size_ = 1;  ///< of an index or a tangent
  Numbering numbering_ = Numbering::taps;
  bool in_lanes_ = false, along_ = false, narrow_ = false;  ///< how rows are made; not if none of the first two
  Index alone_ = 0;                                         ///< rows that are to be made one by one
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FUSED_WINNERS_INL_H_
