// Large graphs. Nothing is timed: a step that is quadratic in the nodes would not end before the test is stopped.
#include <ndpool/graph.hpp>

#include <gtest/gtest.h>

#include <string>

namespace ndpool::testing {
namespace {

constexpr int many = 200000;

/// Makes a chain of relu and scale nodes; returns its end.
Node add_chain(Graph<float>& graph, Node x, int nodes) {
  for (int i = 0; i < nodes / 2; ++i) x = graph.relu(graph.scale(x, i % 2 == 0 ? 2 : 0.5F));
  return x;
}

TEST(LargeGraph, BuildsAChainOf200000Nodes) {
  Graph<float> graph;
  const Node x = graph.input({1}, "x"), y = add_chain(graph, x, many);
  EXPECT_EQ(graph.name(y), "relu" + std::to_string(many / 2));
  EXPECT_EQ(graph.node("scale4000"), Node(x.graph(), 2 * 4000 - 1));
}

TEST(LargeGraph, RunsAChainOf4000Nodes) {
  Graph<float> graph;
  const Node x = graph.input({1}, "x"), y = add_chain(graph, x, 4000);
  Program<float> program = graph.compile({y});
  const auto results = program.value_and_grad(y, {{x, std::vector<float>{3}}});
  EXPECT_EQ(results.value, 3);
  EXPECT_EQ(results.gradients.gradient(x)[0], 1);
}

TEST(LargeGraph, BuildsManyPoolsAndParameters) {
  Graph<float> graph;
  const Node x = graph.input({2}, "x");
  for (int i = 0; i < many / 8; ++i) {
    const Node w = graph.parameter({2}, {1, 2});
    graph.pool(graph.multiply(x, w), sum_pool({.kernel = {2}}));
  }
  const Node last = graph.node("sum_pool" + std::to_string(many / 8));
  Program<float> program = graph.compile({last});
  EXPECT_EQ(program.forward({{x, std::vector<float>{10, 1}}})[last][0], 12);
}

TEST(LargeGraph, BuildsManyCustomNodesAndLosses) {
  Graph<float> graph;
  const Node logits = graph.input({1, 2}), label = graph.side({1});
  using Call = CustomCall<float>;
  const auto ones = [](const Call& call) { call.out({1, 2}).data()[0] = 1, call.out({1, 2}).data()[1] = 1; };
  Node y = logits;
  for (int i = 0; i < many / 8; ++i) {
    y = graph.custom({y}, {1, 2}, {ones, ones, ones});
    graph.softmax_cross_entropy(y, label);
  }
  EXPECT_EQ(graph.name(y), "custom" + std::to_string(many / 8));
}

TEST(LargeGraph, TakenNamesAreNotTriedAgain) {
  Graph<float> graph;
  const Node x = graph.input({1});
  for (int i = 1; i <= many / 4; ++i) graph.relu(x, "scale" + std::to_string(i));
  for (int i = 1; i <= many / 4; ++i) graph.scale(x, 2);
  EXPECT_EQ(graph.name(graph.scale(x, 2)), "scale" + std::to_string(many / 2 + 1));
}

}  // namespace
}  // namespace ndpool::testing
