// Max unpooling: values go back to the cells that indices name, every other cell is 0.
//
// Indices are those of max pooling: flat, row-major over the unpooled axes of the result; -1 is skipped. Where indices
// repeat, the last in row-major order wins.
#pragma once

#include <ndpool/spec/maps.hpp>

namespace ndpool::spec {

/// Unpooling runs a geometry backwards: its inputs are the cells of the result, its outputs the values to place. How
/// windows look does not matter to it, so bins serve.
inline Geometry unpool_geometry(const Adaptive& size, const Shape& values_shape) {
  if (values_shape.size() > max_rank) raise({Code::rank_too_large, Argument::y, -1, {values_shape.size(), max_rank}});
  Shape cells = values_shape;
  Adaptive bins{.output_size = size.output_size, .axes = size.axes};
  const int count = size.output_size.size();
  Shape numbers;
  require(ndpool::detail::check_count(Argument::axes, size.axes.size(), count));
  require(ndpool::detail::pooled_axes(size.axes, count, values_shape.size(), numbers));
  for (int i = 0; i < count; ++i) {
    const int axis = static_cast<int>(numbers[i]);
    if (size.output_size[i] < 1) raise({Code::not_positive, Argument::output_size, axis, {size.output_size[i]}});
    if (values_shape[axis] == 0) raise({Code::zero_length, Argument::y, axis, {}});
    cells[axis] = size.output_size[i];
    bins.output_size[i] = values_shape[axis];
  }
  return make_geometry(bins, cells);
}

namespace detail {

template <class Indices>
void check_indices(const Geometry& geometry, const View<Indices>& indices) {
  require(check_view(indices, geometry.output_shape(), Argument::indices));
  const Index cells = geometry.cell_count();
  for_each_position(geometry.output_shape(), [&](const Shape& at) {
    if (indices[at] < -1 || indices[at] >= cells)
      raise({Code::index_out_of_range, Argument::indices, -1, {indices[at], cells}});
  });
}

}  // namespace detail

/// What `unpool` asks of its arrays, but for the indices in them; the arguments are what an error calls `values` and
/// `x`.
template <class Y, class Indices, class X>
void check_unpool_arrays(const Geometry& geometry, const View<Y>& values, const View<Indices>& indices,
                         const View<X>& x, Argument values_argument, Argument x_argument) {
  require(check_view(values, geometry.output_shape(), values_argument));
  require(check_view(indices, geometry.output_shape(), Argument::indices));
  require(check_output(x, geometry.input_shape(), x_argument));
  require(check_overlap(x, values, x_argument));
  require(check_overlap(x, indices, x_argument));
}

template <class Indices, class GX, class GY>
void check_unpool_vjp_arrays(const Geometry& geometry, const View<Indices>& indices, const View<GX>& gx,
                             const View<GY>& gy) {
  require(check_view(indices, geometry.output_shape(), Argument::indices));
  require(check_view(gx, geometry.input_shape(), Argument::gx));
  require(check_output(gy, geometry.output_shape(), Argument::gy));
  require(check_overlap(gy, gx, Argument::gy));
  require(check_overlap(gy, indices, Argument::gy));
}

/// x = values placed at indices. Linear in the values, so this is also its own JVP, with tangents for values; the
/// arguments are what an error calls `values` and `x`.
template <class Y, class Indices, class X, class Tick = NoTick>
void unpool(const Geometry& geometry, const View<Y>& values, const View<Indices>& indices, const View<X>& x,
            Argument values_argument = Argument::y, Argument x_argument = Argument::x, Tick tick = {}) {
  check_unpool_arrays(geometry, values, indices, x, values_argument, x_argument);
  detail::check_indices(geometry, indices);
  for_each_position(geometry.input_shape(), [&](const Shape& cell) {
    tick();
    x[cell] = X(0);
  });
  for_each_position(geometry.output_shape(), [&](const Shape& at) {
    tick();
    if (indices[at] >= 0) x[geometry.cell_from_flat(at, indices[at])] = convert<X>(values[at]);
  });
}

/// The adjoint: each value that was placed and not overwritten gets the gradient of its cell, every other one 0.
template <class Indices, class GX, class GY, class Tick = NoTick>
void unpool_vjp(const Geometry& geometry, const View<Indices>& indices, const View<GX>& gx, const View<GY>& gy,
                Tick tick = {}) {
  check_unpool_vjp_arrays(geometry, indices, gx, gy);
  detail::check_indices(geometry, indices);
  std::vector<Index> last_value(static_cast<std::size_t>(element_count(geometry.input_shape())), -1);
  const View<Index> owner(last_value.data(), geometry.input_shape());
  Index number = 0;
  for_each_position(geometry.output_shape(), [&](const Shape& at) {
    tick();
    if (indices[at] >= 0) owner[geometry.cell_from_flat(at, indices[at])] = number;
    ++number;
  });
  number = 0;
  for_each_position(geometry.output_shape(), [&](const Shape& at) {
    tick();
    const bool placed = indices[at] >= 0 && owner[geometry.cell_from_flat(at, indices[at])] == number;
    gy[at] = placed ? convert<GY>(gx[geometry.cell_from_flat(at, indices[at])]) : GY(0);
    ++number;
  });
}

}  // namespace ndpool::spec
