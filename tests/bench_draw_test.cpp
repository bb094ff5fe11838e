// The random problems of the benchmark: the same for a seed, valid, of the size that was asked for, and of every kind.
#include "bench/draw.hpp"
#include "support/generated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ndpool::testing {
namespace {

using bench::Case;
using bench::Layout;

constexpr Index bytes = 2 << 20;

const std::vector<Case>& drawn_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> drawn;
    for (Index number = 0; number < 1000; ++number) drawn.push_back(bench::draw_case(1, number, bytes));
    return drawn;
  }();
  return cases;
}

/// How many problems have each name.
template <class F>
std::map<std::string, int> counts_by(F name) {
  std::map<std::string, int> counts;
  for (const Case& drawn : drawn_cases()) ++counts[name(drawn)];
  return counts;
}

template <class F>
Index count_if(F condition) {
  return std::ranges::count_if(drawn_cases(), condition);
}

Index item_size_of(const Case& drawn) {
  const std::string input = drawn.scalar.substr(0, drawn.scalar.find('-'));
  if (input == "boolean" || input.ends_with("i8") || input.ends_with("u8")) return 1;
  return input.ends_with("16") ? 2 : input.ends_with("32") ? 4 : 8;
}

/// The pooled axes of a problem.
std::vector<Axis> pooled_axes(const Case& drawn) {
  const Geometry geometry = drawn.problem.pool.geometry(drawn.problem.shape);
  std::vector<Axis> axes;
  for (int a = 0; a < geometry.rank; ++a)
    if (geometry.axes[a].pooled) axes.push_back(geometry.axes[a]);
  return axes;
}

TEST(BenchDraw, EqualSeedsGiveEqualProblems) {
  for (Index number = 0; number < 20; ++number)
    EXPECT_EQ(bench::draw_case(1, number, bytes).text(), drawn_cases()[static_cast<std::size_t>(number)].text());
}

TEST(BenchDraw, SeedsNumbersAndSizesGiveOtherProblems) {
  std::set<std::string> texts;
  for (const Case& drawn : drawn_cases()) texts.insert(drawn.text());
  EXPECT_GT(texts.size(), 990U);
  EXPECT_FALSE(texts.contains(bench::draw_case(2, 0, bytes).text()));
  EXPECT_FALSE(texts.contains(bench::draw_case(1, 0, 2 * bytes).text()));
}

TEST(BenchDraw, ProblemsCanBePlannedAndHaveTheirSize) {
  for (const Case& drawn : drawn_cases()) {
    SCOPED_TRACE(drawn.text());
    const Case longer = bench::with_longer_last_axis(drawn);
    EXPECT_EQ(bench::parse_unnamed_case(longer.text()).problem.shape, longer.problem.shape);
    for (const Case& each : {drawn, longer})
      EXPECT_NO_THROW(each.problem.pool.plan<double>(each.problem.shape, each.strides()));
    const Index size = element_count(drawn.problem.shape) * item_size_of(drawn);
    EXPECT_LE(size, bytes);
    EXPECT_GT(size, bytes / 4);
  }
}

TEST(BenchDraw, EveryMapScalarLayoutAndGeometryIsDrawn) {
  const auto maps = counts_by([](const Case& drawn) { return bench::name_of(drawn.map); });
  for (const std::string& map : bench::map_names()) EXPECT_GE(maps.contains(map) ? maps.at(map) : 0, 40) << map;
  const auto scalars = counts_by([](const Case& drawn) { return drawn.scalar; });
  for (const std::string& scalar : bench::scalar_names())
    EXPECT_GE(scalars.contains(scalar) ? scalars.at(scalar) : 0, 3) << scalar;
  const auto operators_drawn = counts_by([](const Case& drawn) { return drawn.operator_name; });
  for (const char* op : operators) EXPECT_GE(operators_drawn.at(op), 30) << op;
  const auto layouts = counts_by([](const Case& drawn) { return bench::name_of(drawn.layout); });
  for (const Layout layout : {Layout::packed, Layout::fortran, Layout::crop, Layout::every_second})
    EXPECT_GE(layouts.at(bench::name_of(layout)), 25) << bench::name_of(layout);
  for (const char* geometry : {"global-", "adaptive-"})
    EXPECT_GE(count_if([&](const Case& drawn) { return drawn.line.starts_with(geometry); }), 60) << geometry;
  for (std::size_t rank = 1; rank <= 5; ++rank)
    EXPECT_GE(count_if([&](const Case& drawn) { return pooled_axes(drawn).size() == rank; }), 30) << rank;
}

TEST(BenchDraw, WindowsAndPlanesOfEverySizeAreDrawn) {
  const auto any_axis = [](auto condition) {
    return count_if([&](const Case& drawn) { return std::ranges::any_of(pooled_axes(drawn), condition); });
  };
  const auto all_axes = [](auto condition) {
    return count_if([&](const Case& drawn) { return std::ranges::all_of(pooled_axes(drawn), condition); });
  };
  EXPECT_GE(any_axis([](const Axis& axis) { return !axis.adaptive && axis.kernel > 16 && axis.kernel <= 64; }), 100);
  EXPECT_GE(any_axis([](const Axis& axis) { return !axis.adaptive && axis.kernel > 64; }), 20);
  EXPECT_GE(any_axis([](const Axis& axis) { return axis.dilation > 1; }), 30);
  EXPECT_GE(any_axis([](const Axis& axis) { return axis.lo >= axis.kernel; }), 20);
  EXPECT_GE(any_axis([](const Axis& axis) { return axis.stride > 1 && axis.stride < axis.kernel; }), 100);
  EXPECT_GE(all_axes([](const Axis& axis) { return axis.input <= 8; }), 40);
  EXPECT_GE(all_axes([](const Axis& axis) { return axis.input == 1; }), 1);
  EXPECT_GE(count_if([](const Case& drawn) { return pooled_axes(drawn).back().input <= 15; }), 100);
  EXPECT_GE(count_if([](const Case& drawn) {
              const Geometry geometry = drawn.problem.pool.geometry(drawn.problem.shape);
              return !geometry.axes[geometry.rank - 1].pooled && geometry.axes[geometry.rank - 1].input > 1;
            }),
            200);
}

TEST(BenchDraw, AQuarterOfTheSidesArePowersOfTwo) {
  Index sides = 0, powers = 0;
  for (const Case& drawn : drawn_cases())
    for (const Axis& axis : pooled_axes(drawn)) {
      if (axis.input < 16) continue;  // of which more are powers of two by themselves
      ++sides;
      powers += std::has_single_bit(static_cast<std::uint64_t>(axis.input)) ? 1 : 0;
    }
  EXPECT_GE(powers * 100, sides * 22);
  EXPECT_LE(powers * 100, sides * 40);
}

}  // namespace
}  // namespace ndpool::testing
