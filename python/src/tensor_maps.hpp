// The maps of pools on tensors of torch, for the code that reads such tensors: a table of plain functions, so that an
// extension built against torch runs the pools, plans and threads of `ndpool._core`.
#pragma once

#include <Python.h>  // first: it says what the standard headers declare

#include <ndpool/dtype.hpp>

#include <cstdint>

namespace ndpool::python {

/// A tensor in memory; its owner outlives the call. Strides count elements.
struct TensorRef {
  void* data;
  Dtype dtype;
  int rank;
  const std::int64_t* shape;
  const std::int64_t* strides;
};

enum class Outcome : unsigned char {
  done,
  failed,   ///< Python's error is set
  declined  ///< the arrays are left to the checked path: it says what is wrong with them
};

/// Every function needs the GIL, which it releases for large tensors. Outputs overlap no input.
struct TensorMaps {
  Outcome (*forward)(PyObject* pool, const TensorRef& x, const TensorRef& y, const TensorRef* winners);
  /// `x.data` may be null for sums and averages.
  Outcome (*vjp)(PyObject* pool, const TensorRef& x, const TensorRef& gy, const TensorRef& gx);
  /// `is_trusted`: the winners are those of `forward`, untouched.
  Outcome (*vjp_from_winners)(PyObject* pool, const TensorRef& winners, const TensorRef& gy, const TensorRef& gx,
                              bool is_trusted);
  /// Declines indices below 0, and such that are no indices of x. The indices are packed.
  Outcome (*unpool)(PyObject* unpool, const TensorRef& y, const TensorRef& indices, const TensorRef& x);

  static constexpr const char* capsule = "ndpool._core.tensor_maps";
};

extern const TensorMaps tensor_maps;

}  // namespace ndpool::python
