// Smooth max, Lp and derivatives by ties as lines of the list of implementations.
#include "plan/map_runs.hpp"
#include "plan/sliced_plan.hpp"

#include <cmath>

namespace ndpool {

using analytic::SliceMap;

namespace {

/// True if every window is one cell.
bool is_identity(const Rows& rows) {
  const auto is_one_cell = [](const Axis& axis) {
    const Range full = axis.full_outputs();
    return axis.kernel == 1 && (axis.adaptive || (full.begin == 0 && full.end == axis.output));
  };
  for (int v = 0; v < rows.vertical_count; ++v)
    if (!is_one_cell(rows.vertical[v].window)) return false;
  return is_one_cell(rows.horizontal.window);
}

/// The weight of a single cell is 1 whatever beta is. With a tiny beta its power is exactly 1, and so is the weight
/// that is computed, unless the number is enormous.
KernelChoice for_derivatives(const PlanData& data) {
  KernelChoice choice = data.choice;
  constexpr double tiny = 1e-30, tiny_of_doubles = 1e-290;
  if (choice.combine == Combine::smooth_max && is_identity(*data.rows))
    choice.parameter = std::copysign(data.kind == ScalarKind::kind_f64 ? tiny_of_doubles : tiny, choice.parameter);
  return choice;
}

}  // namespace

void add_analytic_plans(PlanData& data) {
  const KernelChoice derivative = for_derivatives(data);
  data.analytic = SlicedPlan::make(data.kind, data.choice, *data.rows, SliceMap::forward);
  data.analytic_jvp = SlicedPlan::make(data.kind, derivative, *data.rows, SliceMap::jvp);
  data.analytic_vjp = SlicedPlan::make(data.kind, derivative, *data.rows, SliceMap::vjp);
}

void add_tie_plans(PlanData& data, const Rows& rows) {
  data.tie_jvp = SlicedPlan::make_ties(data.kind, data.choice, rows, SliceMap::jvp);
  data.tie_vjp = SlicedPlan::make_ties(data.kind, data.choice, rows, SliceMap::vjp);
}

namespace {
Needs needs_of(const SlicedPlan& plan) { return {plan.scratch_bytes(), plan.slice_count()}; }
}  // namespace

bool accepts_tie_jvp(const PlanData& plan) { return plan.tie_jvp != nullptr; }
bool accepts_tie_vjp(const PlanData& plan) { return plan.tie_vjp != nullptr; }
Needs needs_of_tie_jvp(const PlanData& plan) { return needs_of(*plan.tie_jvp); }
Needs needs_of_tie_vjp(const PlanData& plan) { return needs_of(*plan.tie_vjp); }
bool run_tie_jvp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& progress) {
  return plan.tie_jvp->run(arrays, progress);
}
bool run_tie_vjp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& progress) {
  return plan.tie_vjp->run(arrays, progress);
}

bool accepts_analytic(const PlanData& plan) { return plan.analytic != nullptr; }
bool accepts_analytic_jvp(const PlanData& plan) { return plan.analytic_jvp != nullptr; }
bool accepts_analytic_vjp(const PlanData& plan) { return plan.analytic_vjp != nullptr; }
Needs needs_of_analytic(const PlanData& plan) { return needs_of(*plan.analytic); }
Needs needs_of_analytic_jvp(const PlanData& plan) { return needs_of(*plan.analytic_jvp); }
Needs needs_of_analytic_vjp(const PlanData& plan) { return needs_of(*plan.analytic_vjp); }
bool run_analytic(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& progress) {
  return plan.analytic->run(arrays, progress);
}
bool run_analytic_jvp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& progress) {
  return plan.analytic_jvp->run(arrays, progress);
}
bool run_analytic_vjp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& progress) {
  return plan.analytic_vjp->run(arrays, progress);
}

}  // namespace ndpool
