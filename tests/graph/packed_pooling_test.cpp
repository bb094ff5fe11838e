// Small planes that a graph pools side by side: the same as one by one.
#include <ndpool/graph.hpp>

#include <gtest/gtest.h>

#include "support/array.hpp"

namespace ndpool::testing {
namespace {

const Shape shape{4, 36, 7, 6};  // 144 planes

Array<float> numbers(const Shape& of, int seed) {
  Array<float> array(of);
  for (Index i = 0; i < array.size(); ++i) array[i] = static_cast<float>((i * 7919 + seed) % 61) / 8 - 3;
  return array;
}

void expect_near(std::span<const float> found, const Array<float>& expected, float tolerance) {
  ASSERT_EQ(static_cast<Index>(found.size()), expected.size());
  for (Index i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(found[static_cast<std::size_t>(i)], expected[i], tolerance) << "at " << i;
}

TEST(PackedPooling, PlanesSideBySideGiveWhatTheyGiveOneByOne) {
  ASSERT_EQ(graph::packed_lanes(shape, 2), 144);
  const Window windows[] = {{.kernel = {2, 2}},
                            {.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1}},
                            {.kernel = {2, 3}, .stride = {2, 1}, .padding = {{0, 1}, {1, 1}}, .dilation = {2, 1}},
                            {.kernel = {3, 2}, .padding = PaddingRule::same_upper},
                            {.kernel = {3}, .stride = {2}, .ceil_mode = true}};
  for (const Window& window : windows)
    for (const Pool& pool : {max_pool(window), min_pool(window), max_pool(window, {.ties = Ties::split}),
                             sum_pool(window), avg_pool(window), avg_pool(window, {.count_include_pad = false}),
                             smooth_max_pool(window, {.beta = 2}), lp_pool(3, window)}) {
      Graph<float> graph;
      const Node x = graph.input(shape), y = graph.pool(x, pool);
      SCOPED_TRACE(graph.name(y) + " to " + graph::text(graph.shape(y)));
      const Array<float> at = numbers(shape, 1), dx = numbers(shape, 2), gy = numbers(graph.shape(y), 3);
      const bool is_extreme = graph::what_to_keep(pool, pool.geometry(shape)) == graph::PoolKeeps::taps;
      const float tolerance = is_extreme ? 0.0F : 2e-5F;
      Program<float> program = graph.compile();
      expect_near(program.forward({{x, at.view()}})[y], forward(pool, at), tolerance);
      expect_near(program.jvp({{x, at.view()}}, {{x, dx.view()}}).tangent(y), jvp(pool, at, dx), tolerance);
      // Gradients of overlapping windows are added in another order.
      expect_near(program.vjp({{x, at.view()}}, {{y, gy.view()}}).gradient(x), vjp(pool, at, gy), 2e-5F);
    }
}

TEST(PackedPooling, IsLeftAloneWhereItDoesNotPay) {
  EXPECT_EQ(graph::packed_lanes({32, 16, 8, 8}, 2), 256);
  EXPECT_EQ(graph::packed_lanes({3, 8, 8}, 2), 0);         // too few planes
  EXPECT_EQ(graph::packed_lanes({64, 32, 32}, 2), 0);      // rows long enough
  EXPECT_EQ(graph::packed_lanes({257, 8, 8}, 2), 0);       // a prime number of planes, above the most
  EXPECT_EQ(graph::packed_lanes({8, 8}, 2), 0);            // one plane
  EXPECT_EQ(graph::packed_lanes({100, 3, 8, 8}, 2), 150);  // divides the number of planes
}

}  // namespace
}  // namespace ndpool::testing
