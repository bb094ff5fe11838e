#include "operands.hpp"

namespace ndpool::python {

nb::object jvp(Described& described, nb::handle x_object, nb::handle dx_object, nb::handle out) {
  const ndpool::Pool& pool = described.pool();
  const Array x = read_array(x_object, "x");
  const Array dx = read_array(dx_object, "dx", &x.scalar);
  require_scalar(dx, "dx", x.scalar, "x");
  Array dy = given_output(out, x.scalar, "x");

  PlanKey key(Map::jvp);
  key.add(x);
  key.add(dx);
  key.add(dy);
  const KnownPlan* known = described.plans().find(key);
  const Shape shape = known != nullptr ? known->result_shape : pool.output_shape(x.shape());
  if (!dy.owner.is_valid()) dy = new_array(shape, x.scalar);
  if (known != nullptr && !overlap(x, dy) && !overlap(dx, dy)) {
    const detail::CompiledMaps kernels = known->kernels;
    run(larger_size(x, dy),
        [&](const ProgressCallback& callback) { return kernels.jvp(x.data, dx.data, dy.data, callback); });
    return dy.owner;
  }
  name_out(Argument::dy, [&] {
    with_real(x.scalar, [&]<class T>() {
      const View<const T> at = x.view<const T>(), tangent = dx.view<const T>();
      const View<T> to = dy.view<T>();
      run_released([&](const ProgressCallback& callback) { return pool.jvp(at, tangent, to, callback); });
      auto kernels = detail::PoolAccess::compiled_maps<T>(
          pool, at.shape(), {at.strides(), to.strides(), tangent.strides(), to.strides()});
      if (kernels.has(MapKind::jvp)) described.plans().insert(key, {std::move(kernels), shape});
    });
  });
  return dy.owner;
}

void run_vjp_by_shape(Described& described, const Shape& shape, const Array& gy, const Array& gx) {
  const ndpool::Pool& pool = described.pool();
  PlanKey key(Map::vjp_by_shape);
  key.add(gy);
  key.add(gx);
  const KnownPlan* known = described.plans().find(key);
  if (known != nullptr && known->result_shape == shape && !overlap(gy, gx)) {
    const detail::CompiledMaps kernels = known->kernels;
    // Whatever reads x finds memory in its place, and uses none of it.
    run(larger_size(gx, gy),
        [&](const ProgressCallback& callback) { return kernels.vjp(gx.data, gy.data, gx.data, callback); });
    return;
  }
  name_out(Argument::gx, [&] {
    with_real(gy.scalar, [&]<class T>() {
      static const T nothing{};
      const View<const T> at(&nothing, shape, Shape::filled(shape.size(), 0)), gradient = gy.view<const T>();
      const View<T> to = gx.view<T>();
      run_released([&](const ProgressCallback& callback) { return pool.vjp(at, gradient, to, callback); });
      auto kernels = detail::PoolAccess::compiled_maps<T>(
          pool, shape, {to.strides(), gradient.strides(), to.strides(), gradient.strides()});
      if (kernels.has(MapKind::vjp)) described.plans().insert(key, {std::move(kernels), shape});
    });
  });
}

namespace {

/// The VJP where x is not needed, with its shape in place of it.
nb::object vjp_by_shape(Described& described, nb::handle shape_object, nb::handle gy_object, nb::handle out) {
  const ndpool::Pool& pool = described.pool();
  if (!pool.is_linear()) throw nb::type_error("x must be an array: only of sums and averages is its shape enough");
  const Shape shape = read_extents(shape_object, "x", 1);
  const Array gy = read_array(gy_object, "gy");
  Array gx = given_output(out, gy.scalar, "gy");
  if (!gx.owner.is_valid()) {
    static_cast<void>(pool.output_shape(shape));  // says what is wrong before memory is asked for
    gx = new_array(shape, gy.scalar);
  }
  run_vjp_by_shape(described, shape, gy, gx);
  return gx.owner;
}

}  // namespace

void run_vjp(Described& described, const Array& x, const Array& gy, Array& gx) {
  const ndpool::Pool& pool = described.pool();
  PlanKey key(Map::vjp);
  key.add(x);
  key.add(gy);
  key.add(gx);
  const KnownPlan* known = described.plans().find(key);
  if (!gx.owner.is_valid()) gx = new_array(x.shape(), x.scalar);
  if (known != nullptr && !overlap(x, gx) && !overlap(gy, gx)) {
    const detail::CompiledMaps kernels = known->kernels;
    run(larger_size(x, gy),
        [&](const ProgressCallback& callback) { return kernels.vjp(x.data, gy.data, gx.data, callback); });
    return;
  }
  name_out(Argument::gx, [&] {
    with_real(x.scalar, [&]<class T>() {
      const View<const T> at = x.view<const T>(), gradient = gy.view<const T>();
      const View<T> to = gx.view<T>();
      run_released([&](const ProgressCallback& callback) { return pool.vjp(at, gradient, to, callback); });
      auto kernels = detail::PoolAccess::compiled_maps<T>(
          pool, at.shape(), {at.strides(), gradient.strides(), to.strides(), gradient.strides()});
      if (kernels.has(MapKind::vjp)) described.plans().insert(key, {std::move(kernels), {}});
    });
  });
}

nb::object vjp(Described& described, nb::handle x_object, nb::handle gy_object, nb::handle out) {
  if (PyTuple_Check(x_object.ptr())) return vjp_by_shape(described, x_object, gy_object, out);
  const Array x = read_array(x_object, "x");
  const Array gy = read_array(gy_object, "gy", &x.scalar);
  require_scalar(gy, "gy", x.scalar, "x");
  Array gx = given_output(out, x.scalar, "x");
  run_vjp(described, x, gy, gx);
  return gx.owner;
}

nb::object beta_derivative(Described& described, nb::handle x_object, nb::handle out) {
  const ndpool::Pool& pool = described.pool();
  const Array x = read_array(x_object, "x");
  Array dy = given_output(out, x.scalar, "x");
  if (!dy.owner.is_valid()) dy = new_array(pool.output_shape(x.shape()), x.scalar);
  name_out(Argument::dy, [&] {
    with_real(x.scalar, [&]<class T>() {
      const View<const T> at = x.view<const T>();
      const View<T> to = dy.view<T>();
      run_released([&](const ProgressCallback& callback) { return pool.beta_derivative(at, to, callback); });
    });
  });
  return dy.owner;
}

nb::object jvp_from_indices(Described& described, nb::handle indices_object, nb::handle dx_object, nb::handle out,
                            nb::handle shape) {
  const ndpool::Pool& pool = described.pool();
  const Array indices = read_indices(indices_object);
  const Array dx = read_array(dx_object, "dx");
  Array dy = given_output(out, dx.scalar, "dx");
  if (!shape.is_none())
    require(check_view(View<const char>(static_cast<const char*>(dx.data), dx.shape()), read_extents(shape, "shape", 1),
                       Argument::dx));

  PlanKey key(Map::jvp_from_indices);
  key.add(indices);
  key.add(dx);
  key.add(dy);
  const KnownPlan* known = described.plans().find(key);
  const Shape result_shape = known != nullptr ? known->result_shape : pool.output_shape(dx.shape());
  if (!dy.owner.is_valid()) dy = new_array(result_shape, dx.scalar);
  if (known != nullptr && !overlap(dx, dy) && !overlap(indices, dy)) {
    const detail::CompiledMaps kernels = known->kernels;
    const Dtype kind = index_dtype(indices);
    bool fine = false;
    run(larger_size(dx, dy), [&](const ProgressCallback& callback) {
      fine = kernels.check_indices(indices.data, kind);
      return !fine || kernels.jvp_from_indices(indices.data, kind, dx.data, dy.data, callback);
    });
    if (fine) return dy.owner;
  }
  name_out(Argument::dy, [&] {
    with_real(dx.scalar, [&]<class T>() {
      with_index(indices, [&]<class I>() {
        const View<const I> winners = indices.view<const I>();
        const View<const T> tangent = dx.view<const T>();
        const View<T> to = dy.view<T>();
        run_released(
            [&](const ProgressCallback& callback) { return pool.jvp_from_indices(winners, tangent, to, callback); });
        described.plans().insert(
            key, {detail::PoolAccess::compiled_index_maps<T>(
                      pool, tangent.shape(), {tangent.strides(), winners.strides(), tangent.strides(), to.strides()}),
                  result_shape});
      });
    });
  });
  return dy.owner;
}

void run_vjp_from_indices(Described& described, const Array& indices, const Array& gy, const Array& gx,
                          bool is_trusted) {
  const ndpool::Pool& pool = described.pool();
  PlanKey key(Map::vjp_from_indices);
  key.add(indices);
  key.add(gy);
  key.add(gx);
  const KnownPlan* known = described.plans().find(key);
  if (known != nullptr && !overlap(gy, gx) && !overlap(indices, gx)) {
    const detail::CompiledMaps kernels = known->kernels;
    const Dtype kind = index_dtype(indices);
    bool fine = false;
    run(larger_size(gx, gy), [&](const ProgressCallback& callback) {
      fine = is_trusted || kernels.check_indices(indices.data, kind);
      return !fine || kernels.vjp_from_indices(indices.data, kind, gy.data, gx.data, callback);
    });
    if (fine) return;
  }
  name_out(Argument::gx, [&] {
    with_real(gy.scalar, [&]<class T>() {
      with_index(indices, [&]<class I>() {
        const View<const I> winners = indices.view<const I>();
        const View<const T> gradient = gy.view<const T>();
        const View<T> to = gx.view<T>();
        run_released(
            [&](const ProgressCallback& callback) { return pool.vjp_from_indices(winners, gradient, to, callback); });
        described.plans().insert(
            key, {detail::PoolAccess::compiled_index_maps<T>(
                      pool, to.shape(), {to.strides(), winners.strides(), to.strides(), gradient.strides()}),
                  {}});
      });
    });
  });
}

nb::object vjp_from_indices(Described& described, nb::handle indices_object, nb::handle gy_object, nb::handle out,
                            nb::handle shape) {
  const ndpool::Pool& pool = described.pool();
  const Array indices = read_indices(indices_object);
  const Array gy = read_array(gy_object, "gy");
  Array gx = given_output(out, gy.scalar, "gy");
  if (!gx.owner.is_valid() && shape.is_none()) throw nb::type_error("the shape of x is needed, or out");
  if (!shape.is_none()) {
    const Shape wanted = read_extents(shape, "shape", 1);
    if (!gx.owner.is_valid()) {
      for (int a = 0; a < wanted.size() && a < max_rank; ++a)
        if (wanted[a] < 0) raise({Code::negative, Argument::shape, a, {wanted[a]}});
      static_cast<void>(pool.output_shape(wanted));  // says what is wrong before memory is asked for
      gx = new_array(wanted, gy.scalar);
    } else {
      require(check_view(View<char>(static_cast<char*>(gx.data), gx.shape()), wanted, Argument::out));
    }
  }

  run_vjp_from_indices(described, indices, gy, gx, false);
  return gx.owner;
}

}  // namespace ndpool::python
