// The checked way into the spec: forward, forward with indices, JVP and VJP of any reducer on any geometry, on strided
// views. Every entry validates everything before it writes anything, and throws ndpool::Error.
#pragma once

#include <ndpool/error.hpp>
#include <ndpool/spec/cancellable.hpp>
#include <ndpool/spec/core.hpp>
#include <ndpool/spec/smooth_max.hpp>

#include <vector>

namespace ndpool::spec {

/// Resolves a Window, Adaptive or Global description for an array of `shape`; throws if it does not fit.
template <class Description>
Geometry make_geometry(const Description& description, const Shape& shape) {
  Geometry geometry;
  require(resolve(description, shape, geometry));
  return geometry;
}

/// Throws if `forward` would not be defined for these arguments.
template <class Reducer, class X, class Y>
void check_forward(const Geometry& geometry, const Reducer& reducer, const View<X>& x, const View<Y>& y) {
  require(core::check_value(geometry, reducer));
  require(check_view(x, geometry.input_shape(), Argument::x));
  require(check_output(y, geometry.output_shape(), Argument::y));
  require(check_overlap(y, x, Argument::y));
}

/// y = R(x) for every window. Cost: the number of taps.
template <class Reducer, class X, class Y>
void forward(const Geometry& geometry, const Reducer& reducer, const View<X>& x, const View<Y>& y) {
  check_forward(geometry, reducer, x, y);
  core::forward(geometry, reducer, x, y, [](const auto&, const auto&) {});
}

template <class Reducer, class X, class Y, class I>
void check_forward(const Geometry& geometry, const Reducer& reducer, const View<X>& x, const View<Y>& y,
                   const View<I>& indices) {
  const Argument argument = std::same_as<I, Index> ? Argument::indices : Argument::taps;
  check_forward(geometry, reducer, x, y);
  require(check_output(indices, geometry.output_shape(), argument));
  require(check_overlap(indices, x, argument));
  require(check_overlap(indices, y, argument));
}

/// The same, with the flat index of each winner (-1 for an empty window). For reducers that have winners.
template <class Reducer, class X, class Y>
void forward(const Geometry& geometry, const Reducer& reducer, const View<X>& x, const View<Y>& y,
             const View<Index>& indices) {
  check_forward(geometry, reducer, x, y, indices);
  core::forward(geometry, reducer, x, y, [&](const Shape& output, const auto& summary) {
    indices[output] = core::winner_index(geometry, reducer, summary, output);
  });
}

template <class Reducer, class X, class DX, class DY>
void check_jvp(const Geometry& geometry, const Reducer& reducer, const View<X>& x, const View<DX>& dx,
               const View<DY>& dy) {
  require(core::check_reducer(geometry, reducer));
  require(check_view(x, geometry.input_shape(), Argument::x));
  require(check_view(dx, geometry.input_shape(), Argument::dx));
  require(check_output(dy, geometry.output_shape(), Argument::dy));
  require(check_overlap(dy, x, Argument::dy));
  require(check_overlap(dy, dx, Argument::dy));
}

/// dy = (derivative of R at x) dx. The tangents may have other scalar types than x; sums are in the wider one.
template <class Reducer, class X, class DX, class DY>
requires Differentiable<typename Reducer::Scalar>
void jvp(const Geometry& geometry, const Reducer& reducer, const View<X>& x, const View<DX>& dx, const View<DY>& dy) {
  check_jvp(geometry, reducer, x, dx, dy);
  core::jvp(geometry, reducer, x, dx, dy);
}

template <class Reducer, class X, class GY, class GX>
void check_vjp(const Geometry& geometry, const Reducer& reducer, const View<X>& x, const View<GY>& gy,
               const View<GX>& gx) {
  require(core::check_reducer(geometry, reducer));
  require(check_view(x, geometry.input_shape(), Argument::x));
  require(check_view(gy, geometry.output_shape(), Argument::gy));
  require(check_output(gx, geometry.input_shape(), Argument::gx));
  require(check_overlap(gx, x, Argument::gx));
  require(check_overlap(gx, gy, Argument::gx));
}

/// gx = (derivative of R at x)^T gy; overwrites gx, cells that no window sees get 0. `tick` is called for each cell.
template <class Reducer, class X, class GY, class GX, class Tick = NoTick>
requires Differentiable<typename Reducer::Scalar>
void vjp(const Geometry& geometry, const Reducer& reducer, const View<X>& x, const View<GY>& gy, const View<GX>& gx,
         Tick tick = {}) {
  check_vjp(geometry, reducer, x, gy, gx);
  using Number = Accumulator<WorkScalar<GY, GX>>;
  std::vector<Number> sums(static_cast<std::size_t>(element_count(geometry.input_shape())), Number(0));
  const View<Number> sums_view(sums.data(), geometry.input_shape());
  core::add_vjp(geometry, reducer, x, gy, sums_view);
  for_each_position(geometry.input_shape(), [&](const Shape& cell) {
    tick();
    gx[cell] = convert<GX>(sums_view[cell]);
  });
}

template <class T, class X, class DY>
void check_beta_derivative(const Geometry& geometry, const SmoothMax<T>& reducer, const View<X>& x,
                           const View<DY>& dy) {
  require(core::check_reducer(geometry, reducer));
  require(check_view(x, geometry.input_shape(), Argument::x));
  require(check_output(dy, geometry.output_shape(), Argument::dy));
  require(check_overlap(dy, x, Argument::dy));
}

/// dy = the derivative of each output of smooth max by beta; overwrites dy. Cost: the number of taps.
template <class T, class X, class DY>
void beta_derivative(const Geometry& geometry, const SmoothMax<T>& reducer, const View<X>& x, const View<DY>& dy) {
  check_beta_derivative(geometry, reducer, x, dy);
  core::forward(geometry, SmoothMaxBeta<T>{reducer}, x, dy, [](const auto&, const auto&) {});
}

/// Left fold of `f(state, element)` over the real taps of each window in row-major order, starting from `init`. Returns
/// one state per output, in row-major order of geometry.output_shape(). f may be any function: it need not be
/// associative and State need not be a number.
template <class X, class State, class F>
std::vector<State> fold(const Geometry& geometry, const View<X>& x, const State& init, F f) {
  require(check_view(x, geometry.input_shape(), Argument::x));
  std::vector<State> states;
  states.reserve(static_cast<std::size_t>(element_count(geometry.output_shape())));
  for_each_position(geometry.output_shape(), [&](const Shape& output) {
    State state = init;
    for_each_tap(WindowAt<max_rank>(geometry, output),
                 [&](const Tap<max_rank>& tap) { state = f(state, x[tap.position]); });
    states.push_back(state);
  });
  return states;
}

}  // namespace ndpool::spec
