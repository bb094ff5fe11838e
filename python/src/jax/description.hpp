// A pool or an unpooling described by the attributes of a call of XLA.
#pragma once

#include <ndpool/c.h>
#include <xla/ffi/api/ffi.h>

#include <memory>
#include <string>

namespace ndpool::python::jax {

struct DestroyPlan {
  void operator()(ndpool_plan* plan) const { ndpool_plan_destroy(plan); }
};
using OwnedPlan = std::unique_ptr<ndpool_plan, DestroyPlan>;

/// The ndpool_dtype of an element type; -1 if there is none.
std::int32_t dtype_of(xla::ffi::DataType type);

/// A plan for the pool (or unpooling) that `attributes` describe, on a packed array like `input`. Attributes are named
/// as the fields of ndpool_pool; one that is missing has the default. `unpools` tells which of the two they describe.
/// Null with an error if the library refuses.
OwnedPlan make_plan(const xla::ffi::Dictionary& attributes, bool unpools, const xla::ffi::AnyBuffer& input,
                    ndpool_error& error);

}  // namespace ndpool::python::jax
