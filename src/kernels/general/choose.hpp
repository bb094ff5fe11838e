// Which element of the general engine serves a scalar and a reducer.
#pragma once

#include "kernels/general/job.hpp"

#include <optional>
#include <vector>

namespace ndpool::general {

/// Every element that the engine is compiled for. One row feeds the list, its types and the tables of all targets; each
/// group is a file of its own, compiled for every target in less than a minute.
#define NDPOOL_GENERAL_INTEGER_EXTREMES(ROW) \
  ROW(max8, IntegerMax<std::uint8_t>)        \
  ROW(max16, IntegerMax<std::uint16_t>)      \
  ROW(max32, IntegerMax<std::uint32_t>)      \
  ROW(max64, IntegerMax<std::int64_t>)
#define NDPOOL_GENERAL_FLOAT_EXTREMES(ROW) \
  ROW(max_f32, FloatMax<float>)            \
  ROW(max_f64, FloatMax<double>)           \
  ROW(key16, KeyMax<std::int16_t>)         \
  ROW(key32, KeyMax<std::int32_t>)         \
  ROW(key64, KeyMax<std::int64_t>)
#define NDPOOL_GENERAL_SUMS(ROW) \
  ROW(sum_f32, RealSum<float>)   \
  ROW(sum_f64, RealSum<double>)
#define NDPOOL_GENERAL_SHORT_SUMS(ROW) \
  ROW(sum_f16, HalfSum<f16>)           \
  ROW(sum_bf16, HalfSum<bf16>)         \
  ROW(ties_f32, TieSum32)
#define NDPOOL_GENERAL_BYTE_SUMS(ROW)                 \
  ROW(sum_i8, IntegerSum<std::int8_t, std::int32_t>)  \
  ROW(sum_u8, IntegerSum<std::uint8_t, std::int32_t>) \
  ROW(few_i8, IntegerSum<std::int8_t, std::int16_t>)  \
  ROW(few_u8, IntegerSum<std::uint8_t, std::uint16_t>)
#define NDPOOL_GENERAL_INTEGER_SUMS(ROW)                \
  ROW(sum_i16, IntegerSum<std::int16_t, std::int32_t>)  \
  ROW(sum_u16, IntegerSum<std::uint16_t, std::int32_t>) \
  ROW(sum_i32, IntegerSum<std::int32_t, std::int64_t>)  \
  ROW(sum_u32, IntegerSum<std::uint32_t, std::int64_t>)
/// One at a time: compiled as plain code alone.
#define NDPOOL_GENERAL_WIDE_SUMS(ROW)   \
  ROW(wide_i8, WideSum<std::int8_t>)    \
  ROW(wide_u8, WideSum<std::uint8_t>)   \
  ROW(wide_i16, WideSum<std::int16_t>)  \
  ROW(wide_u16, WideSum<std::uint16_t>) \
  ROW(wide_i32, WideSum<std::int32_t>)  \
  ROW(wide_u32, WideSum<std::uint32_t>) \
  ROW(wide_i64, WideSum<std::int64_t>)  \
  ROW(wide_u64, WideSum<std::uint64_t>) \
  ROW(ties_f64, TieSum64)
/// Extremes with their positions: as many bits as the values have, and where positions need more than that leaves.
#define NDPOOL_GENERAL_POSITIONS(ROW)                               \
  ROW(position8, PackedPosition<std::uint8_t, std::uint32_t, 24>)   \
  ROW(position16, PackedPosition<std::uint16_t, std::uint32_t, 16>) \
  ROW(position32, PackedPosition<std::uint32_t, std::int64_t, 32>)
#define NDPOOL_GENERAL_FAR_POSITIONS(ROW)                            \
  ROW(position64, PairedPosition)                                    \
  ROW(far_position8, PackedPosition<std::uint8_t, std::int64_t, 48>) \
  ROW(far_position16, PackedPosition<std::uint16_t, std::int64_t, 48>)
#define NDPOOL_GENERAL_ELEMENTS(ROW)   \
  NDPOOL_GENERAL_INTEGER_EXTREMES(ROW) \
  NDPOOL_GENERAL_FLOAT_EXTREMES(ROW)   \
  NDPOOL_GENERAL_SUMS(ROW)             \
  NDPOOL_GENERAL_SHORT_SUMS(ROW)       \
  NDPOOL_GENERAL_BYTE_SUMS(ROW)        \
  NDPOOL_GENERAL_INTEGER_SUMS(ROW)     \
  NDPOOL_GENERAL_WIDE_SUMS(ROW)        \
  NDPOOL_GENERAL_POSITIONS(ROW)        \
  NDPOOL_GENERAL_FAR_POSITIONS(ROW)

enum class ElementKind : unsigned char {
#define NDPOOL_ROW(name, ...) name,
  NDPOOL_GENERAL_ELEMENTS(NDPOOL_ROW)
#undef NDPOOL_ROW
      count,
};
inline constexpr int element_kinds = static_cast<int>(ElementKind::count);

/// The element of a pool, and how it is finished.
struct ElementChoice {
  ElementKind kind = ElementKind::count;
  ElementTraits traits;
  Finish finish;
};

/// None if no element serves: reducers that are no extreme and no sum, and divisors that are not exact as a double.
std::optional<ElementChoice> choose_element(ScalarKind scalar, const KernelChoice& choice, Index taps);

/// Pairs of ties/pair.hpp.
ElementChoice tie_element(bool is_double);

/// Elements of max or min with positions, the one with the smallest integers first.
struct PositionChoice {
  ElementChoice element;
  Index max_position;
};
std::vector<PositionChoice> choose_position_elements(ScalarKind scalar, const KernelChoice& choice);

}  // namespace ndpool::general
