// Scalars whose type is known at run time only: those of files and of arrays from other languages.
#pragma once

#include <ndpool/half.hpp>
#include <ndpool/kernels.hpp>

#include <cstdint>

namespace ndpool {

/// Every scalar that the library brings compiled: those with kernels first, in the order of ScalarKind.
#define NDPOOL_INTEGERS(ROW)  \
  NDPOOL_KERNEL_INTEGERS(ROW) \
  ROW(u32, std::uint32_t)     \
  ROW(u64, std::uint64_t)     \
  ROW(boolean, bool)
#define NDPOOL_DTYPES(ROW) \
  NDPOOL_FLOATS(ROW)       \
  NDPOOL_INTEGERS(ROW)

namespace dtypes {  // because f16 and bf16 are types of ndpool's own
enum class Dtype : unsigned char {
#define NDPOOL_ROW(name, type) name,
  NDPOOL_DTYPES(NDPOOL_ROW)
#undef NDPOOL_ROW
};
}  // namespace dtypes
using dtypes::Dtype;

/// Calls `f.operator()<T>()` with the type of a scalar.
template <class F>
decltype(auto) with_dtype(Dtype dtype, F f) {
  switch (dtype) {
#define NDPOOL_ROW(name, type) \
  case Dtype::name: return f.template operator()<type>();
    NDPOOL_DTYPES(NDPOOL_ROW)
#undef NDPOOL_ROW
  }
  __builtin_unreachable();
}

/// Bytes of one element.
inline int item_size(Dtype dtype) {
  return with_dtype(dtype, []<class T>() { return static_cast<int>(sizeof(T)); });
}

}  // namespace ndpool
