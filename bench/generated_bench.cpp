// Random problems against their limits: quantiles per group, per map and per scalar, cliffs, and the worst.
#include "arguments.hpp"
#include "draw.hpp"
#include "pairs.hpp"
#include "summary.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace ndpool::bench {
namespace {

constexpr const char* usage =
    "generated_bench [--seed N] [--count N] [--bytes N] [--threads N] [--map NAME] [--scalar NAME] [--filter TEXT]\n"
    "                [--no-cliffs] [--json FILE]\n"
    "generated_bench --problem 'max shape=64,56,56 kernel=3,3 | f32 | vjp | layout=fortran' [--no-cliffs]\n"
    "Measures random problems against the time to read their inputs and write their outputs once, and for smooth max\n"
    "and Lp to take the exp, or a power, of every input.\n"
    "  --seed N       draws other problems (22)\n"
    "  --count N      so many problems of 2 MB (1000), and a fifth as many of 32 MB\n"
    "  --bytes N      all problems of one size, such as 8M\n"
    "  --threads N    time on N threads over the time on one, instead of over the limit\n"
    "  --map NAME     forward, indices-u8, indices-i64, jvp, vjp, vjp-from-u8 or vjp-from-i64 only\n"
    "  --scalar NAME  one scalar only: f32, bf16, u8->f32, ...\n"
    "  --filter TEXT  problems that contain the text only\n"
    "  --problem LINE measures this problem only, a line as those that are printed\n"
    "  --no-cliffs    does not measure each problem again with one more element on its last axis\n"
    "  --json FILE    also writes the numbers\n";

struct Options {
  explicit Options(Arguments& arguments)
      : seed(static_cast<std::uint64_t>(arguments.number("--seed").value_or(22))),
        count(arguments.number("--count").value_or(1000)),
        bytes(arguments.number("--bytes")),
        threads(static_cast<int>(arguments.number("--threads").value_or(1))),
        selection(arguments),
        problem(arguments.value("--problem")),
        finds_cliffs(!arguments.flag("--no-cliffs")),
        json(arguments.value("--json")) {
    arguments.finish();
  }
  std::uint64_t seed;
  Index count;
  std::optional<Index> bytes;
  int threads;
  Selection selection;
  std::optional<std::string> problem;
  bool finds_cliffs;
  std::optional<std::string> json;
};

std::vector<Case> draw_cases(const Options& options, Index count, Index bytes) {
  std::vector<Case> cases;
  for (Index number = 0; static_cast<Index>(cases.size()) < count; ++number) {
    if (number == 1000 * count)
      throw std::invalid_argument("only " + std::to_string(cases.size()) + " of " + std::to_string(number) +
                                  " problems are accepted by --map, --scalar and --filter");
    Case drawn = draw_case(options.seed, number, bytes);
    drawn.threads = options.threads;
    if (options.selection.accepts(drawn)) cases.push_back(drawn);
  }
  return cases;
}

/// The goals are stated for 2 MB on one thread.
std::vector<Group> goal_groups() {
  return {{.name = "max, min, sum, average: forward", .goals = {{3, 8, 25}, {2, 6, 20}}},
          {.name = "... with indices", .goals = {{4.5, 12, 40}, {3, 8, 25}}},
          {.name = "... JVP, VJP", .goals = {{5, 12, 40}, {3.5, 10, 30}}},
          {.name = "... VJP by indices", .goals = {{2.6, 5, 12}, {2, 4, 10}}},
          {.name = "smooth max, Lp: forward", .goals = {{3, 8, 20}, {2.5, 6, 15}}},
          {.name = "... derivatives", .goals = {{6, 15, 40}, {5, 12, 30}}}};
}

std::size_t group_of(const Case& measured) {
  if (measured.is_analytic()) return is_derivative(measured.map) ? 5 : 4;
  if (measured.map == Map::forward) return 0;
  if (!is_derivative(measured.map)) return 1;
  return has_indices(measured.map) ? 3 : 2;
}

struct Set {
  std::string title;
  std::vector<Case> cases;
};

/// The sets of problems that the options ask for.
std::vector<Set> sets_of(const Options& options) {
  if (options.problem) {
    Case given = parse_unnamed_case(*options.problem);
    given.threads = std::max(given.threads, options.threads);
    return {{"the given problem", {given}}};
  }
  std::vector<std::pair<Index, Index>> counts = {{2 << 20, options.count}, {32 << 20, (options.count + 4) / 5}};
  if (options.bytes) counts = {{*options.bytes, options.count}};
  std::vector<Set> sets;
  for (const auto& [bytes, count] : counts)
    sets.push_back({text("%.3g MB, seed %llu", static_cast<double>(bytes) / (1 << 20),
                         static_cast<unsigned long long>(options.seed)),
                    draw_cases(options, count, bytes)});
  return sets;
}

void run(const Options& options) {
  set_threads(1);
  const bool has_goals = options.threads == 1;
  std::printf("%s, target %s\n",
              has_goals ? "time over the limit, one thread" : "time on all threads over the time on one",
              target().c_str());
  std::vector<Group> groups = goal_groups();
  if (!has_goals)
    for (Group& group : groups) group.goals.clear();
  std::vector<Summary> summaries;
  for (const Set& set : sets_of(options)) {
    summaries.emplace_back(set.title, measure_pairs(set.title, set.cases, options.finds_cliffs), groups, group_of);
    summaries.back().print(has_goals ? std::vector<std::string>{"at least", "goal"} : std::vector<std::string>{});
  }
  if (options.json) write_json(*options.json, summaries);
}

}  // namespace
}  // namespace ndpool::bench

int main(int argc, char** argv) {
  return ndpool::bench::run_program(
      "generated_bench", ndpool::bench::usage, {argv + 1, argv + argc},
      [](ndpool::bench::Arguments& words) { ndpool::bench::run(ndpool::bench::Options(words)); });
}
