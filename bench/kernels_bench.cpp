// The table of docs/performance.md: every case of bench/cases against the streaming limit.
#include "measure.hpp"

#include <cstdio>
#include <stdexcept>

namespace ndpool::bench {
namespace {

struct Options {
  std::string filter, json, svg;
  Effort effort;
  bool help = false;
};

constexpr const char* usage =
    "kernels_bench [filter] [--json FILE] [--svg FILE] [--quick]\n"
    "Measures the cases of bench/cases whose names contain the filter against the streaming limit.\n"
    "  --json FILE  also writes the numbers\n"
    "  --svg FILE   also draws the ratios\n"
    "  --quick      measures each case for a fifth of the time\n";

Options parse_options(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--json" || word == "--svg") {
      if (++i == words.size()) throw std::invalid_argument(word + " needs a file");
      (word == "--json" ? options.json : options.svg) = words[i];
    } else if (word == "--quick") {
      options.effort = {.rounds = 5, .seconds = 0.05};
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

void run(const Options& options) {
  const auto wanted = [&](const std::string& name) { return name.find(options.filter) != std::string::npos; };
  set_threads(1);
  Report report;
  report.start();
  for (const Case& measured : read_all_cases()) {
    if (!wanted(measured.name)) continue;
    if (const std::optional<Result> result = measure(measured, options.effort))
      report.add(*result);
    else
      report.skip(measured);
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
