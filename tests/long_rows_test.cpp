// Windows whose rows are too long to keep: pooled as rows of lanes.
#include "equivalence.hpp"

#include <gtest/gtest.h>

namespace ndpool::testing {
namespace {

template <class T>
void expect_equal_to_spec(const std::string& line) {
  const Problem problem = parse_problem(line);
  EXPECT_NE(problem.pool.template plan<T>(problem.shape).implementation(MapKind::forward), "reference") << line;
  std::mt19937_64 random = numbers_for(line);
  const Checked checked = check_problem<T>(line, random);
  EXPECT_FALSE(checked.rejected) << line;
  EXPECT_EQ(checked.failure, "") << line;
}

TEST(LongRows, GlobalPoolsOverALeadingAxis) {
  expect_equal_to_spec<float>("global-avg shape=3500,300 axes=0");
  expect_equal_to_spec<float>("global-max shape=3500,300 axes=0");
  expect_equal_to_spec<std::uint8_t>("global-avg shape=3500,300 axes=0");
  expect_equal_to_spec<double>("global-sum shape=30,120,301 axes=0,1");
}

TEST(LongRows, LanesWithoutAUsefulDivisor) { expect_equal_to_spec<float>("global-min shape=2,1800,599 axes=1"); }

TEST(LongRows, BinsOfUnequalLengths) {
  expect_equal_to_spec<float>("adaptive-max shape=3501,300 output_size=2 axes=0");
  expect_equal_to_spec<std::int16_t>("adaptive-avg shape=3501,300 output_size=2 axes=0");
}

TEST(LongRows, TallWindowsThatOverlap) {
  expect_equal_to_spec<float>("avg shape=3200,350 kernel=3100 stride=70 padding=20 axes=0 exclude_pad");
  expect_equal_to_spec<float>("max shape=3200,350 kernel=3100 stride=70 padding=20 axes=0");
}

}  // namespace
}  // namespace ndpool::testing
