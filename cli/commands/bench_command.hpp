// What `ndpool bench` measures, for the page of the demo too.
#pragma once

#include "measure.hpp"

#include <string>

namespace ndpool::cli {

/// One case of each family of kernels, too large for the caches, on one thread. Prints the table while it grows, and
/// the streaming limit below it. Throws Interrupted at a signal.
bench::Report measure_families(const bench::Effort& effort);

/// One sentence on how far from its memory limit this machine runs: the median of the cases, the nearest and the
/// farthest.
std::string distance_from_limit(const bench::Report& report);

/// The streaming limit as a sentence.
std::string limit_of(const bench::Report& report);

}  // namespace ndpool::cli
