// The table of `tensor_maps.hpp`: the maps on arrays, for tensors that somebody else has read.
#include "tensor_maps.hpp"

#include "executor.hpp"
#include "operands.hpp"

#include <algorithm>

namespace ndpool::python {

namespace {

/// A view of a tensor whose owner is the caller's business.
Array array_of(const TensorRef& tensor, bool is_new = false) {
  Array array;
  array.data = tensor.data;
  array.scalar = tensor.dtype;
  array.writable = is_new;
  array.is_new = is_new;
  array.rank = tensor.rank;
  array.extents = tensor.shape;
  array.strides = tensor.strides;
  array.owner = nb::none();
  return array;
}

/// Calls `f()` on the threads of tensors. Faults of the arrays are left to the checked path.
template <class F>
Outcome guarded(F f) {
  try {
    const ScopedExecutor threads(tensor_executor());
    f();
    return Outcome::done;
  } catch (nb::python_error& error) {
    error.restore();
    return Outcome::failed;
  } catch (const Error&) {
    return Outcome::declined;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return Outcome::failed;
  }
}

Described& described(PyObject* pool) { return *nb::inst_ptr<Described>(nb::handle(pool)); }
const Unpool& unpool_of(PyObject* unpool) { return nb::inst_ptr<DescribedUnpool>(nb::handle(unpool))->unpool; }

Outcome forward(PyObject* pool, const TensorRef& x, const TensorRef& y, const TensorRef* winners) {
  return guarded([&] {
    Array result = array_of(y, true), indices;
    if (winners != nullptr) indices = array_of(*winners, true);
    run_forward(described(pool), array_of(x), result, indices, winners != nullptr);
  });
}

Outcome vjp(PyObject* pool, const TensorRef& x, const TensorRef& gy, const TensorRef& gx) {
  return guarded([&] {
    Array result = array_of(gx, true);
    if (x.data == nullptr)
      run_vjp_by_shape(described(pool), Shape(x.shape, x.rank), array_of(gy), result);
    else
      run_vjp(described(pool), array_of(x), array_of(gy), result);
  });
}

Outcome vjp_from_winners(PyObject* pool, const TensorRef& winners, const TensorRef& gy, const TensorRef& gx,
                         bool is_trusted) {
  return guarded(
      [&] { run_vjp_from_indices(described(pool), array_of(winners), array_of(gy), array_of(gx, true), is_trusted); });
}

/// True if every index is 0 or more: torch has no index for no winner. The indices are packed.
bool are_natural(const TensorRef& indices) {
  const std::int64_t* values = static_cast<const std::int64_t*>(indices.data);
  std::int64_t count = 1, signs = 0;
  for (int a = 0; a < indices.rank; ++a) count *= indices.shape[a];
  for (std::int64_t i = 0; i < count; ++i) signs |= values[i];
  return signs >= 0;
}

Outcome unpool(PyObject* pool, const TensorRef& y, const TensorRef& indices, const TensorRef& x) {
  if (indices.dtype != flat || !are_natural(indices)) return Outcome::declined;
  return guarded([&] {
    Array result = array_of(x, true);
    run_unpool(unpool_of(pool), array_of(y), array_of(indices), result);
  });
}

}  // namespace

const TensorMaps tensor_maps{&forward, &vjp, &vjp_from_winners, &unpool};

}  // namespace ndpool::python
