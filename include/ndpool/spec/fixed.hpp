// The loops of spec/walk.hpp for packed arrays and a geometry that is known to the compiler: what the geometry answers
// becomes constants, windows of few taps are unrolled, and only windows at padded edges are looked up at run time. The
// order of combines is that of spec/walk.hpp, so the results have the same bits.
//
// `G` is a type whose constant `geometry` is a BasicGeometry.
#pragma once

#include <ndpool/spec/fixed_axis.hpp>
#include <ndpool/spec/scalar.hpp>
#include <ndpool/spec/walk.hpp>

namespace ndpool::spec {

template <class T>
struct Max;
template <class T>
struct Min;
template <class T>
struct LargestMagnitude;

}  // namespace ndpool::spec

namespace ndpool::spec::detail::fixed {

/// Where the walk over the outputs is: the offset of the cell under tap 0, and what is real on the axes with clipped
/// windows. Axes are named by constants, never by a loop, so that compilers keep all of it in registers.
template <class G>
struct At {
  int cell = 0;
  Clip clips[static_cast<unsigned>(G::geometry.rank)] = {};

  template <int A>
  [[gnu::always_inline]] constexpr Clip clip() const {
    if constexpr (AxisOf<G, A>::is_full)
      return {0, AxisOf<G, A>::kernel, AxisOf<G, A>::kernel};
    else
      return clips[A];
  }

  /// The next axis inwards, at one of its outputs.
  template <int A>
  [[gnu::always_inline]] constexpr At on(int output) const {
    At there = *this;
    there.cell += AxisOf<G, A>::start(output);
    if constexpr (!AxisOf<G, A>::is_full) there.clips[A] = AxisOf<G, A>::clip(output);
    return there;
  }

  /// Taps on cells, and on cells or padding, multiplied as ints: what microcontrollers are fast at.
  [[gnu::always_inline]] constexpr TapCounts counts() const {
    return [&]<int... A>(std::integer_sequence<int, A...>) __attribute__((always_inline)) {
      const int real = (1 * ... * (clip<A>().end - clip<A>().first)), counted = (1 * ... * clip<A>().counted);
      return TapCounts{real, counted};
    }
    (std::make_integer_sequence<int, G::geometry.rank>{});
  }
};

/// Calls `visit(at)` for every output in row-major order.
template <class G, int A = 0, class Visit>
[[gnu::always_inline]] constexpr void for_each_window(const At<G>& at, Visit visit) {
  if constexpr (A == G::geometry.rank) {
    visit(at);
  } else {
    for (int output = 0; output < AxisOf<G, A>::trips; ++output)
      for_each_window<G, A + 1>(at.template on<A>(output), visit);
  }
}

/// Calls `visit(offset of the cell, tap number)` for every real tap of a window in row-major order.
template <class G, int A = 0, class Visit>
[[gnu::always_inline]] constexpr void for_each_tap(const At<G>& at, int offset, int number, Visit visit) {
  if constexpr (A == G::geometry.rank) {
    visit(offset, number);
  } else {
    using On = AxisOf<G, A>;
    if constexpr (On::is_full && taps_from<G, 0> <= unrolled_taps) {
      [&]<int... Tap>(std::integer_sequence<int, Tap...>) __attribute__((always_inline)) {
        (for_each_tap<G, A + 1>(at, offset + Tap * On::tap_step, number + Tap * On::tap_stride, visit), ...);
      }
      (std::make_integer_sequence<int, On::kernel>{});
    } else {
      for (int tap = at.template clip<A>().first; tap < at.template clip<A>().end; ++tap)
        for_each_tap<G, A + 1>(at, offset + tap * On::tap_step, number + tap * On::tap_stride, visit);
    }
  }
}

/// Folds windows in the order of WindowFold: the first axis first, `Count` taps split at the largest power of two
/// below.
template <class G, class Reducer, class X>
struct Fold {
  using State = typename Reducer::State;
  const Reducer& reducer;
  const X* x;

  [[gnu::always_inline]] constexpr typename Reducer::Summary operator()(const At<G>& at) const {
    return reducer.finish(fold_axis<G::geometry.rank - 1>(at, at.cell, 0), at.counts());
  }

 private:
  template <int A>
  [[gnu::always_inline]] constexpr State fold_axis(const At<G>& at, int offset, int number) const {
    if constexpr (A < 0) {
      return reducer.lift(x[offset], number);
    } else {
      using On = AxisOf<G, A>;
      // Bins differ by one cell, and where they are split depends on their own length.
      if constexpr (On::has_unequal_bins && On::kernel > 1)
        if (at.template clip<A>().end < On::kernel) return fold_taps<A, On::kernel - 1>(at, 0, offset, number);
      return fold_taps<A, On::kernel>(at, 0, offset, number);
    }
  }

  template <int A, int Count>
  [[gnu::always_inline]] constexpr State fold_taps(const At<G>& at, int first, int offset, int number) const {
    if constexpr (Count * taps_below<G, A> <= unrolled_taps)
      return split_taps<A, Count>(at, first, offset, number);
    else
      return called_taps<A, Count>(at, first, offset, number);
  }

  /// Long windows are calls of a few functions of lengths that are powers of two.
  template <int A, int Count>
  [[gnu::noinline]] constexpr State called_taps(const At<G>& at, int first, int offset, int number) const {
    return split_taps<A, Count>(at, first, offset, number);
  }

