// Graphs with run-time shapes: what each node computes, and what programs make of them.
#include <ndpool/graph.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace ndpool::testing {
namespace {

using Numbers = std::vector<double>;

Numbers numbers(std::span<const double> values) { return {values.begin(), values.end()}; }

/// Value, tangent for the tangent `dx`, and gradient for the gradient `gy` of a node of one input.
struct Maps {
  Numbers value, tangent, gradient;
};
Maps maps(const Graph<double>& graph, Node x, Node y, const Numbers& at, const Numbers& dx, const Numbers& gy) {
  Program<double> program = graph.compile({y});
  Maps result;
  result.value = numbers(program.forward({{x, at}})[y]);
  const auto forward = program.jvp({{x, at}}, {{x, dx}});
  EXPECT_EQ(numbers(forward.value(y)), result.value);
  result.tangent = numbers(forward.tangent(y));
  const auto back = program.vjp({{x, at}}, {{y, gy}});
  EXPECT_EQ(numbers(back.value(y)), result.value);
  result.gradient = numbers(back.gradient(x));
  return result;
}
void expect(const Maps& maps, const Numbers& value, const Numbers& tangent, const Numbers& gradient) {
  EXPECT_EQ(maps.value, value);
  EXPECT_EQ(maps.tangent, tangent);
  EXPECT_EQ(maps.gradient, gradient);
}

TEST(Graph, FunctionsOfEachNumber) {
  Graph<double> graph;
  const Node x = graph.input({3}, "x");
  expect(maps(graph, x, graph.relu(x), {-1, 0, 2}, {5, 6, 7}, {1, 2, 3}), {0, 0, 2}, {0, 0, 7}, {0, 0, 3});
  expect(maps(graph, x, graph.scale(x, 3), {-1, 0, 2}, {5, 6, 7}, {1, 2, 3}), {-3, 0, 6}, {15, 18, 21}, {3, 6, 9});
  expect(maps(graph, x, graph.exp(x), {0, 0, 0}, {5, 6, 7}, {1, 2, 3}), {1, 1, 1}, {5, 6, 7}, {1, 2, 3});
  expect(maps(graph, x, graph.log(x), {1, 1, 1}, {5, 6, 7}, {1, 2, 3}), {0, 0, 0}, {5, 6, 7}, {1, 2, 3});
  expect(maps(graph, x, graph.sum(x), {1, 2, 6}, {5, 6, 7}, {2}), {9}, {18}, {2, 2, 2});
  expect(maps(graph, x, graph.mean(x), {1, 2, 6}, {5, 6, 7}, {6}), {3}, {6}, {2, 2, 2});
}

TEST(Graph, ANodeUsedTwiceGetsBothGradients) {
  Graph<double> graph;
  const Node x = graph.input({2});
  const Node square = graph.multiply(x, x), y = graph.add(square, graph.scale(x, 10));
  expect(maps(graph, x, y, {3, 4}, {1, 2}, {1, 1}), {39, 56}, {16, 36}, {16, 18});
}

TEST(Graph, AnOutputThatIsUsedGetsItsGradientAndThatOfItsUser) {
  Graph<double> graph;
  const Node x = graph.input({1}), y = graph.scale(x, 2), z = graph.scale(y, 5);
  Program<double> program = graph.compile({y, z, x});
  const Numbers three{3};
  const auto results = program.vjp({{x, three}}, {{y, Numbers{1}}, {z, Numbers{10}}, {x, Numbers{1000}}});
  EXPECT_EQ(results[y][0], 6);
  EXPECT_EQ(results[z][0], 30);
  EXPECT_EQ(results[x][0], 3);
  EXPECT_EQ(results.gradient(x)[0], 1000 + 2 * (1 + 5 * 10));
}

TEST(Graph, MissingTangentsAndGradientsAreZero) {
  Graph<double> graph;
  const Node x = graph.input({1}), w = graph.parameter({1}, {7});
  const Node y = graph.multiply(x, w), z = graph.scale(x, 2);
  Program<double> program = graph.compile({y, z, w});
  const Numbers three{3}, one{1};
  const auto forward = program.jvp({{x, three}}, {{x, one}});
  EXPECT_EQ(forward.tangent(y)[0], 7);
  EXPECT_EQ(forward.tangent(w)[0], 0);
  const auto back = program.vjp({{x, three}}, {{z, one}});
  EXPECT_EQ(back.gradient(x)[0], 2);
  EXPECT_EQ(back.gradient(w)[0], 0);
}

TEST(Graph, DenseWithABatch) {
  Graph<double> graph;
  const Node x = graph.input({2, 2}), w = graph.parameter({3, 2}, {1, 2, 3, 4, 5, 6}),
             b = graph.parameter({3}, {1, 0, -1});
  const Node y = graph.dense(x, w, b);
  expect(maps(graph, x, y, {1, 1, 0, 2}, {1, 0, 0, 1}, {1, 0, 0, 0, 1, 1}), {4, 7, 10, 5, 8, 11}, {1, 3, 5, 2, 4, 6},
         {1, 2, 8, 10});
  Program<double> program = graph.compile({y});
  const Numbers at{1, 1, 0, 2}, gy{1, 0, 0, 0, 1, 1};
  const auto results = program.vjp({{x, at}}, {{y, gy}});
  EXPECT_EQ(numbers(results.gradient(w)), (Numbers{1, 1, 0, 2, 0, 2}));
  EXPECT_EQ(numbers(results.gradient(b)), (Numbers{1, 1, 1}));
}

TEST(Graph, ConvolutionInOneDimension) {
  Graph<double> graph;
  const Node x = graph.input({1, 4}), w = graph.parameter({1, 1, 3}, {1, 10, 100}), b = graph.parameter({1}, {0.5});
  const Node y = graph.convolution(x, w, b, {.padding = {1}});
  expect(maps(graph, x, y, {1, 2, 3, 4}, {0, 1, 0, 0}, {1, 0, 0, 1}), {210.5, 321.5, 432.5, 43.5}, {100, 10, 1, 0},
         {10, 100, 1, 10});
  const Node strided = graph.convolution(x, w, {.stride = {2}, .padding = {1}, .dilation = {1}});
  expect(maps(graph, x, strided, {1, 2, 3, 4}, {0, 1, 0, 0}, {1, 2}), {210, 432}, {100, 1}, {10, 102, 20, 200});
}

TEST(Graph, ConvolutionInTwoDimensionsWithABatchAndChannels) {
  Graph<double> graph;
  const Node x = graph.input({2, 2, 2, 2}), w = graph.parameter({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Node y = graph.convolution(x, w);
  EXPECT_EQ(graph.shape(y), (Shape{2, 1, 1, 1}));
  const Numbers at{1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1}, gy{1, 10};
  Program<double> program = graph.compile({y});
  const auto results = program.vjp({{x, at}}, {{y, gy}});
  EXPECT_EQ(numbers(results[y]), (Numbers{9, 36}));
  EXPECT_EQ(numbers(results.gradient(w)), (Numbers{11, 10, 10, 10, 10, 10, 10, 11}));
  EXPECT_EQ(numbers(results.gradient(x)), (Numbers{1, 2, 3, 4, 5, 6, 7, 8, 10, 20, 30, 40, 50, 60, 70, 80}));
}

TEST(Graph, SoftmaxCrossEntropyIsTheMeanOverTheBatch) {
  Graph<double> graph;
  const Node x = graph.input({2, 2}), labels = graph.side({2});
  const Node loss = graph.softmax_cross_entropy(x, labels);
  Program<double> program = graph.compile();
  const Numbers logits{0, std::log(3.0), 1000, 1000}, classes{1, 0};
  const auto [value, gradients] = program.value_and_grad(loss, {{x, logits}, {labels, classes}});
  EXPECT_DOUBLE_EQ(value, (std::log(4.0 / 3) + std::log(2.0)) / 2);
  const auto gx = gradients.gradient(x);
  EXPECT_DOUBLE_EQ(gx[0], 0.125);
  EXPECT_DOUBLE_EQ(gx[1], -0.125);
  EXPECT_DOUBLE_EQ(gx[2], -0.25);
  EXPECT_DOUBLE_EQ(gx[3], 0.25);
}

TEST(Graph, MeanSquaredErrorHasBothDerivatives) {
  Graph<double> graph;
  const Node a = graph.input({2}), b = graph.input({2}), loss = graph.mean_squared_error(a, b);
  Program<double> program = graph.compile();
  const Numbers at_a{1, 2}, at_b{4, 0};
  const auto results = program.value_and_grad(loss, {{a, at_a}, {b, at_b}});
  EXPECT_EQ(results.value, 6.5);
  EXPECT_EQ(numbers(results.gradients.gradient(a)), (Numbers{-3, 2}));
  EXPECT_EQ(numbers(results.gradients.gradient(b)), (Numbers{3, -2}));
}

TEST(Graph, PoolsKeepTapsOrTheInputOrNothing) {
  Graph<float> graph;
  const Node x = graph.input({2, 8, 8});
  const Node y = graph.scale(x, 1);  // a value of the arena, so that keeping it costs something
  const auto kept = [&](Node node) { return graph.compile({node}).summary(); };
  const Node max = graph.pool(y, max_pool({.kernel = {2, 2}}));
  EXPECT_NE(kept(max).find("Kept for the way back: 32 bytes"), std::string::npos) << kept(max);
  const Node avg = graph.pool(y, avg_pool({.kernel = {2, 2}}));
  EXPECT_NE(kept(avg).find("Kept for the way back: 0 bytes"), std::string::npos) << kept(avg);
  const Node smooth = graph.pool(y, smooth_max_pool({.kernel = {2, 2}}));
  EXPECT_NE(kept(smooth).find("Kept for the way back: 512 bytes"), std::string::npos) << kept(smooth);
  const Node wide =
      graph.pool(y, max_pool({.kernel = {8, 8}, .stride = {1, 1}, .padding = {4, 4}, .dilation = {1, 1}}));
  EXPECT_NE(kept(wide).find("Kept for the way back: 162 bytes"), std::string::npos) << kept(wide);
}

TEST(Graph, ProgramsDropWhatNoOutputNeeds) {
  Graph<double> graph;
  const Node x = graph.input({4}, "x"), unused = graph.parameter({1000}, "unused");
  const Node y = graph.relu(x, "y"), dead = graph.exp(graph.scale(unused, 2), "dead");
  Program<double> program = graph.compile({y});
  EXPECT_TRUE(program.parameters().empty());
  EXPECT_EQ(program.summary().find("dead"), std::string::npos);
  EXPECT_LT(program.arena_bytes(), 1000U);
  EXPECT_THROW(program.forward({{x, Numbers(4)}})[dead], Error);
  EXPECT_GT(graph.compile().arena_bytes(), 8000U);
}

TEST(Graph, ArraysThatDoNotLiveTogetherShareMemory) {
  Graph<float> graph;
  const Node x = graph.input({1024});
  Node y = x;
  for (int i = 0; i < 50; ++i) y = graph.scale(y, 2);
  const Program<float> program = graph.compile({y});
  EXPECT_EQ(program.arena_bytes(graph::Mode::forward), 2U * 4096);
  EXPECT_EQ(program.arena_bytes(graph::Mode::jvp), 3U * 4096);  // a value, two tangents, or the reverse
  EXPECT_EQ(program.arena_bytes(graph::Mode::vjp), 3U * 4096);  // the output, and two gradients
}

TEST(Graph, ParametersBelongToTheProgram) {
  Graph<double> graph;
  const Node x = graph.input({1}), w = graph.parameter({1}, {2}), y = graph.multiply(x, w);
  Program<double> first = graph.compile();
  Program<double> second = first;
  first.parameter(w)[0] = 5;
  EXPECT_EQ(first.forward({{x, Numbers{1}}})[y][0], 5);
  EXPECT_EQ(second.forward({{x, Numbers{1}}})[y][0], 2);
  EXPECT_EQ(graph.compile().forward({{x, Numbers{1}}})[y][0], 2);
}

TEST(Graph, ACopyIsAGraphOfItsOwn) {
  Graph<double> graph;
  graph.relu(graph.input({1}, "x"), "y");
  Graph<double> copy = graph;
  const Node x = copy.node("x"), z = copy.scale(copy.node("y"), 3, "z");
  expect(maps(copy, x, z, {2}, {1}, {1}), {6}, {3}, {3});
  EXPECT_THROW(graph.node("z"), Error);
}

TEST(Graph, ABatchMayBeEmpty) {
  Graph<double> graph;
  const Node x = graph.input({0, 1, 4}), w = graph.parameter({2, 1, 3}), v = graph.parameter({3, 2});
  const Node pooled = graph.pool(graph.relu(graph.convolution(x, w)), max_pool({.kernel = {2}}));
  const Node y = graph.sum(graph.dense(graph.flatten(graph.pool(pooled, avg_pool({.kernel = {1}}))), v));
  expect(maps(graph, x, y, {}, {}, {1}), {0}, {0}, {});
  Program<double> program = graph.compile({y});
  EXPECT_EQ(numbers(program.value_and_grad(y, {{x, Numbers()}}).gradients.gradient(v)), Numbers(6));
}

TEST(Graph, CustomNodesReceiveSideData) {
  Graph<double> graph;
  const Node x = graph.input({3}), mask = graph.side({3});
  const auto masked = [](const View<const double>& from, const View<const double>& by, const View<double>& to) {
    for (Index i = 0; i < 3; ++i) to[{i}] = from[{i}] * by[{i}];
  };
  using Call = CustomCall<double>;
  const Node y = graph.custom({x, mask}, {3},
                              {.forward = [=](const Call& call) { masked(call.x(0), call.x(1), call.out({3})); },
                               .jvp = [=](const Call& call) { masked(call.dx(0), call.x(1), call.out({3})); },
                               .vjp = [=](const Call& call) { masked(call.gy(), call.x(1), call.out({3})); }});
  Program<double> program = graph.compile({y});
  const Numbers at{1, 2, 3}, ones{1, 1, 1}, keep{1, 0, 1};
  EXPECT_EQ(numbers(program.forward({{x, at}, {mask, keep}})[y]), (Numbers{1, 0, 3}));
  EXPECT_EQ(numbers(program.jvp({{x, at}, {mask, keep}}, {{x, at}}).tangent(y)), (Numbers{1, 0, 3}));
  EXPECT_EQ(numbers(program.vjp({{x, at}, {mask, keep}}, {{y, ones}}).gradient(x)), (Numbers{1, 0, 1}));
}

TEST(Graph, RewiringKeepsTheOrderRight) {
  Graph<double> graph;
  const Node x = graph.input({1}), y = graph.scale(x, 2), late = graph.scale(x, 5);
  const Node z = graph.scale(y, 3);
  graph.rewire(y, 0, late);
  expect(maps(graph, x, z, {1}, {1}, {1}), {30}, {30}, {30});
}

TEST(Graph, SummaryAndDotNameTheNodes) {
  Graph<float> graph;
  const Node x = graph.side({2, 1, 8, 8}, "image"), w = graph.parameter({4, 1, 3, 3}, "weights");
  const Node y = graph.convolution(x, w, {}, "conv");
  graph.pool(graph.relu(y, "active"), max_pool({.kernel = {2, 2}}), "small");
  const std::string summary = graph.compile().summary();
  EXPECT_NE(summary.find("node (kind)         output shape    parameters  bytes kept"), std::string::npos) << summary;
  EXPECT_NE(summary.find("conv (convolution)  2x4x6x6                 36           0"), std::string::npos) << summary;
  EXPECT_NE(summary.find("active (relu)       2x4x6x6                  0       1,152"), std::string::npos) << summary;
  EXPECT_NE(summary.find("small (max_pool)    2x4x3x3                  0          72"), std::string::npos) << summary;
  const std::string dot = graph.dot();
  EXPECT_NE(dot.find("n3 [label=\"active\\nrelu, 2x4x6x6\", shape=box];\n  n2 -> n3;"), std::string::npos) << dot;
}

}  // namespace
}  // namespace ndpool::testing
