// What `ndpool bench` measures, for the page of the demo too.
#pragma once

#include "array.hpp"
#include "measure.hpp"
#include "progress.hpp"

#include <functional>
#include <vector>

namespace ndpool::cli {

/// One case of each family of kernels, too large for the caches.
const std::vector<bench::Case>& bench_cases();

/// Measures them on one thread; `use` gets each result and answers whether to go on.
std::vector<bench::Result> measure_cases(const bench::Effort& effort,
                                         const std::function<bool(const bench::Result&)>& use);

/// Bytes that the map of a case reads and writes at least.
double bytes_of(const bench::Result& result);

void print_bench_header();
void print_bench_row(const bench::Result& result);

}  // namespace ndpool::cli
