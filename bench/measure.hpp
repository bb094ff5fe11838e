// Kernels against the streaming limit: the time of one map, the time it takes to read its inputs once and write its
// outputs once, and the ratio of the two. Both are measured in turn in the same process, because the speed of a machine
// changes from one second to the next and would spoil the ratio otherwise.
#pragma once

#include "cases.hpp"
#include "report.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ndpool::bench {

/// How long to measure: at least so many rounds and seconds, but no new round after four times as many seconds.
struct Effort {
  int rounds = 15;
  double seconds = 0.25;
};

/// Nothing if the scalar of the case has no kernels.
std::optional<Result> measure(const Case& measured, const Effort& effort);

/// What a pool costs where there is next to nothing to pool. A call is shorter than a clock can tell: many make one
/// run.
std::vector<std::pair<std::string, std::function<double(const Effort&)>>> calls();

}  // namespace ndpool::bench
