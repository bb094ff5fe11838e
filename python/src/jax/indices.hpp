// Indices in the dtypes that JAX has: without its 64-bit mode, flat indices have 32 bits there and 64 here.
#pragma once

#include "description.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace ndpool::python::jax {

/// The indices of one call. Those of 32 bits with a sign are flat indices that have been narrowed: the library reads
/// and writes a copy of them. They fit, since the caller has compared the extents of the pooled axes with their range.
class Indices {
 public:
  explicit Indices(const xla::ffi::AnyBuffer& buffer)
      : data_(buffer.untyped_data()), count_(buffer.element_count()), dtype_(dtype_of(buffer.element_type())) {
    if (is_narrow()) wide_ = std::make_unique_for_overwrite<std::int64_t[]>(count_);
  }

  /// Before a call that reads them.
  void widen() {
    if (is_narrow()) std::copy_n(static_cast<const std::int32_t*>(data_), count_, wide_.get());
  }
  /// After a call that has written them.
  void narrow() {
    const auto cut = [](std::int64_t index) { return static_cast<std::int32_t>(index); };
    if (is_narrow()) std::transform(wide_.get(), wide_.get() + count_, static_cast<std::int32_t*>(data_), cut);
  }

  void* data() { return is_narrow() ? wide_.get() : data_; }
  std::int32_t dtype() const { return is_narrow() ? std::int32_t{ndpool_dtype_i64} : dtype_; }

 private:
  bool is_narrow() const { return dtype_ == ndpool_dtype_i32; }

  void* const data_;
  const std::size_t count_;
  const std::int32_t dtype_;
  std::unique_ptr<std::int64_t[]> wide_;
};

}  // namespace ndpool::python::jax
