// The maps as handlers of XLA.
#pragma once

#include <xla/ffi/api/c_api.h>

#include <span>

namespace ndpool::python::jax {

struct Handler {
  const char* map;
  XLA_FFI_Handler* call;
};

/// One for each map, by the name of the primitive that it serves. They return errors, and no exception leaves them.
std::span<const Handler> handlers();

}  // namespace ndpool::python::jax
