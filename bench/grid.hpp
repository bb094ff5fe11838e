// The grid of max and average: ten scalars, 19 windows, three layouts, at 8 MB.
#pragma once

#include "cases.hpp"
#include "quantiles.hpp"

#include <vector>

namespace ndpool::bench {

std::vector<Case> grid_cases();

/// The groups with their goals, without scores, and which of them a case of the grid belongs to.
std::vector<Group> grid_groups();
std::size_t grid_group_of(const Case& measured);

}  // namespace ndpool::bench
