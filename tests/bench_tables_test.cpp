// What the benchmark makes of its measurements: quantiles, groups, stopped runs; and how its programs are called.
#include "bench/arguments.hpp"
#include "bench/grid.hpp"
#include "bench/quantiles.hpp"
#include "bench/timing.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ndpool::testing {
namespace {

using bench::Arguments;
using bench::Case;
using bench::Group;
using bench::Result;

TEST(BenchTables, QuantilesAreElementsOfTheGroup) {
  Group group;
  for (int i = 100; i > 0; --i) group.scores.push_back({static_cast<double>(i), i == 100});
  EXPECT_EQ(group.at(0.5).value, 51);
  EXPECT_EQ(group.at(0.9).value, 91);
  EXPECT_EQ(group.at(0.99).value, 100);
  EXPECT_TRUE(group.at(1).exceeds);
  EXPECT_FALSE(group.at(0.5).exceeds);
  group.scores = {{7}};
  EXPECT_EQ(group.at(0.99).value, 7);
}

TEST(BenchTables, ResultsAreGroupedByName) {
  std::vector<Result> results;
  for (const char* line : {"max shape=4 kernel=2 | f32", "max shape=6 kernel=2 | bf16", "max shape=8 kernel=2 | f32"})
    results.push_back({.measured = bench::parse_unnamed_case(line), .seconds = 1});
  const std::vector<Group> groups = bench::group_by(
      results, [](const Result& result) { return bench::Score{result.seconds}; },
      [](const Result& result) { return result.measured.scalar; });
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].name, "bf16");
  EXPECT_EQ(groups[0].scores.size(), 1U);
  EXPECT_EQ(groups[1].name, "f32");
  EXPECT_EQ(groups[1].scores.size(), 2U);
}

TEST(BenchTables, TheLimitIsTheLargerOfStreamAndPass) {
  Result result{.measured = bench::parse_unnamed_case("lp p=3 shape=4 kernel=2 | f32 | goal=2"),
                .seconds = 6,
                .stream_seconds = 2,
                .pass_seconds = 3};
  EXPECT_EQ(result.ratio(), 2);
  EXPECT_TRUE(result.meets_goal());
  result.stopped = true;
  EXPECT_FALSE(result.meets_goal());
}

TEST(BenchTables, AFinishedRunIsBetterThanAStoppedOne) {
  const Case measured = bench::parse_unnamed_case("max shape=4 kernel=2 | f32");
  Result stopped{.measured = measured, .seconds = 1, .stream_seconds = 3, .stopped = true};
  const Result finished{.measured = measured, .seconds = 2, .stream_seconds = 4};
  stopped.keep_best(finished);
  EXPECT_EQ(stopped.seconds, 2);
  EXPECT_FALSE(stopped.stopped);
  EXPECT_EQ(stopped.stream_seconds, 3);
}

TEST(BenchTables, ARunIsStoppedAndNotRepeated) {
  int runs = 0;
  const auto endless = [&](const ProgressCallback& callback) {
    ++runs;
    while (callback.keep_going(callback.context, 0)) continue;
    return false;
  };
  bench::Times times;
  bench::measure_times({.rounds = 4, .seconds = 0.001, .run_limit = 0.01},
                       {{bench::map, endless}, {bench::map, endless}}, times);
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(times.stopped[bench::map]);
  EXPECT_GE(times.best[bench::map], 0.01);
}

TEST(BenchTables, SlowRunsAreNotRepeated) {
  int slow = 0, quick = 0;
  const auto sleep = [&](const ProgressCallback&) {
    ++slow;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return true;
  };
  const auto return_at_once = [&](const ProgressCallback&) {
    ++quick;
    return true;
  };
  bench::Times times;
  bench::measure_times({.rounds = 4, .seconds = 0.001},
                       {{bench::limit, return_at_once}, {bench::map, sleep}, {bench::map, sleep}}, times);
  EXPECT_EQ(slow, 2);
  EXPECT_GE(quick, 3);
}

TEST(BenchTables, TheGridHasEveryCellInItsGroup) {
  std::vector<int> counts(bench::grid_groups().size());
  for (const Case& cell : bench::grid_cases()) {
    ++counts[bench::grid_group_of(cell)];
    EXPECT_NO_THROW(cell.problem.pool.output_shape(cell.problem.shape)) << cell.text();
  }
  // 10 scalars, 3 layouts, 11 small and 8 other windows; 4 floats with two derivatives.
  EXPECT_EQ(counts, std::vector<int>({330, 240, 132, 96, 198, 144, 570 + 2 * 228}));
}

TEST(BenchTables, OptionsAreTakenOnce) {
  Arguments arguments({"vjp", "--quick", "--bytes", "8M", "--json", "x.json"});
  EXPECT_EQ(arguments.number("--bytes"), Index{8} << 20);
  EXPECT_EQ(arguments.value("--json"), "x.json");
  EXPECT_EQ(arguments.value("--svg"), std::nullopt);
  EXPECT_TRUE(arguments.flag("--quick"));
  EXPECT_FALSE(arguments.flag("--quick"));
  EXPECT_EQ(arguments.word(), "vjp");
  EXPECT_NO_THROW(arguments.finish());
}

TEST(BenchTables, WrongOptionsAreRejected) {
  const auto number = [](const std::string& word) { return Arguments({"--count", word}).number("--count"); };
  for (const char* word : {"0", "-3", "3x", "many", "", "99999999999999999999"})
    EXPECT_THROW(number(word), std::invalid_argument) << word;
  EXPECT_THROW(Arguments({"--count"}).number("--count"), std::invalid_argument);
  EXPECT_THROW(Arguments({"--cuont", "3"}).finish(), std::invalid_argument);
  const auto select = [](const std::string& option, const std::string& word) {
    Arguments arguments({option, word});
    return bench::Selection(arguments);
  };
  EXPECT_THROW(select("--map", "hessian"), std::invalid_argument);
  EXPECT_THROW(select("--scalar", "f8"), std::invalid_argument);
  EXPECT_TRUE(select("--map", "vjp").accepts(bench::parse_unnamed_case("max shape=4 kernel=2 | f32 | vjp")));
  EXPECT_FALSE(select("--map", "vjp").accepts(bench::parse_unnamed_case("max shape=4 kernel=2 | f32")));
  EXPECT_TRUE(select("--filter", "=4 k").accepts(bench::parse_unnamed_case("max shape=4 kernel=2 | f32")));
}

}  // namespace
}  // namespace ndpool::testing
