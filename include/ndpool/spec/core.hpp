// Forward, JVP and VJP of any reducer on any geometry. No checks, no heap, usable in constant expressions and
// without an operating system; spec/maps.hpp has the checked entry points, typed.hpp those with compile-time shapes.
//
// A reducer is any type with
//   State identity(), State lift(x, tap number), State combine(State, State)         the fold
//   Summary finish(State, TapCounts), Scalar value(Summary)                          the value
//   weight(Summary, x, tap number), scale(Summary)                                   dy/dx_i = weight / scale
//   Index winner(Summary)                 optional: the tap that indices name, -1 for none
//   Fault fault()                         optional: what is wrong with its parameters
//   bool rejects_empty_windows()          optional: windows without an input element are an error
//   bool has_identity_value()             optional: false if it has no value to give to an empty window
//   bool beats(x, x)                      optional: the value is the first tap that no other beats (max, min)
// and JVP and VJP follow, adjoint by construction because both read the same weights.
#pragma once

#include <ndpool/spec/result.hpp>
#include <ndpool/spec/scalar.hpp>
#include <ndpool/spec/walk.hpp>
#include <ndpool/view.hpp>

namespace ndpool::spec::core {

/// What is wrong with using a reducer on a geometry.
template <class Reducer, int Capacity>
constexpr Fault check_reducer(const BasicGeometry<Capacity>& geometry, const Reducer& reducer) {
  if constexpr (requires { reducer.fault(); })
    if (Fault fault = reducer.fault()) return fault;
  if constexpr (requires { reducer.rejects_empty_windows(); })
    if (reducer.rejects_empty_windows()) return geometry.empty_window();
  return {};
}

/// What is wrong with asking for the value in addition. Derivatives do not need it: an empty window has none.
template <class Reducer, int Capacity>
constexpr Fault check_value(const BasicGeometry<Capacity>& geometry, const Reducer& reducer) {
  if (Fault fault = check_reducer(geometry, reducer)) return fault;
  if constexpr (requires { reducer.has_identity_value(); })
    if (Fault fault = geometry.empty_window(); fault && !reducer.has_identity_value())
      return {Code::no_identity, Argument::empty, fault.axis, {fault.values[1]}};
  return {};
}

/// An element of x as the scalar of a reducer, which may be wider.
template <class Reducer, class X>
constexpr decltype(auto) as_scalar(const X& x) {
  if constexpr (requires { typename Reducer::Scalar; })
    if constexpr (!std::same_as<typename Reducer::Scalar, X>)
      return static_cast<typename Reducer::Scalar>(x);
    else
      return (x);
  else
    return (x);
}

/// Folds one window of x.
template <class Reducer, class X, int Capacity>
constexpr typename Reducer::Summary summarise(const Reducer& reducer, const WindowAt<Capacity>& window,
                                              const View<X, Capacity>& x) {
  using State = typename Reducer::State;
  const State state = fold_window(
      window, State(reducer.identity()),
      [&](const Tap<Capacity>& tap) -> State { return reducer.lift(as_scalar<Reducer>(x[tap.position]), tap.number); },
      [&](const State& earlier, const State& later) -> State { return reducer.combine(earlier, later); });
  return reducer.finish(state, window.counts());
}

/// y = R(x), window by window; `also(output position, summary)` may keep more of a window than its value.
template <class Reducer, class X, class Y, int Capacity, class Also>
constexpr void forward(const BasicGeometry<Capacity>& geometry, const Reducer& reducer, const View<X, Capacity>& x,
                       const View<Y, Capacity>& y, Also also) {
  for_each_position(geometry.output_shape(), [&](const Extents<Capacity>& output) {
    const auto summary = summarise(reducer, WindowAt<Capacity>(geometry, output), x);
    y[output] = result<Y>(reducer, summary);
    also(output, summary);
  });
}

/// The flat index of the winner of a window, -1 if there is none.
template <class Reducer, int Capacity>
constexpr Index winner_index(const BasicGeometry<Capacity>& geometry, const Reducer& reducer,
                             const typename Reducer::Summary& summary, const Extents<Capacity>& output) {
  const Index tap = reducer.winner(summary);
  return tap < 0 ? -1 : geometry.flat_from_tap(output, tap);
}

/// dy = sum of weight * dx / scale. A tap with weight 0 takes no part, whatever its tangent is.
template <class Reducer, class X, class DX, class DY, int Capacity>
constexpr void jvp(const BasicGeometry<Capacity>& geometry, const Reducer& reducer, const View<X, Capacity>& x,
                   const View<DX, Capacity>& dx, const View<DY, Capacity>& dy) {
  using Number = Accumulator<WorkScalar<DX, DY>>;
  for_each_position(geometry.output_shape(), [&](const Extents<Capacity>& output) {
    const WindowAt<Capacity> window(geometry, output);
    const auto summary = summarise(reducer, window, x);
    const Number sum = fold_window(
        window, Number(0),
        [&](const Tap<Capacity>& tap) -> Number {
          const auto weight = reducer.weight(summary, as_scalar<Reducer>(x[tap.position]), tap.number);
          if (weight == decltype(weight)(0)) return Number(0);
          return Number(static_cast<Number>(weight) * static_cast<Number>(dx[tap.position]));
        },
        [](const Number& a, const Number& b) -> Number { return a + b; });
    const Number scale = static_cast<Number>(reducer.scale(summary));
    // A window without a tap is constant. A divisor that is given still decides the sign of its zero, as in the value.
    const bool constant = window.counts().real == 0 && (scale == Number(0) || !(scale == scale));
    if (constant)
      dy[output] = DY(0);
    else
      dy[output] = convert<DY>(Number(sum / scale));
  });
}

/// gx += weight * (gy / scale), window by window in row-major order of the outputs. `gx` holds accumulators, zeroed by
/// the caller, so that a short float is rounded once, at the end.
template <class Reducer, class X, class GY, class GX, int Capacity>
constexpr void add_vjp(const BasicGeometry<Capacity>& geometry, const Reducer& reducer, const View<X, Capacity>& x,
                       const View<GY, Capacity>& gy, const View<GX, Capacity>& gx) {
  for_each_position(geometry.output_shape(), [&](const Extents<Capacity>& output) {
    const WindowAt<Capacity> window(geometry, output);
    if (window.counts().real == 0) return;
    const auto summary = summarise(reducer, window, x);
    const GX share = static_cast<GX>(gy[output]) / static_cast<GX>(reducer.scale(summary));
    for_each_tap(window, [&](const Tap<Capacity>& tap) {
      const auto weight = reducer.weight(summary, as_scalar<Reducer>(x[tap.position]), tap.number);
      if (!(weight == decltype(weight)(0))) gx[tap.position] += GX(static_cast<GX>(weight) * share);
    });
  });
}

}  // namespace ndpool::spec::core
