// The table of docs/performance.md: every case of bench/cases against the streaming limit.
#include "arguments.hpp"
#include "measure.hpp"

#include <cstdio>
#include <optional>
#include <stdexcept>

namespace ndpool::bench {
namespace {

constexpr const char* usage =
    "kernels_bench [filter] [--json FILE] [--svg FILE] [--sweeps N] [--quick]\n"
    "Measures the cases of bench/cases whose names contain the filter against their limits.\n"
    "  --json FILE  also writes the numbers\n"
    "  --svg FILE   also draws the ratios\n"
    "  --sweeps N   goes through all cases N times (3) and keeps the best times: other users of a machine come and go\n"
    "  --quick      one sweep, and a fifth of the time for each case\n";

struct Options {
  explicit Options(Arguments& arguments)
      : json(arguments.value("--json")),
        svg(arguments.value("--svg")),
        quick(arguments.flag("--quick")),
        effort(quick ? Effort{.rounds = 5, .seconds = 0.05} : Effort{}),
        sweeps(arguments.number("--sweeps").value_or(quick ? 1 : 3)),
        filter(arguments.word()) {
    arguments.finish();
  }
  std::optional<std::string> json, svg;
  bool quick;
  Effort effort;
  Index sweeps;
  std::string filter;
};

/// The best times of one case so far. Those of a map and of its limit come from the same sweeps.
void keep_best(std::optional<Result>& best, const std::optional<Result>& result) {
  if (best && result)
    best->keep_best(*result);
  else if (result)
    best = result;
}

void run(const Options& options) {
  const auto wanted = [&](const std::string& name) { return name.find(options.filter) != std::string::npos; };
  set_threads(1);
  std::vector<Case> cases = read_all_cases();
  std::erase_if(cases, [&](const Case& measured) { return !wanted(measured.name); });
  std::vector<std::optional<Result>> best(cases.size());
  Report report;
  report.start();
  for (Index sweep = 1; sweep <= options.sweeps; ++sweep)
    for (std::size_t i = 0; i < cases.size(); ++i) {
      keep_best(best[i], measure_apart(cases[i], options.effort));
      if (sweep < options.sweeps)
        std::fprintf(stderr, "\rsweep %td of %td, case %zu of %zu ", sweep, options.sweeps, i + 1, cases.size());
      else if (best[i])
        report.add(*best[i]);
      else
        report.skip(cases[i]);
      if (sweep + 1 == options.sweeps && i + 1 == cases.size()) std::fputs("\n", stderr);
    }
  for (const auto& [name, time] : calls())
    if (wanted(name)) report.add(Call{name, time(options.effort)});
  if (report.empty()) throw std::invalid_argument("nothing was measured for '" + options.filter + "'");
  report.finish();
  if (options.json) report.write_json(*options.json);
  if (options.svg) report.write_svg(*options.svg);
}

}  // namespace
}  // namespace ndpool::bench

int main(int argc, char** argv) {
  return ndpool::bench::run_program(
      "kernels_bench", ndpool::bench::usage, {argv + 1, argv + argc},
      [](ndpool::bench::Arguments& words) { ndpool::bench::run(ndpool::bench::Options(words)); });
}
