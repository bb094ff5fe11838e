// ndpool bench: how close to this machine's streaming limit each family of kernels runs.
#include "bench_command.hpp"

#include "commands.hpp"
#include "problem.hpp"

#include <fmt/format.h>

#include <memory>

namespace ndpool::cli {

const std::vector<bench::Case>& bench_cases() {
  static const std::vector<bench::Case> cases = [] {
    const std::vector<std::pair<std::string, std::string>> lines = {
        {"max-2x2", "max shape=16,64,112,112 kernel=2,2 | f32"},
        {"max-3x3", "max shape=16,64,112,112 kernel=3,3 stride=2,2 padding=1,1 | f32"},
        {"avg-2x2", "avg shape=16,64,112,112 kernel=2,2 | f32"},
        {"avg-3x3", "avg shape=16,64,112,112 kernel=3,3 stride=2,2 padding=1,1 | f32"},
        {"max-2x2-u8", "max shape=16,64,224,224 kernel=2,2 | u8"},
        {"max-2x2-channels-last", "max shape=16,112,112,64 kernel=2,2 axes=1,2 | f32"},
        {"max-2x2x2", "max shape=64,64,64,64 kernel=2,2,2 | f32"},
        {"max-2x2-indices", "max shape=16,64,112,112 kernel=2,2 | f32 | indices-u8"},
        {"max-2x2-gradient", "max shape=16,64,112,112 kernel=2,2 | f32 | vjp-from-u8"},
        {"avg-2x2-gradient", "avg shape=16,64,112,112 kernel=2,2 | f32 | vjp"},
        {"global-avg-7x7", "global-avg shape=128,2048,7,7 axes=2,3 | f32"},
        {"smooth-max-2x2", "smooth-max shape=16,64,112,112 kernel=2,2 | f32"},
        {"lp-2x2", "lp shape=16,64,112,112 p=2 kernel=2,2 | f32"},
    };
    std::vector<bench::Case> list;
    for (const auto& [name, line] : lines) list.push_back(bench::parse_case("", {name, line}));
    return list;
  }();
  return cases;
}

std::vector<bench::Result> measure_cases(const bench::Effort& effort,
                                         const std::function<bool(const bench::Result&)>& use) {
  set_threads(1);
  std::vector<bench::Result> results;
  for (const bench::Case& each : bench_cases()) {
    const std::optional<bench::Result> result = bench::measure(each, effort);
    if (!result) continue;
    results.push_back(*result);
    if (!use(*result)) throw Problem("interrupted");
  }
  set_threads(0);
  return results;
}

double bytes_of(const bench::Result& result) {
  const bench::Case& c = result.measured;
  Dtype dtype = Dtype::f32;
#define NDPOOL_ROW(name, type) \
  if (c.scalar == #name) dtype = Dtype::name;
  NDPOOL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
  const double in = static_cast<double>(element_count(c.problem.shape)),
               out = static_cast<double>(element_count(c.problem.pool.output_shape(c.problem.shape)));
  const double indices = c.map == bench::Map::indices_u8 || c.map == bench::Map::vjp_from_u8 ? out : 0;
  return item_size(dtype) * (in + out) + indices;
}

void print_bench_header() {
  fmt::print("{:<24} {:>10} {:>10} {:>9} {:>7}\n", "kernel (1 thread)", "time", "limit", "GB/s", "ratio");
}

void print_bench_row(const bench::Result& result) {
  fmt::print("{:<24} {:>7.2f} ms {:>7.2f} ms {:>9.1f} {:>7.2f}\n", result.measured.name, 1e3 * result.seconds,
             1e3 * result.limit_seconds, bytes_of(result) / result.seconds / 1e9, result.ratio());
  std::fflush(stdout);
}

void add_bench_command(CLI::App& program) {
  const auto quick = std::make_shared<bool>(false);
  CLI::App* app =
      program.add_subcommand("bench", "This machine's streaming limit, and where each family of kernels stands");
  app->add_flag("--quick", *quick, "Measure for a fifth of the time");
  app->footer(
      "The limit is the time it takes to read the input once and write the output once, measured in turn with the\n"
      "kernel; a ratio of 1 is as fast as memory allows. `make bench` measures all cases.\n");
  app->callback([quick] {
    print_bench_header();
    measure_cases(*quick ? bench::Effort{5, 0.05} : bench::Effort{}, [](const bench::Result& result) {
      print_bench_row(result);
      return !is_interrupted();
    });
  });
}

}  // namespace ndpool::cli
