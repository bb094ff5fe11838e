// ndpool bench: how close to this machine's streaming limit each family of kernels runs.
#include "commands/bench_command.hpp"

#include "commands/commands.hpp"
#include "report/machine.hpp"
#include "report/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ndpool::cli {

namespace {

const std::vector<problem::NamedProblem>& families() {
  static const std::vector<problem::NamedProblem> cases = {
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
  return cases;
}

}  // namespace

std::string limit_of(const bench::Report& report) {
  return fmt::format("The streaming limit of this machine: {:.1f} GB/s, read and written",
                     report.streaming_rate() / 1e9);
}

std::string distance_from_limit(const bench::Report& report) {
  std::vector<bench::Result> results = report.results();
  if (results.empty()) return "Nothing was measured";
  std::ranges::sort(results, {}, &bench::Result::ratio);
  const auto named = [](const bench::Result& result) {
    return fmt::format("{} at {:.2f}", result.measured.name, result.ratio());
  };
  return fmt::format(
      "{} with {}: half of the {} cases take at most {:.2f} times as long as memory alone, on one thread; nearest is "
      "{}, farthest {}",
      processor_name(), target(), results.size(), results[results.size() / 2].ratio(), named(results.front()),
      named(results.back()));
}

bench::Report measure_families(const bench::Effort& effort) {
  bench::Report report;
  report.start();
  set_threads(1);
  for (const problem::NamedProblem& family : families()) {
    if (const std::optional<bench::Result> result = bench::measure(bench::parse_case("", family), effort))
      report.add(*result);
    stop_if_interrupted();
  }
  set_threads(0);
  fmt::print("{}.\n{}.\n", limit_of(report), distance_from_limit(report));
  return report;
}

void add_bench_command(CLI::App& program) {
  const auto quick = std::make_shared<bool>(false);
  CLI::App* app =
      program.add_subcommand("bench", "This machine's streaming limit, and where each family of kernels stands");
  app->add_flag("--quick", *quick, "Measure for a fifth of the time");
  app->footer(
      "The limit is the time it takes to read the input once and write the output once, measured in turn with the\n"
      "kernel; a ratio of 1 is as fast as memory allows. `make bench` measures all cases.\n");
  app->callback([quick] { measure_families(*quick ? bench::Effort{5, 0.05} : bench::Effort{}); });
}

}  // namespace ndpool::cli
