#include "operands.hpp"

namespace ndpool::python {

namespace {

/// Unpooling and its JVP are one map; `result` is what the core calls `cells`.
template <class Place>
void place(const Unpool& unpool, const Array& values, const Array& indices, Array& cells, Argument result,
           Place placing) {
  if (!cells.owner.is_valid()) cells = new_array(unpool.output_shape(values.shape()), values.scalar);
  name_out(result, [&] {
    with_dtype(values.scalar, [&]<class T>() {
      const View<const T> from = values.view<const T>();
      const View<T> to = cells.view<T>();
      const View<const Index> at = indices.view<const Index>();
      run(larger_size(values, cells),
          [&](const ProgressCallback& callback) { return placing(from, at, to, callback); });
    });
  });
}

Array read_flat_indices(nb::handle object) {
  Array indices = read_indices(object);
  require_scalar(indices, "indices", flat, "flat indices");
  return indices;
}

}  // namespace

void run_unpool(const Unpool& unpool, const Array& y, const Array& indices, Array& x) {
  place(unpool, y, indices, x, Argument::x,
        [&](const auto& from, const auto& at, const auto& to, const ProgressCallback& callback) {
          return unpool.forward(from, at, to, callback);
        });
}

nb::object unpool_forward(const Unpool& unpool, nb::handle y_object, nb::handle indices_object, nb::handle out) {
  const Array y = read_array(y_object, "y"), indices = read_flat_indices(indices_object);
  Array x = given_output(out, y.scalar, "y");
  run_unpool(unpool, y, indices, x);
  return x.owner;
}

nb::object unpool_jvp(const Unpool& unpool, nb::handle dy_object, nb::handle indices_object, nb::handle out) {
  const Array dy = read_array(dy_object, "dy");
  with_real(dy.scalar, []<class>() {});  // whatever else has no derivatives
  const Array indices = read_flat_indices(indices_object);
  Array dx = given_output(out, dy.scalar, "dy");
  place(unpool, dy, indices, dx, Argument::dx,
        [&](const auto& from, const auto& at, const auto& to, const ProgressCallback& callback) {
          return unpool.jvp(from, at, to, callback);
        });
  return dx.owner;
}

nb::object unpool_vjp(const Unpool& unpool, nb::handle indices_object, nb::handle gx_object, nb::handle out) {
  const Array indices = read_flat_indices(indices_object);
  const Array gx = read_array(gx_object, "gx");
  Array gy = given_output(out, gx.scalar, "gx");
  if (!gy.owner.is_valid()) gy = new_array(indices.shape(), gx.scalar);
  name_out(Argument::gy, [&] {
    with_real(gx.scalar, [&]<class T>() {
      const View<const Index> at = indices.view<const Index>();
      const View<const T> gradient = gx.view<const T>();
      const View<T> to = gy.view<T>();
      run(larger_size(indices, gx),
          [&](const ProgressCallback& callback) { return unpool.vjp(gradient, at, to, callback); });
    });
  });
  return gy.owner;
}

}  // namespace ndpool::python
