// Per-target code: winners of max and min in registers: every tap of a window is compared in row-major order, and what
// is made of the winners is written at once. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_FUSED_WINNERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FUSED_WINNERS_INL_H_
#undef NDPOOL_FUSED_WINNERS_INL_H_
#else
#define NDPOOL_FUSED_WINNERS_INL_H_
#endif

#include "kernels/argmax/winner_rows-inl.h"
#include "kernels/forward/planes-inl.h"

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
/// The number of a winner, or its tangent, is carried along with it. NaNs are noticed, and at edges the value of
/// padding is; such rows are for the careful path.
template <class T, WinnerUse use>
class FusedWinners {
 public:
  using Vectors = WinnerVectors<T, use>;
  using D = typename Vectors::D;
  using V = typename Vectors::V;
  using Bits = typename Vectors::Bits;
  using Window = typename Vectors::Window;
  using Run = typename Vectors::Run;
  static constexpr Index lanes = Vectors::lanes;
  static constexpr bool carries_numbers = Vectors::carries_numbers;

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
    asked_ = leaves_cache(rows_, sizeof(T)) ? asked_far : asked_near;
    in_lanes_ = inner_ >= lanes && rows_.tap_count <= few_taps;
    narrow_ = is_common && inner_ == 1 && is_narrow();
    along_ = inner_ == 1 && (narrow_ || can_move_lanes());
  }

  /// Makes rows from the cursor's on, up to `most`. Answers how many; 0 if this one is for another path.
  Index operator()(const RowCursor& cursor, Index most) {
    if (!in_lanes_ && !along_) return 0;
    const Index count = run_length(rows_, cursor, std::min(most, caution_.most(most_rows)));
    flag_.take();
    if (make(cursor, count) && !flag_.take()) {
      caution_.made(count);
      return count;
    }
    if (count == 1) {
      caution_.made(1);
      return 0;
    }
    caution_.failed(count);
    return (*this)(cursor, most);
  }

 private:
  /// Windows of lanes are compared tap by tap, which is slower than row by row and column by column where there are
  /// more. Tangents cannot be had that way.
  static constexpr Index few_taps = carries_numbers ? 8 : 32, most_taps = Vectors::most_taps;
  static constexpr Index most_rows = 1024;  ///< that are made together, and made again where there is a NaN
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

  /// `tangent` is where the tangents of `base` are in their array.
  void gather(const RowCursor& cursor, int axis, const T* base, Index tangent, Index number, Window& window) const {
    if (axis == rows_.vertical_count) {
      window.row[window.count] = base;
      if constexpr (carries_numbers)
        window.carried[window.count++] = static_cast<typename Vectors::Number>(number);
      else
        window.carried[window.count++] = static_cast<const T*>(job_.tangent_in) + tangent;
      return;
    }
    const PooledAxis& vertical = rows_.vertical[axis];
    const Taps taps = vertical.window.taps(cursor.vertical_position(axis));
    for (Index r = 0; r < taps.count; ++r) {
      const Index cell = taps.first + r * taps.step;
      gather(cursor, axis + 1, base + cell * vertical.stride.in, tangent + cell * vertical.stride.tangent_in,
             number + (taps.first_tap + r) * number_weight(vertical, numbering_), window);
    }
  }

  bool make(const RowCursor& cursor, Index count) const {
    Window window;
    const Strides at = cursor.offset();
    gather(cursor, 0, static_cast<const T*>(job_.in) + at.in, at.tangent_in, 0, window);
    Run run{.count = count,
            .out = job_.out != nullptr ? static_cast<T*>(job_.out) + at.out : nullptr,
            .second = static_cast<char*>(job_.tangent_out) + at.tangent_out * second_size_,
            .first_cell =
                window_start(rows_, cursor, [](const PooledAxis& axis) { return axis.cell_stride; }) + axis_.start(0),
            .numbering = numbering_,
            .flips = flips_,
            .asked = asked_};
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
      if (narrow_)
        return window.count == 2 ? AlongRows::template make_narrow<flips, 2>(axis_, window, run)
                                 : AlongRows::template make_narrow<flips, 0>(axis_, window, run);
    if (axis_.kernel == 2)
      return axis_.stride == 1 ? make_along<flips, 2, 1>(window, run) : make_along<flips, 2, 2>(window, run);
    return axis_.stride == 1 ? make_along<flips, 3, 1>(window, run) : make_along<flips, 3, 2>(window, run);
  }

  using AlongRows = WinnerRows<T, use>;
  template <bool flips, int kernel, int stride>
  HWY_INLINE bool make_along(const Window& window, const Run& run) const {
    if constexpr (is_common)
      if (window.count == kernel) return AlongRows::template make<flips, kernel, stride, kernel>(axis_, window, run);
    return AlongRows::template make<flips, kernel, stride, 0>(axis_, window, run);
  }

  /// Lanes side by side.
  template <bool flips>
  HWY_NOINLINE bool make_lanes(const Window& window, const Run& given) const {
    const D d;
    Run run = given;
    const Index inner = inner_, each = number_weight(rows_.horizontal, numbering_);
    V seen = hn::Zero(d);
    for (Index row = 0; row < run.count; ++row, run.next())
      for (Index output = 0; output < axis_.output; ++output) {
        const Taps taps = axis_.taps(output);
        const Index step = taps.step * inner, first_number = taps.first_tap * each;
        const Index first_cell = run.first_cell + output * axis_.stride;
        if constexpr (is_common && carries_numbers && !Vectors::watches)
          if (window.count == 2 && taps.count == 2) {
            make_four<flips>(window, run, row, taps, output);
            continue;
          }
        for (Index next = 0; next < inner; next += lanes) {
          const Index lane = std::min(next, inner - lanes);  // the last vector may make some outputs again
          const Index from = taps.first * inner + lane;
          V sum = hn::Zero(d);
          const auto value = [&](int r, Index t) HWY_ATTR {
            const V v = hn::LoadU(d, window.row[r] + row * run.in_step + from + t * step);
            if constexpr (Vectors::watches) sum = hn::Add(sum, v);
            return Vectors::template flip<flips>(v, run);
          };
          const auto with = [&](int r, Index t) HWY_ATTR {
            if constexpr (carries_numbers)
              return Vectors::number(static_cast<Index>(window.carried[r]) + first_number + t * each);
            else
              return hn::LoadU(d, window.carried[r] + row * run.tangent_step + from + t * step);
          };
          typename Vectors::Best best{value(0, 0), with(0, 0)};
          for (Index t = 1; t < taps.count; ++t) best.take(value(0, t), with(0, t));
          for (int r = 1; r < window.count; ++r)
            for (Index t = 0; t < taps.count; ++t) best.take(value(r, t), with(r, t));
          if constexpr (Vectors::watches) seen = hn::Add(seen, sum);
          Vectors::template store<flips, false>(best, run, output * inner + lane, first_cell, 0);
        }
      }
    if constexpr (Vectors::watches) return hn::AllFalse(d, hn::IsNaN(seen));
    return true;
  }

  /// All lanes of an output that sees two columns of two rows.
  template <bool flips>
  HWY_INLINE void make_four(const Window& window, const Run& given, Index row, const Taps& taps, Index output) const {
    using Best = typename Vectors::Best;
    const Run run = given;  // what the loop needs is its own, so that it can live in registers
    const Index inner = inner_, each = number_weight(rows_.horizontal, numbering_), step = taps.step * inner;
    const Index from = row * run.in_step + taps.first * inner, first_cell = run.first_cell + output * axis_.stride;
    const T *const upper = window.row[0] + from, *const lower = window.row[1] + from;
    const auto number = [&](int r, Index t) HWY_ATTR {
      return Vectors::number(static_cast<Index>(window.carried[r]) + (taps.first_tap + t) * each);
    };
    const auto first = number(0, 0), second = number(0, 1), third = number(1, 0), fourth = number(1, 1);
    for (Index next = 0; next < inner; next += lanes) {
      const Index lane = std::min(next, inner - lanes);  // the last vector may make some outputs again
      const auto value = [&](const T* at)
                             HWY_ATTR { return Vectors::template flip<flips>(hn::LoadU(D(), at + lane), run); };
      Best best{value(upper), first}, below{value(lower), third};
      best.take(value(upper + step), second);
      below.take(value(lower + step), fourth);
      best.take(below.value, below.carried);
      Vectors::template store<flips, false>(best, run, output * inner + lane, first_cell, 0);
    }
  }

  const TangentJob& job_;
  const Rows& rows_;
  const Axis& axis_;
  const Index inner_;
  const Bits flips_;
  Index second_size_ = 1;  ///< of an index or a tangent
  Index asked_ = 0;        ///< bytes of memory that are asked for ahead
  Numbering numbering_ = Numbering::taps;
  bool in_lanes_ = false, along_ = false, narrow_ = false;  ///< how rows are made; not if none of the first two
  Caution caution_;
  const typename Vectors::Flag flag_{};
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FUSED_WINNERS_INL_H_
