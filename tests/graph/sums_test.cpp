// Sums, means, losses and gradients of biases add by the tree of the reference: their error grows with log2 of the
// count.
#include <ndpool/graph.hpp>
#include <ndpool/half.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace ndpool::testing {
namespace {

using Floats = std::vector<float>;

constexpr Index many = Index{1} << 25;  // ones, of which a float that adds one by one counts half

const Floats& ones() {
  static const Floats all(static_cast<std::size_t>(many), 1.0F);
  return all;
}

TEST(GraphSums, MeanAndSumOfTwoToThe25Ones) {
  Graph<float> graph;
  const Node x = graph.input({many}), mean = graph.mean(x), sum = graph.sum(x);
  Program<float> program = graph.compile({mean, sum});
  const auto results = program.jvp({{x, ones()}}, {{x, ones()}});
  EXPECT_EQ(results[mean][0], 1);
  EXPECT_EQ(results[sum][0], static_cast<float>(many));
  EXPECT_EQ(results.tangent(mean)[0], 1);
  EXPECT_EQ(results.tangent(sum)[0], static_cast<float>(many));
}

TEST(GraphSums, MeanSquaredErrorOfTwoToThe25Ones) {
  Graph<float> graph;
  const Node x = graph.input({many}), zeros = graph.side({many}), loss = graph.mean_squared_error(x, zeros);
  Program<float> program = graph.compile();
  const Floats nothing(static_cast<std::size_t>(many));
  const auto results = program.jvp({{x, ones()}, {zeros, nothing}}, {{x, ones()}});
  EXPECT_EQ(results[loss][0], 1);
  EXPECT_EQ(results.tangent(loss)[0], 2);
}

TEST(GraphSums, SoftmaxCrossEntropyOfAMillionRows) {
  constexpr Index rows = 1 << 20;
  Graph<float> graph;
  const Node x = graph.input({rows, 2}), labels = graph.side({rows}), loss = graph.softmax_cross_entropy(x, labels);
  Program<float> program = graph.compile();
  const Floats logits(2 * rows), first(rows);
  Floats tangent(2 * rows);
  for (std::size_t i = 0; i < tangent.size(); i += 2) tangent[i] = 0.2F;
  const auto results = program.jvp({{x, logits}, {labels, first}}, {{x, tangent}});
  EXPECT_FLOAT_EQ(results[loss][0], std::log(2.0F));
  EXPECT_FLOAT_EQ(results.tangent(loss)[0], -0.1F);
}

TEST(GraphSums, SoftmaxCrossEntropyOfAMillionClasses) {
  constexpr Index classes = 1 << 20;
  Graph<float> graph;
  const Node x = graph.input({1, classes}), label = graph.side({1}), loss = graph.softmax_cross_entropy(x, label);
  Program<float> program = graph.compile();
  Floats logits(classes, std::log(0.1F));
  logits[0] = 0;
  const auto results = program.jvp({{x, logits}, {label, Floats{0}}}, {{x, Floats(classes, 1.0F)}});
  EXPECT_FLOAT_EQ(results[loss][0], static_cast<float>(std::log(1 + 0.1 * (classes - 1))));
  EXPECT_NEAR(results.tangent(loss)[0], 0, 1e-6);
}

TEST(GraphSums, GradientsOfBiases) {
  constexpr Index columns = 19;  // one block of columns and a rest
  constexpr Index rows = 1 << 20;
  const Floats gy(rows * columns, 0.1F);
  Graph<float> graph;
  const Node x = graph.side({rows, 1}), w = graph.parameter({columns, 1}), b = graph.parameter({columns}, "b");
  const Node y = graph.dense(x, w, b);
  Program<float> program = graph.compile();
  const Floats zeros(rows);
  const auto results = program.vjp({{x, zeros}}, {{y, gy}});
  for (const float gradient : results.gradient(b)) EXPECT_EQ(gradient, 0.1F * rows);

  Graph<float> convolved;
  const Node signal = convolved.side({4, 1, rows / 4}), kernel = convolved.parameter({2, 1, 1}),
             bias = convolved.parameter({2}), z = convolved.convolution(signal, kernel, bias);
  Program<float> of_signal = convolved.compile();
  const auto back = of_signal.vjp({{signal, zeros}}, {{z, Floats(2 * rows, 0.1F)}});
  for (const float gradient : back.gradient(bias)) EXPECT_EQ(gradient, 0.1F * rows);
}

/// Numbers of many magnitudes, whose sum tells the order it was added in.
Floats uneven(Index count) {
  Floats all;
  for (Index i = 0; i < count; ++i)
    all.push_back(std::ldexp(static_cast<float>(i * 7919 % 1009 - 504), static_cast<int>(i % 13)));
  return all;
}

TEST(GraphSums, HaveTheBitsOfTheSpec) {
  for (Index count = 1; count < 300; ++count) {
    SCOPED_TRACE(count);
    const Floats numbers = uneven(count);
    float expected_sum = 0, expected_mean = 0;
    const auto answer = [&](const Pool& pool, float& y) {
      pool.without_kernels().forward(view(numbers, {count}), View<float>(&y, Shape{}));
    };
    answer(global_sum_pool({.keepdims = false}), expected_sum);
    answer(global_avg_pool({.keepdims = false}), expected_mean);
    Graph<float> graph;
    const Node x = graph.input({count}), sum = graph.sum(x), mean = graph.mean(x);
    const Node bias = graph.parameter({1}),
               y = graph.dense(graph.reshape(x, {count, 1}), graph.parameter({1, 1}), bias);
    Program<float> program = graph.compile({sum, mean, y});
    const auto results = program.vjp({{x, numbers}}, {{y, numbers}});
    EXPECT_EQ(results[sum][0], expected_sum);
    EXPECT_EQ(results[mean][0], expected_mean);
    EXPECT_EQ(results.gradient(bias)[0], expected_sum);
  }
}

TEST(GraphSums, HalvesAreSummedInFloat) {
  Graph<f16> graph;
  const Node x = graph.input({4096}), sum = graph.sum(x), mean = graph.mean(x);
  const Node w = graph.parameter({1, 4096}, std::vector<f16>(4096, f16(1.0F)));
  const Node b = graph.parameter({1}), product = graph.dense(x, w), tall = graph.reshape(x, {4096, 1});
  const Node y = graph.dense(tall, graph.parameter({1, 1}), b);
  Program<f16> program = graph.compile({sum, mean, product, y});
  const std::vector<f16> numbers(4096, f16(1.0F));
  const auto results = program.vjp({{x, numbers}}, {{y, numbers}});
  EXPECT_EQ(static_cast<float>(results[sum][0]), 4096);
  EXPECT_EQ(static_cast<float>(results[mean][0]), 1);
  EXPECT_EQ(static_cast<float>(results[product][0]), 4096);
  EXPECT_EQ(static_cast<float>(results.gradient(b)[0]), 4096);
}

}  // namespace
}  // namespace ndpool::testing
