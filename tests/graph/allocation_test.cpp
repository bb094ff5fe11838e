// After compile, running allocates nothing: every call of the C library's allocator is counted, Eigen's included.
#include <ndpool/graph.hpp>
#include <ndpool/threads.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

// Sanitizers bring allocators of their own.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define NDPOOL_COUNTS_ALLOCATIONS

namespace {
std::atomic<long> allocations = 0;
}

extern "C" {
void* __libc_malloc(std::size_t);                 // NOLINT: glibc's name for what we stand in front of
void* __libc_memalign(std::size_t, std::size_t);  // NOLINT
void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
}
#endif

namespace ndpool::testing {
namespace {

/// Every operation, on arrays large enough for products that Eigen packs.
template <class T>
struct Everything {
  Graph<T> graph;
  Node image = graph.input({16, 3, 24, 24}), labels = graph.side({16});
  Node loss;

  Everything() {
    const auto weights = [&](const Shape& shape) {
      std::vector<T> values(static_cast<std::size_t>(element_count(shape)));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<T>(static_cast<int>(i * 37 % 17) - 8) / 64;
      return graph.parameter(shape, values);
    };
    Node x = graph.convolution(image, weights({40, 3, 3, 3}), weights({40}), {.padding = {1, 1}});
    x = graph.max_pool2d(graph.relu(x), 2, 2, 2);
    x = graph.pool(x, avg_pool({.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1}}));
    x = graph.convolution(x, weights({40, 40, 3, 3}), {.padding = {1, 1}});
    x = graph.pool(x, smooth_max_pool({.kernel = {2, 2}}, {.beta = 4}));
    x = graph.pool(x, min_pool({.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1}}));
    x = graph.add(x, graph.multiply(x, graph.scale(x, T(0.5))));
    x = graph.pool(x, lp_pool(2, {.kernel = {2, 2}, .stride = {1, 1}}));
    x = graph.pool(x, adaptive_max_pool({.output_size = {4, 4}}));
    Node top = graph.pool(x, global_max_pool({.axes = {2, 3}}));
    x = graph.dense(graph.flatten(x), weights({300, 640}), weights({300}));
    x = graph.dense(graph.log(graph.exp(graph.scale(x, T(0.01)))), weights({10, 300}));
    using Call = CustomCall<T>;
    const Shape shape = graph.shape(x);
    const auto doubled = [](const View<const T>& from, const View<T>& to) {
      for (Index i = 0; i < element_count(from.shape()); ++i) to.data()[i] = 2 * from.data()[i];
    };
    x = graph.custom({x}, shape,
                     {.forward = [=](const Call& call) { doubled(call.x(0), call.out(shape)); },
                      .jvp = [=](const Call& call) { doubled(call.dx(0), call.out(shape)); },
                      .vjp = [=](const Call& call) { doubled(call.gy(), call.out(shape)); }});
    const Node entropy = graph.softmax_cross_entropy(x, labels);
    const Node other = graph.add(graph.mean(top), graph.mean_squared_error(top, graph.relu(top)));
    loss = graph.add(graph.add(entropy, other), graph.sum(graph.pool(x, sum_pool({.kernel = {2, 2}}))));
  }
};

template <class T>
class GraphAllocation : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GraphAllocation, Floats);

TYPED_TEST(GraphAllocation, NoRunAllocatesAfterCompile) {
#ifndef NDPOOL_COUNTS_ALLOCATIONS
  GTEST_SKIP() << "a sanitizer has the allocator";
#else
  const Everything<TypeParam> all;
  set_threads(1);
  Program<TypeParam> program = all.graph.compile({all.loss});
  std::vector<TypeParam> image(16 * 3 * 24 * 24), labels(16, 3);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<TypeParam>(i * 7919 % 1009) / 1009;
  const long before = allocations;
  program.forward({{all.image, image}, {all.labels, labels}});
  EXPECT_EQ(allocations, before) << "forward";
  const long at_jvp = allocations;
  program.jvp({{all.image, image}, {all.labels, labels}}, {{all.image, image}});
  EXPECT_EQ(allocations, at_jvp) << "jvp";
  const long at_vjp = allocations;
  const auto results = program.value_and_grad(all.loss, {{all.image, image}, {all.labels, labels}});
  EXPECT_EQ(allocations, at_vjp) << "vjp";
  EXPECT_TRUE(std::isfinite(results.value));
  EXPECT_GT(std::max(std::abs(results.gradients.gradient(all.image)[100]), TypeParam(0)), 0);
  // The counter counts: compiling allocates.
  EXPECT_GT(before, 0);
#endif
}

}  // namespace
}  // namespace ndpool::testing
