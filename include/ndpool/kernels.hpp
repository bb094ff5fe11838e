// Which scalars and combines have compiled kernels, and what kernels know of a reducer.
#pragma once

#include <ndpool/geometry.hpp>
#include <ndpool/half.hpp>
#include <ndpool/reducer.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace ndpool {

/// Every scalar that has kernels: floats, which have derivatives, and integers. One row here feeds declaration,
/// dispatch, tests and benchmarks.
#define NDPOOL_FLOATS(ROW) \
  ROW(f32, float)          \
  ROW(f64, double)         \
  ROW(f16, ndpool::f16)    \
  ROW(bf16, ndpool::bf16)
#define NDPOOL_KERNEL_INTEGERS(ROW) \
  ROW(i8, std::int8_t)              \
  ROW(u8, std::uint8_t)             \
  ROW(i16, std::int16_t)            \
  ROW(u16, std::uint16_t)           \
  ROW(i32, std::int32_t)            \
  ROW(i64, std::int64_t)
#define NDPOOL_SCALARS(ROW) \
  NDPOOL_FLOATS(ROW)        \
  NDPOOL_KERNEL_INTEGERS(ROW)
/// All built-in scalars: the general engine serves them, too.
#define NDPOOL_ALL_SCALARS(ROW) \
  NDPOOL_SCALARS(ROW)           \
  ROW(u32, std::uint32_t)       \
  ROW(u64, std::uint64_t)       \
  ROW(boolean, bool)

enum class ScalarKind : unsigned char {
#define NDPOOL_ROW(name, type) kind_##name,
  NDPOOL_ALL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
      none,
};
inline constexpr int scalar_kinds = static_cast<int>(ScalarKind::none);

template <class T>
constexpr ScalarKind kind_of() {
#define NDPOOL_ROW(name, type) \
  if constexpr (std::is_same_v<T, type>) return ScalarKind::kind_##name;
  NDPOOL_ALL_SCALARS(NDPOOL_ROW)
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

/// Watches a run: called between tiles with the share that is done, from 0 to 1, on the calling thread or on one that
/// helps it, never by two at a time. Answering false stops the run: it is not called again, and the rest of the output
/// is not written. Throwing does the same, and the exception reaches the caller of the map once every thread has
/// stopped. It must not pool arrays itself. A run by the spec asks once in some thousand taps.
struct Watch {
  bool (*keep_going)(void* context, double done) = nullptr;
  void* context = nullptr;
};

/// Strides, in elements, of the arrays a plan is for: `in` and `tangent_in` have the shape of the input, the others
/// that of the output.
struct ArrayStrides {
  const Shape& in;
  const Shape& out;
  const Shape& tangent_in;
  const Shape& tangent_out;
};

/// Names of the instruction sets this machine can run kernels for, best first. The environment variable
/// NDPOOL_FORCE_TARGET, or `force_target`, chooses one of them; by default the best is used.
std::vector<std::string> targets();

/// The instruction set in use.
std::string target();

/// Uses the kernels of one instruction set from now on; an empty name means the best. Throws if `name` is not one of
/// targets(). Meant for tests and measurements.
void force_target(const std::string& name);

}  // namespace ndpool
