// Conversions between the scalars of arrays and the numbers that a pool works in where its result has another type than
// its input. Knows no instruction set.
#pragma once

#include "kernels/analytic/slice.hpp"

namespace ndpool::mixed {

/// The numbers that such a pool works in: wide enough for input and result.
enum class WorkKind : unsigned char { f32, f64, i64, u64 };
inline constexpr int work_kinds = 4;

struct ConversionKernels {
  std::int64_t target = 0;
  /// Packs a part of an array as numbers. Answers the array itself where that is what it holds. Null for floats as
  /// integers.
  const void* (*load[scalar_kinds][work_kinds])(const analytic::CopyLayout&, const void* array, void* box) = {};
  /// Writes packed results to an array, rounded once by the rules of spec/result.hpp.
  void (*store[work_kinds][scalar_kinds])(const analytic::CopyLayout&, const void* box, void* array, Rounding) = {};
};

/// What was compiled for a target, or for the best one below it.
const ConversionKernels* conversions_for(std::int64_t target);

}  // namespace ndpool::mixed
