// The scalars that the library brings compiled, as types and as values known at run time only: those of files and of
// arrays from other languages.
#pragma once

#include <ndpool/lists.h>
#include <ndpool/half.hpp>

#include <cstdint>
#include <type_traits>

namespace ndpool {

namespace dtypes {  // because f16 and bf16 are types of ndpool's own
/// A built-in scalar as a value. One enumerator per row of NDPOOL_DTYPES, by its name.
enum class Dtype : unsigned char {
#define NDPOOL_ROW(name, type) name,
  NDPOOL_DTYPES(NDPOOL_ROW)
#undef NDPOOL_ROW
};
}  // namespace dtypes
using dtypes::Dtype;

/// True of the types that NDPOOL_DTYPES lists; not of others of the same size, such as long long beside long.
template <class T>
inline constexpr bool is_built_in = false
#define NDPOOL_ROW(name, type) || std::is_same_v<T, type>
    NDPOOL_DTYPES(NDPOOL_ROW)
#undef NDPOOL_ROW
    ;

/// The value that stands for a built-in scalar.
template <class T>
requires(is_built_in<T>) [[nodiscard]] constexpr Dtype dtype_of() {
#define NDPOOL_ROW(name, type) \
  if constexpr (std::is_same_v<T, type>) return Dtype::name;
  NDPOOL_DTYPES(NDPOOL_ROW)
#undef NDPOOL_ROW
}

/// Calls `f.operator()<T>()` with the type of a scalar; returns what that returns.
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
[[nodiscard]] inline int item_size(Dtype dtype) {
  return with_dtype(dtype, []<class T>() { return static_cast<int>(sizeof(T)); });
}

}  // namespace ndpool
