// Pools whose result has another type than the input, as lines of the list of implementations: slice by slice, numbers
// wide enough for both are packed, pooled by the general engine, and rounded once to the result's type.
#include "plan/map_runs.hpp"
#include "plan/sliced_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace ndpool {

using mixed::WorkKind;

namespace {

struct Scalar {
  bool is_float, is_signed;
  int digits;  ///< of the mantissa, or of the magnitude
};
constexpr Scalar scalars[] = {
#define NDPOOL_ROW(name, type) {!std::is_integral_v<type>, std::is_signed_v<type>, std::numeric_limits<type>::digits},
    NDPOOL_ALL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
};
const Scalar& scalar_of(ScalarKind kind) { return scalars[static_cast<int>(kind)]; }

constexpr int float_digits = 24, double_digits = 53;

/// Conversions that round are monotonous, so the extreme of converted numbers is the converted extreme.
std::optional<WorkKind> work_of_extreme(const Scalar& x, const Scalar& y, bool has_empty_windows) {
  if (x.is_float) return x.digits <= float_digits ? WorkKind::f32 : WorkKind::f64;
  if (y.is_float && x.digits <= float_digits) return WorkKind::f32;
  if (y.is_float && x.digits <= double_digits) return WorkKind::f64;
  if (y.is_float && has_empty_windows) return std::nullopt;  // -infinity, which integers do not have
  return x.is_signed || x.digits < 64 ? WorkKind::i64 : WorkKind::u64;
}

/// Floats are summed in the wider of both types. Sums of integers must be exact; a quotient of exact numbers, rounded
/// to the work type and then to a shorter one, is rounded as if once while the divisor leaves enough digits between.
std::optional<WorkKind> work_of_sum(const Scalar& x, const Scalar& y, const KernelChoice& choice, Index taps) {
  if (x.is_float) {
    const int needed = std::max(x.digits, y.digits);
    if (needed <= float_digits) return WorkKind::f32;
    return needed <= double_digits ? std::optional(WorkKind::f64) : std::nullopt;
  }
  const double sum = std::ldexp(static_cast<double>(taps), x.digits + (x.is_signed ? 1 : 0));
  const bool has_divisor = choice.averages && choice.average.divisor != AverageOptions::no_divisor;
  const double divisor =
      has_divisor ? std::abs(static_cast<double>(choice.average.divisor)) : static_cast<double>(taps);
  if (y.is_float && y.digits == float_digits && sum < std::ldexp(1.0, float_digits) &&
      divisor < std::ldexp(1.0, float_digits))
    return WorkKind::f32;
  if (sum < std::ldexp(1.0, double_digits - 2) && divisor < std::ldexp(1.0, double_digits - 1 - float_digits - 1))
    return WorkKind::f64;
  return std::nullopt;
}

/// True if planes are without gaps, or have rows that are long enough to be folded where they are.
bool has_dense_planes(const Rows& rows) {
  constexpr Index long_row = 128;
  Index stride = rows.horizontal.window.input * rows.inner.extent;
  if (!rows.in_is_packed() || stride >= long_row) return rows.in_is_packed();
  for (int v = rows.vertical_count - 1; v >= 0; --v) {
    if (rows.vertical[v].stride.in != stride) return false;
    stride *= rows.vertical[v].window.input;
  }
  return true;
}

std::optional<WorkKind> work_of(const PlanData& data, bool has_empty_windows) {
  const Scalar &x = scalar_of(data.kind), &y = scalar_of(data.result);
  switch (data.choice.combine) {
    case Combine::max:
    case Combine::min: return work_of_extreme(x, y, has_empty_windows);
    case Combine::sum: return work_of_sum(x, y, data.choice, data.rows->tap_count);
    default: return std::nullopt;
  }
}

}  // namespace

void add_mixed_plan(PlanData& data, bool has_empty_windows) {
  const std::optional<WorkKind> work = work_of(data, has_empty_windows);
  if (!work) return;
  // An extreme is a number of the input, but for that of an empty window, which is one of the result's type.
  const bool folds_input = data.choice.combine != Combine::sum && !has_empty_windows && has_dense_planes(*data.rows);
  data.mixed = SlicedPlan::make_mixed(data.kind, data.result, *work, folds_input, data.choice, *data.rows);
}

bool accepts_mixed(const PlanData& plan) { return plan.mixed != nullptr; }
Needs needs_of_mixed(const PlanData& plan) { return {plan.mixed->scratch_bytes(), plan.mixed->slice_count()}; }
bool run_mixed(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch) {
  return plan.mixed->run(arrays, watch);
}

}  // namespace ndpool
