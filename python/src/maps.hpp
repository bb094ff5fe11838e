// The maps of pools on arrays of Python. An output that is None, or has no owner, is made; each map of Python's objects
// returns its output.
#pragma once

#include "array.hpp"
#include "describe.hpp"

namespace ndpool::python {

/// `indices` is None or False for none, True for a new array, or the array to write.
nb::object forward(Described& pool, nb::handle x, nb::handle out, nb::handle indices);
nb::object jvp(Described& pool, nb::handle x, nb::handle dx, nb::handle out);
nb::object vjp(Described& pool, nb::handle x, nb::handle gy, nb::handle out);
nb::object beta_derivative(Described& pool, nb::handle x, nb::handle out);
/// `shape` is that of x, or None where an array tells it.
nb::object jvp_from_indices(Described& pool, nb::handle indices, nb::handle dx, nb::handle out, nb::handle shape);
nb::object vjp_from_indices(Described& pool, nb::handle indices, nb::handle gy, nb::handle out, nb::handle shape);

/// The implementation, tiles and scratch of each map on arrays of this shape: a dict of tuples. `strides` are bytes, or
/// None.
nb::dict explain(const Described& pool, nb::handle shape, nb::handle dtype, nb::handle strides);
void run_forward(Described& pool, const Array& x, Array& y, Array& indices, bool with_indices);
void run_vjp(Described& pool, const Array& x, const Array& gy, Array& gx);
/// Of sums and averages.
void run_vjp_by_shape(Described& pool, const Shape& shape, const Array& gy, const Array& gx);
/// `is_trusted`: the indices are winners that `forward` wrote; a known plan does not check them again.
void run_vjp_from_indices(Described& pool, const Array& indices, const Array& gy, const Array& gx, bool is_trusted);

nb::object unpool_forward(const Unpool& unpool, nb::handle y, nb::handle indices, nb::handle out);
nb::object unpool_jvp(const Unpool& unpool, nb::handle dy, nb::handle indices, nb::handle out);
nb::object unpool_vjp(const Unpool& unpool, nb::handle indices, nb::handle gx, nb::handle out);
/// x = y placed at flat indices.
void run_unpool(const Unpool& unpool, const Array& y, const Array& indices, Array& x);

/// Adds `TensorCalls` and the table of `tensor_maps.hpp`.
void add_tensor_calls(nb::module_& module);

}  // namespace ndpool::python
