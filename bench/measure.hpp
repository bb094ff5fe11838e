// Kernels against their limit: the time of one map, and the time it takes to read its inputs once and write its outputs
// once, or to take the exp or a power of every input where that takes longer.
#pragma once

#include "cases.hpp"
#include "report.hpp"
#include "timing.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ndpool::bench {

/// How far a measurement has come. Plain values, so that another process can read them.
struct Progress {
  Times times;
  double stream_bytes = 0;
  char implementation[32] = "";  ///< that ran the map
};

/// Leaves the time of the map infinite if that needs winners which cannot be found in 2 s.
void measure_into(Progress& progress, const Case& measured, const Effort& effort);

/// Nothing if the map has no time.
std::optional<Result> result_of(const Case& measured, const Progress& progress);

/// Nothing if the map needs winners, and finding them takes longer than 2 s: that is another map's time.
std::optional<Result> measure(const Case& measured, const Effort& effort);

/// The same in a process of its own, which is killed if a run cannot be stopped. Prints what crashes.
std::optional<Result> measure_apart(const Case& measured, Effort effort);

/// What a pool costs where there is next to nothing to pool. A call is shorter than a clock can tell: many make one
/// run.
std::vector<std::pair<std::string, std::function<double(const Effort&)>>> calls();

}  // namespace ndpool::bench
