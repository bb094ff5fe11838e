// The maps of pools on arrays of Python. An output that is None is made; each map returns its output.
#pragma once

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

nb::object unpool_forward(const Unpool& unpool, nb::handle y, nb::handle indices, nb::handle out);
nb::object unpool_jvp(const Unpool& unpool, nb::handle dy, nb::handle indices, nb::handle out);
nb::object unpool_vjp(const Unpool& unpool, nb::handle indices, nb::handle gx, nb::handle out);

}  // namespace ndpool::python
