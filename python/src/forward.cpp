#include "operands.hpp"

namespace ndpool::python {

void run_forward(Described& described, const Array& x, Array& y, Array& indices, bool with_indices) {
  const ndpool::Pool& pool = described.pool();
  PlanKey key(with_indices ? Map::forward_with_indices : Map::forward);
  key.add(x);
  key.add(y);
  key.add(indices);
  const KnownPlan* known = described.plans().find(key);
  const Shape shape = known != nullptr ? known->result_shape : pool.output_shape(x.shape());
  if (!y.owner.is_valid()) y = new_array(shape, x.scalar);
  if (with_indices && !indices.owner.is_valid()) indices = new_array(shape, flat);
  const Index elements = larger_size(x, y);
  const bool is_safe = !overlap(x, y) && (!with_indices || (!overlap(x, indices) && !overlap(y, indices)));
  if (known != nullptr && is_safe) {
    const detail::CompiledMaps kernels = known->kernels;
    if (with_indices)
      run(elements, [&](const ProgressCallback& callback) {
        return kernels.forward_with_indices(x.data, y.data, indices.data, index_dtype(indices), callback);
      });
    else
      run(elements, [&](const ProgressCallback& callback) { return kernels.forward(x.data, y.data, callback); });
    return;
  }
  name_out(Argument::y, [&] {
    with_dtype(x.scalar, [&]<class T>() {
      const View<const T> from = x.view<const T>();
      const View<T> to = y.view<T>();
      if (with_indices)
        with_index(indices, [&]<class I>() {
          const View<I> winners = indices.view<I>();
          run_released([&](const ProgressCallback& callback) { return pool.forward(from, to, winners, callback); });
        });
      else
        run_released([&](const ProgressCallback& callback) { return pool.forward(from, to, callback); });
      const Shape in = from.strides(), out_strides = to.strides();
      auto kernels = detail::PoolAccess::compiled_maps<T>(
          pool, from.shape(), {in, out_strides, in, with_indices ? indices.element_strides() : out_strides});
      const bool serves = kernels.has(with_indices ? MapKind::forward_with_indices : MapKind::forward) &&
                          (!with_indices || kernels.fits(index_dtype(indices)));
      if (serves) described.plans().insert(key, {std::move(kernels), shape});
    });
  });
}

nb::object forward(Described& described, nb::handle x_object, nb::handle out, nb::handle indices_object) {
  const Array x = read_array(x_object, "x");
  Array y = given_output(out, x.scalar, "x"), indices;
  const bool with_indices = !indices_object.is_none() && indices_object.ptr() != Py_False;
  if (with_indices && indices_object.ptr() != Py_True) indices = write_array(indices_object, "indices");
  run_forward(described, x, y, indices, with_indices);
  return with_indices ? nb::object(nb::make_tuple(y.owner, indices.owner)) : y.owner;
}

}  // namespace ndpool::python
