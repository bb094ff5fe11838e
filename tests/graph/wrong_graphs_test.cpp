// Wrong graphs: each is an error whose sentence names the nodes and the shapes.
#include <ndpool/graph.hpp>

#include <gtest/gtest.h>
#include <boost/multiprecision/cpp_int.hpp>
#include <complex>

#include "support/expect_error.hpp"

namespace ndpool::testing {
namespace {

using Numbers = std::vector<float>;

class WrongGraph : public ::testing::Test {
 protected:
  Graph<float> graph;
  Node image = graph.input({2, 3, 8, 8}, "image");
  Node small = graph.input({2, 3, 4, 4}, "small");
  Node row = graph.input({5}, "row");
};

TEST_F(WrongGraph, AddOfTwoShapes) {
  expect_error(R"(add: node "image" (2x3x8x8) and node "small" (2x3x4x4) do not have the same shape)",
               [&] { graph.add(image, small); });
}
TEST_F(WrongGraph, MultiplyOfTwoShapes) {
  expect_error(R"(multiply: node "small" (2x3x4x4) and node "row" (5) do not have the same shape)",
               [&] { graph.multiply(small, row); });
}
TEST_F(WrongGraph, MeanSquaredErrorOfTwoShapes) {
  expect_error(R"(mean_squared_error: node "row" (5) and node "image" (2x3x8x8) do not have the same shape)",
               [&] { graph.mean_squared_error(row, image); });
}
TEST_F(WrongGraph, ReshapeToAnotherNumberOfElements) {
  expect_error(R"(reshape: node "row" (5) does not have as many numbers as 2x3)", [&] { graph.reshape(row, {2, 3}); });
}
TEST_F(WrongGraph, FlattenFromAnAxisThatIsNotThere) {
  expect_error(R"(flatten: node "row" (5) has no axis 1)", [&] { graph.flatten(row); });
}
TEST_F(WrongGraph, DenseWithWrongWeights) {
  const Node w = graph.parameter({10, 4}, "w");
  expect_error(
      R"(dense: the weights, node "w" (10x4), must be outputs x inputs, with as many inputs as the last axis of node "row" (5) has)",
      [&] { graph.dense(row, w); });
}
TEST_F(WrongGraph, DenseWithAWrongBias) {
  const Node w = graph.parameter({10, 5}, "w"), b = graph.parameter({5}, "b");
  expect_error(R"(dense: the bias, node "b" (5), must have one number per row of the weights, node "w" (10x5))",
               [&] { graph.dense(row, w, b); });
}
TEST_F(WrongGraph, ConvolutionWithWrongChannels) {
  const Node w = graph.parameter({16, 1, 3, 3}, "w");
  expect_error(
      R"(convolution: the weights, node "w" (16x1x3x3), must be outputs x channels x kernel, with the channels and axes of node "image" (2x3x8x8))",
      [&] { graph.convolution(image, w); });
}
TEST_F(WrongGraph, ConvolutionWithAKernelThatDoesNotFit) {
  const Node w = graph.parameter({16, 3, 5, 5}, "w");
  expect_error(
      R"(convolution of node "small" (2x3x4x4) with node "w" (16x3x5x5): kernel 5 on axis 2 does not fit: it spans 5 cells, and input 4 with padding 0 and 0 has 4)",
      [&] { graph.convolution(small, w); });
}
TEST_F(WrongGraph, ZeroStride) {
  expect_error(R"(max_pool of node "image" (2x3x8x8): stride 0 on axis 3 must be at least 1)", [&] {
    graph.max_pool(image, {.kernel = {2, 2}, .stride = {1, 0}});
  });
  expect_error(R"(avg_pool of node "image" (2x3x8x8): stride 0 on axis 2 must be at least 1)",
               [&] { graph.avg_pool2d(image, 2, 2, 0); });
}
TEST_F(WrongGraph, ZeroKernel) {
  expect_error(R"(max_pool of node "image" (2x3x8x8): kernel 0 on axis 2 must be at least 1)",
               [&] { graph.max_pool2d(image, 0, 2, 1); });
}
TEST_F(WrongGraph, NegativePadding) {
  expect_error(R"(max_pool of node "image" (2x3x8x8): padding -1 on axis 2 must not be negative)",
               [&] { graph.max_pool2d_pad(image, 2, 2, 1, -1); });
}
TEST_F(WrongGraph, PoolLargerThanItsInput) {
  expect_error(
      R"(smooth_max_pool of node "small" (2x3x4x4): kernel 5 on axis 2 does not fit: it spans 5 cells, and input 4 with padding 0 and 0 has 4)",
      [&] { graph.smooth_max_pool2d(small, 5, 5, 1, 1.0); });
}
TEST_F(WrongGraph, MoreKernelsThanAxes) {
  expect_error(R"(avg_pool of node "row" (5): 2 axes are to be pooled, but the array has only 1)", [&] {
    graph.pool(row, avg_pool({.kernel = {2, 2}}));
  });
}
TEST_F(WrongGraph, ZeroBins) {
  expect_error(R"(max_pool of node "row" (5): output_size 0 on axis 0 must be at least 1)",
               [&] { graph.pool(row, adaptive_max_pool({.output_size = {0}})); });
}
TEST_F(WrongGraph, ZeroBeta) {
  expect_error(R"(smooth_max_pool of node "image" (2x3x8x8): beta 0 must be finite and not 0)",
               [&] { graph.smooth_max_pool2d(image, 2, 2, 2, 0.0); });
}
TEST_F(WrongGraph, NodeOfAnotherGraph) {
  Graph<float> other = graph;
  const Node there = other.relu(other.input({5}, "there"));
  expect_error("node number 4 belongs to another graph", [&] { graph.add(row, there); });
  expect_error("an empty Node is no node of a graph", [&] { graph.relu(Node()); });
}
TEST_F(WrongGraph, LabelsWithADerivative) {
  const Node logits = graph.reshape(row, {1, 5}), label = graph.input({1}, "label");
  expect_error(
      R"(softmax_cross_entropy: the labels, node "label" (1), take no derivative: they must be side data or constant)",
      [&] { graph.softmax_cross_entropy(logits, label); });
}
TEST_F(WrongGraph, LabelsOfAnotherShape) {
  const Node labels = graph.side({3}, "labels");
  expect_error(
      R"(softmax_cross_entropy: node "row" (5) needs one label per row, which node "labels" (3) does not have)",
      [&] { graph.softmax_cross_entropy(row, labels); });
}
TEST_F(WrongGraph, CycleByRewiring) {
  const Node first = graph.relu(row, "first"), second = graph.scale(first, 2, "second");
  expect_error(R"(rewire: node "second" (5) depends on node "first" (5), so the graph would have a cycle)",
               [&] { graph.rewire(first, 0, second); });
  expect_error(R"(rewire: node "first" (5) depends on node "first" (5), so the graph would have a cycle)",
               [&] { graph.rewire(first, 0, first); });
}
TEST_F(WrongGraph, RewiringToAnotherShape) {
  const Node first = graph.relu(row, "first");
  expect_error(
      R"(rewire: node "image" (2x3x8x8) cannot replace node "row" (5) as an input of node "first" (5): their shapes differ)",
      [&] { graph.rewire(first, 0, image); });
}
TEST_F(WrongGraph, CodesNameTheCause) {
  const auto code_of = [](const auto& call) {
    try {
      call();
    } catch (const ndpool::Error& error) {
      return error.code();
    }
    return Code::none;
  };
  EXPECT_EQ(code_of([&] { graph.relu(row, "image"); }), Code::name_repeated);
  Graph<std::complex<double>> unordered;
  const Node z = unordered.input({2}, "z");
  EXPECT_EQ(code_of([&] { unordered.relu(z); }), Code::no_order);
  EXPECT_EQ(code_of([&] { unordered.exp(z); }), Code::no_order);
  Program<float> program = graph.compile({graph.relu(row)});
  const Node later = graph.scale(row, 2, "later");
  EXPECT_EQ(code_of([&] { program.parameter(later); }), Code::compiled_before);
}
TEST_F(WrongGraph, NameOfNoNode) {
  expect_error(R"(there is no node "imag")", [&] { graph.node("imag"); });
}
TEST_F(WrongGraph, MeanOfNothing) {
  const Node none = graph.input({0, 3}, "none");
  expect_error(R"(mean: node "none" (0x3) has no numbers)", [&] { graph.mean(none); });
  expect_error(R"(mean_squared_error: node "none" (0x3) has no numbers)",
               [&] { graph.mean_squared_error(none, none); });
}
TEST_F(WrongGraph, ArraysThatNoMemoryHolds) {
  const Index quarter = Index{1} << 60;  // of 64-bit sizes, in elements of 4 bytes
  const char* const sentence = "the arrays of this program are too large for memory";
  for (const Index length : {quarter, 2 * quarter, 4 * quarter}) {
    Graph<float> huge;
    const Node x = huge.input({length}), y = huge.relu(x), z = huge.exp(y);
    expect_error(sentence, [&] { huge.compile({y, z}); });
  }
  Graph<double> huge;
  const Node y = huge.relu(huge.input({2 * quarter}));
  expect_error(sentence, [&] { huge.compile({y}); });
}
TEST_F(WrongGraph, TwoNodesOfOneName) {
  expect_error(R"(there is a node "image" already)", [&] { graph.relu(row, "image"); });
}
TEST_F(WrongGraph, TooFewNumbersForAParameter) {
  expect_error(R"(parameter node "w" (2x3) got 5 numbers)", [&] { graph.parameter({2, 3}, Numbers(5), "w"); });
}
TEST_F(WrongGraph, NothingToCompute) {
  expect_error("the graph has no node to compute", [&] { graph.compile(); });
}

/// The maps of a node that copies its input; one of them writes a shape of its own.
CustomMaps<float> copies(const Shape& forward, const Shape& jvp, const Shape& vjp) {
  using Call = CustomCall<float>;
  return {.forward = [=](const Call& call) { call.out(forward).data()[0] = call.x(0).data()[0]; },
          .jvp = [=](const Call& call) { call.out(jvp).data()[0] = call.dx(0).data()[0]; },
          .vjp = [=](const Call& call) { call.out(vjp).data()[0] = call.gy().data()[0]; }};
}
TEST_F(WrongGraph, CustomNodeWhoseVjpHasTheWrongShape) {
  expect_error(R"(custom node "mine" (5): its vjp writes 4, but its input 0 is 5)",
               [&] { graph.custom({row}, {5}, copies({5}, {5}, {4}), "mine"); });
}
TEST_F(WrongGraph, CustomNodeWhoseForwardMapHasTheWrongShape) {
  expect_error(R"(custom node "mine" (5): its forward map writes 5x1, but the node is 5)", [&] {
    graph.custom({row}, {5}, copies({5, 1}, {5}, {5}), "mine");
  });
  expect_error(R"(custom node "mine" (5): its jvp writes 6, but the node is 5)",
               [&] { graph.custom({row}, {5}, copies({5}, {6}, {5}), "mine"); });
}
TEST_F(WrongGraph, CustomNodeWithoutAVjp) {
  CustomMaps<float> maps = copies({5}, {5}, {5});
  maps.vjp = [](const CustomCall<float>&) {};
  expect_error(R"(custom node "mine" (5): its vjp writes no result)", [&] { graph.custom({row}, {5}, maps, "mine"); });
  maps.vjp = {};
  expect_error(R"(custom node "mine" (5) needs forward, jvp and vjp)", [&] { graph.custom({row}, {5}, maps, "mine"); });
}
TEST(WrongGraphOfRationals, ExpOfAScalarWithoutIt) {
  Graph<boost::multiprecision::cpp_rational> graph;
  const Node x = graph.input({2}, "x");
  expect_error(R"(exp of node "x" (2): the scalar of this graph has no exp and log)", [&] { graph.exp(x); });
  expect_error(
      R"(smooth_max_pool of node "x" (2): x has a scalar type without exp, log and pow, which this reducer needs)",
      [&] { graph.smooth_max_pool(x, {.kernel = {2}}); });
}

class WrongRun : public WrongGraph {
 protected:
  Node w = graph.parameter({5}, "w");
  Node y = graph.multiply(row, w, "y");
  Node labels = graph.side({5}, "labels");
  Node z = graph.add(y, labels, "z");
  Program<float> program = graph.compile({z});
  Numbers five = Numbers(5);
};

TEST_F(WrongRun, UnknownInput) {
  expect_error(R"(node "y" (5) is no input of the program, but a multiply node)", [&] {
    program.forward({{row, five}, {labels, five}, {y, five}});
  });
  Graph<float> other;
  const Node there = other.input({5});
  expect_error("input of node number 0, which belongs to another graph", [&] {
    program.forward({{row, five}, {labels, five}, {there, five}});
  });
}
TEST_F(WrongRun, MissingInput) {
  expect_error(R"(side node "labels" (5) needs an array, and none was given)", [&] { program.forward({{row, five}}); });
}
TEST_F(WrongRun, InputGivenTwice) {
  expect_error(R"(input "row" (5) was given twice)", [&] { program.forward({{row, five}, {row, five}}); });
}
TEST_F(WrongRun, DerivativeGivenTwice) {
  expect_error(R"(tangent of node "w" (5) was given twice)", [&] {
    program.jvp({{row, five}, {labels, five}}, {{w, five}, {w, five}});
  });
  expect_error(R"(gradient of node "z" (5) was given twice)", [&] {
    program.vjp({{row, five}, {labels, five}}, {{z, five}, {z, five}});
  });
}
TEST_F(WrongRun, ArrayOfTheWrongSize) {
  const Numbers four(4);
  expect_error(R"(input: the array for node "row" (5) holds 4 numbers instead of 5)", [&] {
    program.forward({{row, four}, {labels, five}});
  });
  expect_error(R"(input: the array for node "row" (5) is 5x1)", [&] {
    program.forward({{row, view(five, {5, 1})}, {labels, five}});
  });
  expect_error("an array for a program must be packed, but this view of 5 has other strides", [&] {
    const Numbers ten(10);
    program.forward({{row, view(ten.data(), {5}, {2})}, {labels, five}});
  });
}
TEST_F(WrongRun, TangentOfSideData) {
  expect_error(R"(jvp: node "labels" (5) takes no tangent: only inputs and parameters do)", [&] {
    program.jvp({{row, five}, {labels, five}}, {{labels, five}});
  });
}
TEST_F(WrongRun, GradientOfSomethingThatIsNoOutput) {
  expect_error(R"(vjp: node "y" (5) takes no gradient: it is not an output)", [&] {
    program.vjp({{row, five}, {labels, five}}, {{y, five}});
  });
}
TEST_F(WrongRun, ResultsThatWereNotComputed) {
  const auto results = program.forward({{row, five}, {labels, five}});
  expect_error(R"(node "y" (5) has no value: it is not an output)", [&] { results.value(y); });
  expect_error(R"(node "w" (5) has no gradient: only vjp makes gradients, of inputs and parameters)",
               [&] { results.gradient(w); });
  expect_error(R"(gradient of node "image": no output of the program needs this node, so it was dropped)",
               [&] { results.gradient(image); });
}
TEST_F(WrongRun, ResultsOfAnEarlierRun) {
  const auto results = program.forward({{row, five}, {labels, five}});
  program.forward({{row, five}, {labels, five}});
  expect_error(R"(value of node "z" (5): these results are gone, because the program has run again)",
               [&] { results.value(z); });
}
TEST_F(WrongRun, LossThatIsNotASingleNumber) {
  expect_error(R"(value_and_grad: node "z" (5) is not a single number)", [&] {
    program.value_and_grad(z, {{row, five}, {labels, five}});
  });
}
TEST_F(WrongRun, LabelThatNamesNoClass) {
  const Node classes = graph.side({1}, "classes");
  const Node loss = graph.softmax_cross_entropy(graph.reshape(row, {1, 5}), classes);
  Program<float> losses = graph.compile({loss});
  const Numbers wrong{5}, fraction{0.5F};
  const std::string sentence = "softmax_cross_entropy: the label of row 0 is not a whole number from 0 to 4";
  expect_error(sentence, [&] { losses.forward({{row, five}, {classes, wrong}}); });
  expect_error(sentence, [&] { losses.forward({{row, five}, {classes, fraction}}); });
}
TEST_F(WrongRun, ArenaOfAnotherProgram) {
  const Program<float> other = graph.compile({y});
  const auto arena = other.make_arena();
  expect_error("the arena was made by another program", [&] {
    program.forward(*arena, {{row, five}, {labels, five}});
  });
}

}  // namespace
}  // namespace ndpool::testing
