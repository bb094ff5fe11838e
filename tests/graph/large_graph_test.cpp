// Large graphs. Nothing is timed: a step that is quadratic in the nodes would not end before the test is stopped.
#include <ndpool/graph.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

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

TEST(LargeGraph, CompilesAChainOf100000NodesIntoTheMemoryOfTwo) {
  Graph<float> graph;
  const Node x = graph.input({16}, "x"), y = add_chain(graph, x, many / 2);
  Program<float> program = graph.compile({y});
  EXPECT_EQ(program.arena_bytes(graph::Mode::forward), 2U * 64);
  EXPECT_EQ(program.arena_bytes(graph::Mode::jvp), 3U * 64);
  const auto results = program.vjp({{x, std::vector<float>(16, 3)}}, {{y, std::vector<float>(16, 5)}});
  EXPECT_EQ(results[y][15], 3);
  EXPECT_EQ(results.gradient(x)[15], 5);
}

TEST(LargeGraph, Compiles50000Outputs) {
  Graph<float> graph;
  const Node x = graph.input({1}, "x");
  std::vector<Node> outputs;
  for (int i = 0; i < many / 4; ++i) outputs.push_back(graph.scale(x, static_cast<float>(i)));
  Program<float> program = graph.compile(outputs);
  const auto results = program.forward({{x, std::vector<float>{2}}});
  for (int i = 0; i < many / 4; ++i) ASSERT_EQ(results[outputs[static_cast<std::size_t>(i)]][0], 2 * i);
}

/// 2 w.w of parameters of all lengths, added up in any order: arrays of all sizes that live for any time.
TEST(LargeGraph, ArraysThatLiveTogetherDoNotOverlap) {
  Graph<float> graph;
  std::mt19937 random(7);
  std::vector<Node> parameters, sums;
  std::vector<std::vector<float>> values;
  float expected = 0, slope = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<float>& w = values.emplace_back(random() % 40 + 1);
    for (float& number : w) {
      number = static_cast<float>(random() % 4);
      expected += 2 * number * number;
      slope += 4 * number;
    }
    parameters.push_back(graph.parameter({static_cast<Index>(w.size())}, w));
    sums.push_back(graph.sum(graph.multiply(graph.scale(parameters.back(), 2), parameters.back())));
  }
  while (sums.size() > 1) {
    std::swap(sums[random() % sums.size()], sums.back());
    const Node last = sums.back();
    sums.pop_back();
    Node& other = sums[random() % sums.size()];
    other = graph.add(other, last);
  }
  Program<float> program = graph.compile(sums);
  const auto results = program.value_and_grad(sums[0]);
  EXPECT_EQ(results.value, expected);
  std::vector<std::vector<float>> ones;
  std::vector<Bound<float>> tangents;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t n = 0; n < values[i].size(); ++n)
      ASSERT_EQ(results.gradients.gradient(parameters[i])[n], 4 * values[i][n]) << i;
    ones.emplace_back(values[i].size(), 1.0F);
  }
  for (std::size_t i = 0; i < ones.size(); ++i) tangents.push_back({parameters[i], ones[i]});
  EXPECT_EQ(program.jvp({}, tangents).tangent(sums[0])[0], slope);
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
