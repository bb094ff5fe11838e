// Pools of a graph that share a plan: those that compute the same, and no others.
#include <ndpool/graph.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace ndpool::testing {
namespace {

const Window window{.kernel = {2, 2}};

TEST(PoolingCache, EqualPoolsShareOnePlan) {
  graph::PoolingCache<float> cache;
  const Shape shape{2, 8, 8};
  const auto first = cache.find_or_make(max_pool(window), shape);
  EXPECT_EQ(cache.find_or_make(max_pool({.kernel = {2, 2}, .stride = {2, 2}, .axes = {1, 2}}), shape), first);
  const Pool others[] = {min_pool(window),
                         max_pool(window).without_kernels(),
                         max_pool(window, {.ties = Ties::all}),
                         max_pool(window, {.nan = Nan::ignore}),
                         max_pool(window, {.empty = Empty::identity}),
                         max_pool({.kernel = {2, 2}, .axes = {0, 1}}),
                         max_pool({.kernel = {2, 2}, .padding = {{0, 1}, {0, 1}}}),
                         avg_pool(window),
                         avg_pool(window, {.count_include_pad = false}),
                         avg_pool(window, {.divisor = 3}),
                         smooth_max_pool(window),
                         smooth_max_pool(window, {.beta = 2}),
                         smooth_max_pool(window, {.beta = std::nextafter(2.0, 3.0)}),
                         smooth_max_pool(window, {.pad_mode = PadMode::ignore}),
                         lp_pool(2, window),
                         lp_pool(3, window),
                         lp_pool(std::numeric_limits<double>::infinity(), window),
                         global_max_pool({.keepdims = true}),
                         global_max_pool({}),
                         adaptive_max_pool({.output_size = {4, 4}})};
  std::set<const void*> made = {first.get()};
  for (const Pool& pool : others) made.insert(cache.find_or_make(pool, shape).get());
  EXPECT_EQ(made.size(), 1 + std::size(others));
}

/// Values of the smooth max pools of a graph that has refused a pool before.
std::vector<double> smooth_values(const Pool& refused, const std::vector<double>& betas) {
  Graph<double> graph;
  const Node x = graph.input({2});
  EXPECT_THROW(graph.pool(x, refused), Error);
  std::vector<double> values;
  for (const double beta : betas) {
    const Node y = graph.smooth_max_pool(x, {.kernel = {2}}, {.beta = beta});
    values.push_back(graph.compile({y}).forward({{x, std::vector<double>{0, 0}}})[y][0]);
  }
  EXPECT_THROW(graph.pool(x, refused), Error);  // refused again, not found
  return values;
}

TEST(PoolingCache, ForgetsPoolsThatAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> betas = {1, 100, 1}, expected = {std::log(2.0), std::log(2.0) / 100, std::log(2.0)};
  const Window pair{.kernel = {2}};
  for (const double beta : {nan, -nan, infinity, 0.0})
    EXPECT_EQ(smooth_values(smooth_max_pool(pair, {.beta = beta}), betas), expected) << beta;
  for (const double p : {nan, -nan, 0.0, -1.0}) EXPECT_EQ(smooth_values(lp_pool(p, pair), betas), expected) << p;
}

TEST(PoolingCache, ARefusedPDoesNotStandInForAnother) {
  Graph<double> graph;
  const Node x = graph.input({2});
  const Window pair{.kernel = {2}};
  EXPECT_THROW(graph.pool(x, lp_pool(std::numeric_limits<double>::quiet_NaN(), pair)), Error);
  const Node one = graph.pool(x, lp_pool(1, pair)), two = graph.pool(x, lp_pool(2, pair));
  Program<double> program = graph.compile({one, two});
  const std::vector<double> at{3, 4};
  const auto results = program.forward({{x, at}});
  EXPECT_DOUBLE_EQ(results[one][0], 7);
  EXPECT_DOUBLE_EQ(results[two][0], 5);
  EXPECT_THROW(graph.pool(x, lp_pool(std::numeric_limits<double>::quiet_NaN(), pair)), Error);
}

TEST(PoolingCache, APoolBySpecRunsBySpec) {
  graph::PoolingCache<float> cache;
  const Shape shape{64, 8, 8};
  EXPECT_TRUE(cache.find_or_make(max_pool(window), shape)->needs_rehearsal());
  EXPECT_FALSE(cache.find_or_make(max_pool(window).without_kernels(), shape)->needs_rehearsal());
}

}  // namespace
}  // namespace ndpool::testing
