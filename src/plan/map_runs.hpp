// How the maps of a plan run, and what each way accepts. Referred to by the list of implementations alone.
#pragma once

#include "kernels/table.hpp"
#include "plan/implementations.hpp"

namespace ndpool {

std::size_t size_of(ScalarKind kind);
bool is_floating(ScalarKind kind);

/// The layout of maps by given indices, for pools whose winners have derivatives.
void add_index_layout(PlanData& plan, const Rows& rows);
/// What is known of a pool that only maps by given indices are asked of; null if no implementation serves them.
std::unique_ptr<const PlanData> make_index_data(ScalarKind kind, const Geometry& geometry, const ArrayStrides& strides);

/// Prepares smooth max and Lp.
void add_analytic_plans(PlanData& data);
/// Of max and min whose derivatives go to all extremes that tie.
void add_tie_plans(PlanData& data, const Rows& rows);
/// Of pools whose result has another type than the input.
void add_mixed_plan(PlanData& data, bool has_empty_windows);

bool accepts_rows(const PlanData& plan);
Needs needs_of_rows(const PlanData& plan);
bool run_rows(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool accepts_tie_jvp(const PlanData& plan);
bool accepts_tie_vjp(const PlanData& plan);
Needs needs_of_tie_jvp(const PlanData& plan);
Needs needs_of_tie_vjp(const PlanData& plan);
bool run_tie_jvp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool run_tie_vjp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool accepts_mixed(const PlanData& plan);
Needs needs_of_mixed(const PlanData& plan);
bool run_mixed(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool accepts_analytic(const PlanData& plan);
bool accepts_analytic_jvp(const PlanData& plan);
bool accepts_analytic_vjp(const PlanData& plan);
Needs needs_of_analytic(const PlanData& plan);
Needs needs_of_analytic_jvp(const PlanData& plan);
Needs needs_of_analytic_vjp(const PlanData& plan);
bool run_analytic(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool run_analytic_jvp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool run_analytic_vjp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool accepts_winners(const PlanData& plan);
bool accepts_winner_derivatives(const PlanData& plan);
Needs needs_of_winners(const PlanData& plan);
Needs needs_of_winner_vjp(const PlanData& plan);
bool run_winner_indices(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool run_winner_jvp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool run_winner_vjp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool accepts_rows_jvp(const PlanData& plan);
bool accepts_disjoint(const PlanData& plan);
Needs needs_of_disjoint(const PlanData& plan);
bool run_disjoint(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool accepts_indices(const PlanData& plan);
bool accepts_unpooling(const PlanData& plan);
Needs needs_of_index_jvp(const PlanData& plan);
Needs needs_of_index_vjp(const PlanData& plan);
Needs needs_of_unpool(const PlanData& plan);
Needs needs_of_unpool_vjp(const PlanData& plan);
bool check_indices(const PlanData& plan, const MapArrays& arrays);
bool run_index_jvp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool run_index_vjp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool accepts_disjoint_indices(const PlanData& plan);
bool run_disjoint_indices(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool run_unpool(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool run_unpool_vjp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool accepts_split(const PlanData& plan);
Needs needs_of_split(const PlanData& plan);
bool run_split(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool accepts_general(const PlanData& plan);
Needs needs_of_general(const PlanData& plan);
bool run_general(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool accepts_general_argmax(const PlanData& plan);
Needs needs_of_general_argmax(const PlanData& plan);
bool run_general_argmax(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool accepts_argmax_jvp(const PlanData& plan);
bool accepts_argmax_vjp(const PlanData& plan);
Needs needs_of_argmax_jvp(const PlanData& plan);
Needs needs_of_argmax_vjp(const PlanData& plan);
bool run_argmax_jvp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool run_argmax_vjp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool accepts_general_jvp(const PlanData& plan);
Needs needs_of_general_jvp(const PlanData& plan);
bool run_general_jvp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);
bool accepts_general_vjp(const PlanData& plan);
Needs needs_of_general_vjp(const PlanData& plan);
bool run_general_vjp(const PlanData& plan, const MapArrays& arrays, const ProgressCallback& watch);

}  // namespace ndpool
