// Which threads pool which arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <ndpool/ndpool.hpp>

namespace ndpool::python {

/// The executor of runs on tensors of torch: null for that of all other arrays. Needs the GIL: the first call of a
/// thread lets torch set the number of threads that its runtime has there.
Executor* tensor_executor();

/// Adds `set_executor`, `get_executor` and what `ndpool.torch` needs.
void add_executors(nanobind::module_& module);

}  // namespace ndpool::python
