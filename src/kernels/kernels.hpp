// Which scalars and combines have compiled kernels, and what kernels know of a reducer.
#pragma once

#include <ndpool/detail/compiled_maps.hpp>
#include <ndpool/geometry.hpp>
#include <ndpool/half.hpp>
#include <ndpool/reducer.hpp>
#include <ndpool/targets.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace ndpool {

#define NDPOOL_SCALARS(ROW) \
  NDPOOL_FLOATS(ROW)        \
  NDPOOL_KERNEL_INTEGERS(ROW)
#define NDPOOL_ALL_SCALARS(ROW) NDPOOL_DTYPES(ROW)

/// The built-in scalars in the order of Dtype, and none.
enum class ScalarKind : unsigned char {
#define NDPOOL_ROW(name, type) kind_##name,
  NDPOOL_DTYPES(NDPOOL_ROW)
#undef NDPOOL_ROW
      none,
};
inline constexpr int scalar_kinds = static_cast<int>(ScalarKind::none);

template <class T>
constexpr ScalarKind kind_of() {
#define NDPOOL_ROW(name, type) \
  if constexpr (std::is_same_v<T, type>) return ScalarKind::kind_##name;
  NDPOOL_DTYPES(NDPOOL_ROW)
#undef NDPOOL_ROW
  return ScalarKind::none;
}

/// How taps are combined. An average is a sum with a divisor. The last two are sums of powers, which the kernels make
/// in a way of their own.
enum class Combine : unsigned char { max, min, sum, smooth_max, lp, none };
inline constexpr int combine_kinds = static_cast<int>(Combine::sum) + 1;
constexpr bool is_analytic(Combine combine) { return combine == Combine::smooth_max || combine == Combine::lp; }

/// How winners are named: by tap numbers of 1, 2 or 4 bytes, or by flat indices.
enum class IndexKind : unsigned char { u8, u16, u32, flat };

constexpr Index index_size(IndexKind kind) {
  return kind == IndexKind::u8 ? 1 : kind == IndexKind::u16 ? 2 : kind == IndexKind::u32 ? 4 : 8;
}
template <class I>
constexpr IndexKind index_kind() {
  if constexpr (std::is_signed_v<I>) return IndexKind::flat;
  return sizeof(I) == 1 ? IndexKind::u8 : sizeof(I) == 2 ? IndexKind::u16 : IndexKind::u32;
}

/// What a kernel has to know of a reducer.
struct KernelChoice {
  Combine combine = Combine::none;
  Ties ties = Ties::standard;
  Nan nan = Nan::propagate;
  bool averages = false;
  AverageOptions average = {};
  double parameter = 0;  ///< beta of smooth max, p of Lp
  PadMode pad_mode = PadMode::zero;
};

using Watch = ProgressCallback;
using detail::ArrayStrides;

}  // namespace ndpool
