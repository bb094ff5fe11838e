// Smooth max and Lp as lines of the list of implementations.
#include "plan/analytic_plan.hpp"
#include "plan/map_runs.hpp"

namespace ndpool {

using analytic::SliceMap;

void add_analytic_plans(PlanData& data) {
  data.analytic = AnalyticPlan::make(data.kind, data.choice, *data.rows, SliceMap::forward);
  data.analytic_jvp = AnalyticPlan::make(data.kind, data.choice, *data.rows, SliceMap::jvp);
  data.analytic_vjp = AnalyticPlan::make(data.kind, data.choice, *data.rows, SliceMap::vjp);
}

bool accepts_analytic(const PlanData& plan) { return plan.analytic != nullptr; }
bool accepts_analytic_jvp(const PlanData& plan) { return plan.analytic_jvp != nullptr; }
bool accepts_analytic_vjp(const PlanData& plan) { return plan.analytic_vjp != nullptr; }
std::size_t scratch_of_analytic(const PlanData& plan) { return plan.analytic->scratch_bytes(); }
std::size_t scratch_of_analytic_jvp(const PlanData& plan) { return plan.analytic_jvp->scratch_bytes(); }
std::size_t scratch_of_analytic_vjp(const PlanData& plan) { return plan.analytic_vjp->scratch_bytes(); }
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
