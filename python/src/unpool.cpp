#include "operands.hpp"

namespace ndpool::python {

namespace {

/// Unpooling and its JVP are one map; `names` are what errors call its arrays.
template <class Place>
nb::object place(const Unpool& unpool, nb::handle values_object, nb::handle indices_object, nb::handle out,
                 const char* name, Argument result, Place placing) {
  const Array values = read_array(values_object, name);
  if (result == Argument::dx) with_real(values.scalar, []<class>() {});  // whatever else has no derivatives
  const Array indices = read_indices(indices_object);
  require_scalar(indices, "indices", flat, "flat indices");
  Array cells = given_output(out, values.scalar, name);
  if (!cells.owner.is_valid()) cells = new_array(unpool.output_shape(values.shape()), values.scalar);
  name_out(result, [&] {
    with_dtype(values.scalar, [&]<class T>() {
      const View<const T> from = values.view<const T>();
      const View<T> to = cells.view<T>();
      const View<const Index> at = indices.view<const Index>();
      run_released([&](const Watch& watch) { return placing(from, at, to, watch); });
    });
  });
  return cells.owner;
}

}  // namespace

nb::object unpool_forward(const Unpool& unpool, nb::handle y, nb::handle indices, nb::handle out) {
  return place(unpool, y, indices, out, "y", Argument::x,
               [&](const auto& from, const auto& at, const auto& to, const Watch& watch) {
                 return unpool.forward(from, at, to, watch);
               });
}

nb::object unpool_jvp(const Unpool& unpool, nb::handle dy, nb::handle indices, nb::handle out) {
  return place(unpool, dy, indices, out, "dy", Argument::dx,
               [&](const auto& from, const auto& at, const auto& to, const Watch& watch) {
                 return unpool.jvp(from, at, to, watch);
               });
}

nb::object unpool_vjp(const Unpool& unpool, nb::handle indices_object, nb::handle gx_object, nb::handle out) {
  const Array indices = read_indices(indices_object);
  require_scalar(indices, "indices", flat, "flat indices");
  const Array gx = read_array(gx_object, "gx");
  Array gy = given_output(out, gx.scalar, "gx");
  if (!gy.owner.is_valid()) gy = new_array(indices.shape(), gx.scalar);
  name_out(Argument::gy, [&] {
    with_real(gx.scalar, [&]<class T>() {
      const View<const Index> at = indices.view<const Index>();
      const View<const T> gradient = gx.view<const T>();
      const View<T> to = gy.view<T>();
      run_released([&](const Watch& watch) { return unpool.vjp(at, gradient, to, watch); });
    });
  });
  return gy.owner;
}

}  // namespace ndpool::python
