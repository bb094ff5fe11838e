// The cases of the benchmark: a broken line should fail here, not in the middle of a measurement.
#include "bench/cases.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace ndpool::testing {
namespace {

using bench::Case;
using bench::Layout;
using bench::Map;

bool is_float(const std::string& scalar) { return scalar.starts_with("f") || scalar.starts_with("bf"); }

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
    EXPECT_TRUE(each.goal == 0 || each.goal >= 1) << each.goal;
    EXPECT_GE(each.threads, 1);
    const Geometry geometry = each.problem.pool.geometry(each.problem.shape);
    EXPECT_GT(element_count(geometry.output_shape()), 0);
    EXPECT_TRUE(each.has_winners() || !has_indices(each.map));
    EXPECT_TRUE(!each.has_compact_indices() || spec::compact_bytes(geometry) == 1);
    EXPECT_TRUE(!is_derivative(each.map) || is_float(each.scalar)) << "only floats have derivatives";
  }
}

TEST(BenchCases, EveryScalarIsMeasured) {
  std::set<std::string> measured;
  for (const Case& each : bench::read_all_cases()) measured.insert(each.scalar);
  EXPECT_EQ(measured, std::set<std::string>(bench::scalar_names().begin(), bench::scalar_names().end()));
}

TEST(BenchCases, FieldsAreRead) {
  const Case full = bench::parse_case(
      "file", {"full", "global-max shape=2,3 axes=1 | u8 | vjp | layout=crop | goal=1.5 | threads=2"});
  EXPECT_EQ(full.line, "global-max shape=2,3 axes=1");
  EXPECT_EQ(full.operator_name, "max");
  EXPECT_EQ(full.scalar, "u8");
  EXPECT_EQ(full.map, Map::vjp);
  EXPECT_EQ(full.layout, Layout::crop);
  EXPECT_EQ(full.goal, 1.5);
  EXPECT_EQ(full.threads, 2);
  const Case least = bench::parse_case("file", {"least", "smooth-max shape=4 kernel=2 | f32"});
  EXPECT_EQ(least.operator_name, "smooth-max");
  EXPECT_EQ(least.map, Map::forward);
  EXPECT_EQ(least.layout, Layout::packed);
  EXPECT_EQ(least.goal, 0);
  EXPECT_EQ(least.threads, 1);
}

TEST(BenchCases, TextIsReadBack) {
  for (const std::string line :
       {"max shape=4 kernel=2 | f32", "max shape=4 kernel=2 | u8->f32", "max shape=4 kernel=2 | f32 | vjp",
        "max shape=4 kernel=2 | f32 | indices-u8 | layout=every_second | threads=2"})
    EXPECT_EQ(bench::parse_unnamed_case(line).text(), line);
}

TEST(BenchCases, OnlyTheLastAxisGrows) {
  const auto longer = [](const std::string& line) {
    return bench::with_longer_last_axis(bench::parse_unnamed_case(line));
  };
  EXPECT_EQ(longer("max shape=2,9,9 kernel=2,2 | f32").text(), "max shape=2,9,10 kernel=2,2 | f32");
  EXPECT_EQ(longer("max shape=2,9,9 kernel=2,2 | f32").problem.shape, Shape({2, 9, 10}));
  EXPECT_EQ(longer("max kernel=2 shape=9 | f32").text(), "max kernel=2 shape=10 | f32");
}

TEST(BenchCases, LayoutsHaveStrides) {
  const auto strides = [](const std::string& layout) {
    return bench::parse_unnamed_case("max shape=2,3,16 kernel=2 | f32 | layout=" + layout).strides();
  };
  EXPECT_EQ(strides("packed"), Shape({48, 16, 1}));
  EXPECT_EQ(strides("fortran"), Shape({1, 2, 6}));
  EXPECT_EQ(strides("crop"), Shape({54, 18, 1}));
  EXPECT_EQ(strides("every_second"), Shape({96, 32, 2}));
}

TEST(BenchCases, WrongLinesAreRejected) {
  const auto parse = [](const std::string& name, const std::string& line) { bench::parse_case("file", {name, line}); };
  EXPECT_THROW(parse("no-scalar", "max shape=4 kernel=2"), std::invalid_argument);
  EXPECT_THROW(parse("no-such-scalar", "max shape=4 kernel=2 | f8"), std::invalid_argument);
  EXPECT_THROW(parse("no-such-layout", "max shape=4 kernel=2 | f32 | layout=diagonal"), std::invalid_argument);
  EXPECT_THROW(parse("no-such-map", "max shape=4 kernel=2 | f32 | hessian"), std::invalid_argument);
  EXPECT_THROW(parse("no-such-word", "max shape=4 kernels=2 | f32"), std::invalid_argument);
  EXPECT_THROW(parse("no-number", "max shape=4 kernel=2 | f32 | goal=fast"), std::invalid_argument);
  EXPECT_THROW(parse("A \"name\"", "max shape=4 kernel=2 | f32"), std::invalid_argument);
}

}  // namespace
}  // namespace ndpool::testing
