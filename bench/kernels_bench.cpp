// The table of docs/performance.md: every case of bench/cases against the streaming limit.
#include "measure.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>

namespace ndpool::bench {
namespace {

struct Options {
  std::string filter, json, svg;
  Effort effort;
  int sweeps = 3;
  bool help = false;
};

constexpr const char* usage =
    "kernels_bench [filter] [--json FILE] [--svg FILE] [--sweeps N] [--quick]\n"
    "Measures the cases of bench/cases whose names contain the filter against the streaming limit.\n"
    "  --json FILE  also writes the numbers\n"
    "  --svg FILE   also draws the ratios\n"
    "  --sweeps N   goes through all cases N times (3) and keeps the best times: other users of a machine come and go\n"
    "  --quick      one sweep, and a fifth of the time for each case\n";

Options parse_options(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--json" || word == "--svg") {
      if (++i == words.size()) throw std::invalid_argument(word + " needs a file");
      (word == "--json" ? options.json : options.svg) = words[i];
    } else if (word == "--sweeps") {
      options.sweeps = ++i == words.size() ? 0 : std::atoi(words[i].c_str());
      if (options.sweeps < 1) throw std::invalid_argument(word + " needs a number of at least 1");
    } else if (word == "--quick") {
      options.effort = {.rounds = 5, .seconds = 0.05};
      options.sweeps = 1;
    } else if (word == "--help") {
      options.help = true;
    } else if (word.starts_with("-") || !options.filter.empty()) {
      throw std::invalid_argument("not understood: " + word);
    } else {
      options.filter = word;
    }
  }
  return options;
}

/// The best times of one case so far. Those of a map and of its limit come from the same sweeps.
void keep_best(std::optional<Result>& best, const std::optional<Result>& result) {
  if (!best || !result) {
    best = best ? best : result;
    return;
  }
  for (double Result::*time :
       {&Result::seconds, &Result::limit_seconds, &Result::one_thread_seconds, &Result::exp_seconds})
    (*best).*time = std::min((*best).*time, (*result).*time);
}

void run(const Options& options) {
  const auto wanted = [&](const std::string& name) { return name.find(options.filter) != std::string::npos; };
  set_threads(1);
  std::vector<Case> cases = read_all_cases();
  std::erase_if(cases, [&](const Case& measured) { return !wanted(measured.name); });
  std::vector<std::optional<Result>> best(cases.size());
  Report report;
  report.start();
  for (int sweep = 1; sweep <= options.sweeps; ++sweep)
    for (std::size_t i = 0; i < cases.size(); ++i) {
      keep_best(best[i], measure(cases[i], options.effort));
      if (sweep < options.sweeps)
        std::fprintf(stderr, "\rsweep %d of %d, case %zu of %zu ", sweep, options.sweeps, i + 1, cases.size());
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
  if (!options.json.empty()) report.write_json(options.json);
  if (!options.svg.empty()) report.write_svg(options.svg);
}

}  // namespace
}  // namespace ndpool::bench

int main(int argc, char** argv) {
  try {
    const ndpool::bench::Options options = ndpool::bench::parse_options({argv + 1, argv + argc});
    if (options.help)
      std::fputs(ndpool::bench::usage, stdout);
    else
      ndpool::bench::run(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kernels_bench: %s\n", error.what());
    return 2;
  }
}
