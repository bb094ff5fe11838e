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
    const std::shared_ptr<const KernelPlan> kernels = known->kernels;
    if (with_indices)
      run(elements, [&](const Watch& watch) {
        return kernels->forward_with_indices(x.data, y.data, indices.data, kind_of_index(indices), watch);
      });
    else
      run(elements, [&](const Watch& watch) { return kernels->forward(x.data, y.data, watch); });
    return;
  }
  name_out(Argument::y, [&] {
    with_dtype(x.scalar, [&]<class T>() {
      const View<const T> from = x.view<const T>();
      const View<T> to = y.view<T>();
      if (with_indices)
        with_index(indices, [&]<class I>() {
          const View<I> winners = indices.view<I>();
          run_released([&](const Watch& watch) { return pool.forward(from, to, winners, watch); });
        });
      else
        run_released([&](const Watch& watch) { return pool.forward(from, to, watch); });
      const Shape in = from.strides(), out_strides = to.strides();
      auto kernels =
          pool.kernels<T>(from.shape(), {in, out_strides, in, with_indices ? indices.element_strides() : out_strides});
      const bool serves = kernels != nullptr &&
                          kernels->has(with_indices ? MapKind::forward_with_indices : MapKind::forward) &&
                          (!with_indices || kernels->fits(kind_of_index(indices)));
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
