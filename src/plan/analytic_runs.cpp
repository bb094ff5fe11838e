// Smooth max and Lp as lines of the list of implementations.
#include "plan/analytic_plan.hpp"
#include "plan/map_runs.hpp"

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

/// The weight of a single cell is 1 whatever beta is. With a tiny beta its power is exactly 1, and so is the weight that
/// is computed, unless the number is enormous.
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
  data.analytic = AnalyticPlan::make(data.kind, data.choice, *data.rows, SliceMap::forward);
  data.analytic_jvp = AnalyticPlan::make(data.kind, derivative, *data.rows, SliceMap::jvp);
  data.analytic_vjp = AnalyticPlan::make(data.kind, derivative, *data.rows, SliceMap::vjp);
}

bool accepts_analytic(const PlanData& plan) { return plan.analytic != nullptr; }
bool accepts_analytic_jvp(const PlanData& plan) { return plan.analytic_jvp != nullptr; }
bool accepts_analytic_vjp(const PlanData& plan) { return plan.analytic_vjp != nullptr; }
Needs needs_of_analytic(const PlanData& plan) { return {plan.analytic->scratch_bytes(), plan.analytic->slice_count()}; }
Needs needs_of_analytic_jvp(const PlanData& plan) { return {plan.analytic_jvp->scratch_bytes(), plan.analytic_jvp->slice_count()}; }
Needs needs_of_analytic_vjp(const PlanData& plan) { return {plan.analytic_vjp->scratch_bytes(), plan.analytic_vjp->slice_count()}; }
bool run_analytic(const PlanData& plan, const MapArrays& arrays, const Watch& watch) {
  return plan.analytic->run(arrays, watch);
}
bool run_analytic_jvp(const PlanData& plan, const MapArrays& arrays, const Watch& watch) {
  return plan.analytic_jvp->run(arrays, watch);
}
bool run_analytic_vjp(const PlanData& plan, const MapArrays& arrays, const Watch& watch) {
  return plan.analytic_vjp->run(arrays, watch);
}

}  // namespace ndpool
