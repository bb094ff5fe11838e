// The plans of the C interface: one class of maps on untyped arrays, one implementation of it per kind of pool.
#pragma once

#include "c/structs.hpp"

#include <ndpool/pool.hpp>

#include <memory>
#include <string_view>
#include <vector>

/// Every map throws; those that a plan has do not. They return false where `progress` cancelled them.
struct ndpool_plan {
  using MapKind = ndpool::MapKind;
  using Dtype = ndpool::Dtype;
  using ProgressCallback = ndpool::ProgressCallback;

  explicit ndpool_plan(ndpool::Shape result) : output_shape(std::move(result)) {}
  ndpool_plan(const ndpool_plan&) = delete;
  ndpool_plan& operator=(const ndpool_plan&) = delete;
  virtual ~ndpool_plan() = default;

  virtual bool has(MapKind map) const = 0;
  virtual ndpool::MapSummary summary(MapKind map) const = 0;

  virtual bool forward(const void* x, void* y, const ProgressCallback& progress) const;
  virtual bool forward_with_indices(const void* x, void* y, void* indices, Dtype index,
                                    const ProgressCallback& progress) const;
  virtual bool jvp(const void* x, const void* dx, void* dy, const ProgressCallback& progress) const;
  virtual bool vjp(const void* x, const void* gy, void* gx, const ProgressCallback& progress) const;
  virtual bool jvp_from_indices(const void* indices, Dtype index, const void* dx, void* dy,
                                const ProgressCallback& progress) const;
  virtual bool vjp_from_indices(const void* indices, Dtype index, const void* gy, void* gx,
                                const ProgressCallback& progress) const;
  virtual bool beta_derivative(const void* x, void* dy, const ProgressCallback& progress) const;
  virtual bool unpool(const void* y, const std::int64_t* indices, void* x, const ProgressCallback& progress) const;
  virtual bool unpool_jvp(const void* dy, const std::int64_t* indices, void* dx,
                          const ProgressCallback& progress) const;
  virtual bool unpool_vjp(const void* gx, const std::int64_t* indices, void* gy,
                          const ProgressCallback& progress) const;

  const ndpool::Shape output_shape;
  int compact_index_dtype = -1;  ///< of pools with indices
};

namespace ndpool::c {

/// The arrays of a plan. Empty strides are packed.
struct Arrays {
  Dtype dtype, result_dtype;
  Shape shape, strides, result_strides;
};
Arrays read_arrays(const ndpool_arrays& given, const Shape& output_shape);

[[noreturn]] void refuse_map(std::string_view map, const char* reason);

/// A pool whose results have the dtype of the input. Compiled for every row of NDPOOL_DTYPES.
template <class T>
std::unique_ptr<ndpool_plan> make_pool_plan(const Pool& pool, const Arrays& arrays, const PlanOptions& options);
/// A pool with results of another dtype.
std::unique_ptr<ndpool_plan> make_mixed_plan(const Pool& pool, const Arrays& arrays, const PlanOptions& options);
std::unique_ptr<ndpool_plan> make_unpool_plan(const Adaptive& size, const Arrays& arrays);

}  // namespace ndpool::c
