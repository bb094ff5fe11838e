// The cases of the benchmark: a broken line should fail here, not in the middle of a measurement.
#include "bench/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace ndpool::testing {
namespace {

using bench::Case;
using bench::Map;

/// The scalars with kernels, and those that are to have them.
std::set<std::string> scalars() {
  std::set<std::string> names = {"f16", "bf16"};
#define NDPOOL_ROW(kind, type) names.insert(#kind);
  NDPOOL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
  return names;
}

TEST(BenchCases, EveryFileIsMeasured) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(NDPOOL_SOURCE_DIR "/bench/cases"))
    found.insert(entry.path().stem());
  EXPECT_EQ(found, std::set<std::string>(bench::case_files().begin(), bench::case_files().end()));
}

TEST(BenchCases, EveryLineCanBeMeasured) {
  std::set<std::string> names;
  for (const Case& each : bench::read_all_cases()) {
    SCOPED_TRACE(each.name);
    EXPECT_TRUE(names.insert(each.name).second) << "two cases have this name";
    EXPECT_TRUE(scalars().contains(each.scalar)) << each.scalar;
    EXPECT_TRUE(each.goal == 0 || each.goal >= 1) << each.goal;
    EXPECT_GE(each.threads, 1);
    const Geometry geometry = each.problem.pool.geometry(each.problem.shape);
    EXPECT_GT(element_count(geometry.output_shape()), 0);
    const bool named_taps = each.map == Map::indices_u8 || each.map == Map::vjp_from_u8;
    const bool has_indices = named_taps || each.map == Map::indices_i64 || each.map == Map::vjp_from_i64;
    EXPECT_TRUE(each.has_winners() || !has_indices);
    EXPECT_TRUE(!named_taps || spec::compact_bytes(geometry) == 1);
    const bool has_values = each.map == Map::forward || each.map == Map::indices_u8 || each.map == Map::indices_i64;
    EXPECT_TRUE(has_values || each.scalar.find('f') != std::string::npos) << "integers have no derivatives";
  }
}

TEST(BenchCases, EveryScalarIsMeasured) {
  std::set<std::string> measured;
  for (const Case& each : bench::read_all_cases()) measured.insert(each.scalar);
  EXPECT_TRUE(std::ranges::includes(measured, scalars()));
}

TEST(BenchCases, FieldsAreRead) {
  const Case full =
      bench::parse_case("file", {"full", "global-max shape=2,3 axes=1 | u8 | vjp | goal=1.5 | threads=2"});
  EXPECT_EQ(full.line, "global-max shape=2,3 axes=1");
  EXPECT_EQ(full.operator_name, "max");
  EXPECT_EQ(full.scalar, "u8");
  EXPECT_EQ(full.map, Map::vjp);
  EXPECT_EQ(full.goal, 1.5);
  EXPECT_EQ(full.threads, 2);
  const Case least = bench::parse_case("file", {"least", "smooth-max shape=4 kernel=2 | f32"});
  EXPECT_EQ(least.operator_name, "smooth-max");
  EXPECT_EQ(least.map, Map::forward);
  EXPECT_EQ(least.goal, 0);
  EXPECT_EQ(least.threads, 1);
}

TEST(BenchCases, WrongLinesAreRejected) {
  const auto parse = [](const std::string& name, const std::string& line) { bench::parse_case("file", {name, line}); };
  EXPECT_THROW(parse("no-scalar", "max shape=4 kernel=2"), std::invalid_argument);
  EXPECT_THROW(parse("no-such-map", "max shape=4 kernel=2 | f32 | hessian"), std::invalid_argument);
  EXPECT_THROW(parse("no-such-word", "max shape=4 kernal=2 | f32"), std::invalid_argument);
  EXPECT_THROW(parse("no-number", "max shape=4 kernel=2 | f32 | goal=fast"), std::invalid_argument);
  EXPECT_THROW(parse("A \"name\"", "max shape=4 kernel=2 | f32"), std::invalid_argument);
}

}  // namespace
}  // namespace ndpool::testing