  template <int A, int Count>
  [[gnu::always_inline]] constexpr State split_taps(const At<G>& at, int first, int offset, int number) const {
    using On = AxisOf<G, A>;
    if constexpr (Count == 1) {
      if constexpr (!On::is_full && !On::axis.adaptive)
        if (first < at.template clip<A>().first || first >= at.template clip<A>().end) return reducer.identity();
      return fold_axis<A - 1>(at, offset, number);
    } else {
      constexpr int half = static_cast<int>(first_half(Count));
      const State earlier = fold_taps<A, half>(at, first, offset, number);
      const State later =
          fold_taps<A, Count - half>(at, first + half, offset + half * On::tap_step, number + half * On::tap_stride);
      return reducer.combine(earlier, later);
    }
  }
};

/// True of reducers whose value is the first tap, in row-major order, that no other beats. By the exact type: a reducer
/// that is derived from one of these may compute something else.
template <class Reducer>
inline constexpr bool is_selection = false;
template <class T>
inline constexpr bool is_selection<Max<T>> = true;
template <class T>
inline constexpr bool is_selection<Min<T>> = true;
template <class T>
inline constexpr bool is_selection<LargestMagnitude<T>> = true;

/// Those of scalars with an order.
template <class Reducer, class T>
concept Selects = is_selection<Reducer> && requires(const Reducer reducer, const T x) {
  reducer.beats(x, x);
};

template <class T>
struct Selected {
  T value;
  int tap;
};

/// The offset and the number of the first real tap of a window.
template <class G>
[[gnu::always_inline]] constexpr Selected<int> first_tap(const At<G>& at) {
  return [&]<int... A>(std::integer_sequence<int, A...>) __attribute__((always_inline)) {
    return Selected<int>{at.cell + (0 + ... + (at.template clip<A>().first * AxisOf<G, A>::tap_step)),
                         (0 + ... + (at.template clip<A>().first * AxisOf<G, A>::tap_stride))};
  }
  (std::make_integer_sequence<int, G::geometry.rank>{});
}

/// The tap of a window that beats all before it and is beaten by none behind it.
template <class G, class Reducer, class X>
[[gnu::always_inline]] constexpr Selected<X> select(const Reducer& reducer, const At<G>& at, const X* x) {
  const Selected<int> first = first_tap(at);
  Selected<X> best{reducer.lift(x[first.value], first.tap).value, first.tap};
  for_each_tap<G>(
      at, at.cell, 0, [&](int offset, int number) __attribute__((always_inline)) {
        const X value = reducer.lift(x[offset], number).value;
        if (reducer.beats(value, best.value)) best = {value, number};
      });
  return best;
}

/// y = R(x).
template <class G, class Reducer, class X, class Y>
[[gnu::always_inline]] constexpr void forward(const Reducer& reducer, const X* x, Y* y) {
  for_each_window<G>(
      {}, [&](const At<G>& at) __attribute__((always_inline)) {
        if constexpr (Selects<Reducer, X>)
          *y++ = static_cast<Y>(select<G>(reducer, at, x).value);
        else
          *y++ = static_cast<Y>(reducer.value(Fold<G, Reducer, X>{reducer, x}(at)));
      });
}

/// The same, and the winners: each is 1 + the number of its tap, so that 0 in memory that nothing has filled is none.
template <class G, class Reducer, class X, class Y, class Small>
[[gnu::always_inline]] constexpr void forward(const Reducer& reducer, const X* x, Y* y, Small* winners) {
  for_each_window<G>(
      {}, [&](const At<G>& at) __attribute__((always_inline)) {
        const Selected<X> best = select<G>(reducer, at, x);
        *y++ = static_cast<Y>(best.value);
        *winners++ = static_cast<Small>(best.tap + 1);
      });
}

/// Calls `visit(does it exist, its offset in the input)` for the winner of every output in row-major order.
template <class G, class Small, class Visit>
[[gnu::always_inline]] constexpr void for_each_winner(const Small* winners, Visit visit) {
  for_each_window<G>(
      {}, [&](const At<G>& at) __attribute__((always_inline)) {
        const unsigned winner = *winners++;
        visit(winner != 0, winner != 0 ? at.cell + tap_offset<G>(winner - 1) : 0);
      });
}

/// gx = the gradients of all outputs that each cell has won: the VJP of max and min from winners.
template <class G, class Small, class GY, class GX>
[[gnu::always_inline]] constexpr void vjp_from_winners(const Small* winners, const GY* gy, GX* gx) {
  for (int i = 0; i < cells<G>; ++i) gx[i] = GX(0);
  for_each_winner<G>(
      winners, [&](bool exists, int offset) __attribute__((always_inline)) {
        if (exists) gx[offset] += static_cast<GX>(*gy);
        ++gy;
      });
}

/// gx = (derivative of R)^T gy for sums and averages, whose weights are 1 and whose scale needs the counts alone.
template <class G, class Reducer, class GY, class GX>
[[gnu::always_inline]] constexpr void vjp_of_sum(const Reducer& reducer, const GY* gy, GX* gx) {
  if constexpr (!tiles<G>)
    for (int i = 0; i < cells<G>; ++i) gx[i] = GX(0);
  for_each_window<G>(
      {}, [&](const At<G>& at) __attribute__((always_inline)) {
        const GX share =
            static_cast<GX>(*gy++) / static_cast<GX>(reducer.scale(reducer.finish(reducer.identity(), at.counts())));
        for_each_tap<G>(
            at, at.cell, 0, [&](int offset, int) __attribute__((always_inline)) {
              if constexpr (tiles<G>)
                gx[offset] = GX(0) + share;  // added to nothing, so that -0 becomes 0 as it does in a sum
              else
                gx[offset] += share;
            });
      });
}

}  // namespace ndpool::spec::detail::fixed
