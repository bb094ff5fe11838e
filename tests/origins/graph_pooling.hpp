// Rows of docs/origins.md: TorchLean: GraphM pooling.
#pragma once

#include <ndpool/graph.hpp>

#include "origins/support.hpp"

namespace ndpool {
namespace {

using DoubleGraph = Graph<double>;

struct Maps {
  Doubles y, dy, gx;
};
/// Value and both derivatives of the node that `build(graph, x)` appends to a graph.
template <class Build>
void expect_maps(Build build, const Doubles& x, const Doubles& dx, const Doubles& gy, const Maps& expected,
                 std::source_location where = std::source_location::current()) {
  DoubleGraph graph;
  const Node input = graph.input(x.shape()), node = build(graph, input);
  Program<double> program = graph.compile({node});
  const auto array = [](const Shape& shape, std::span<const double> numbers) {
    return Doubles(shape, std::vector<double>(numbers.begin(), numbers.end()));
  };
  expect(array(graph.shape(node), program.forward({{input, x.view()}}).value(node)), expected.y, where);
  const auto tangents = program.jvp({{input, x.view()}}, {{input, dx.view()}});
  expect(array(graph.shape(node), tangents.tangent(node)), expected.dy, where);
  const auto gradients = program.vjp({{input, x.view()}}, {{node, gy.view()}});
  expect(array(x.shape(), gradients.gradient(input)), expected.gx, where);
}

TEST(Origins, GraphPayloads) {
  expect_maps([](DoubleGraph& graph, Node x) { return graph.avg_pool(graph.max_pool(x, pairs), pairs); },
              Doubles({8}, {1, 4, 2, 3, 9, 8, 0, 5}), arange<double>({8}, 1), Doubles({2}, {2, 4}),
              {{{2}, {3.5, 7}}, {{2}, {3, 6.5}}, {{8}, {0, 1, 0, 1, 2, 0, 0, 2}}});
}
TEST(Origins, GraphPoolOutSpatialPad) {
  using Description = typed::Window<typed::Kernel<2, 3, 4>, typed::Stride<1, 2, 3>, typed::Padding<0, 1, 2>>;
  expect_shape<Description, typed::Shape<6, 4, 5, 9>, typed::Shape<6, 3, 3, 4>>(
      max_pool({.kernel = {2, 3, 4}, .stride = {1, 2, 3}, .padding = {0, 1, 2}}));
}
TEST(Origins, GraphMaxPoolJvpSpec) {
  expect(jvp(max_pool(pairs), Doubles({2, 2}, {3, 3, 1, 3}), Doubles({2, 2}, {1, 2, 3, 4})), {{2, 1}, {1, 4}});
}
TEST(Origins, GraphMaxPool) {
  expect_maps([](DoubleGraph& graph, Node x) { return graph.max_pool(x, padded_pairs); }, Doubles({1, 3}, {-1, -3, -2}),
              Doubles({1, 3}, {1, 2, 3}), Doubles({1, 2}, {10, 20}),
              {{{1, 2}, {-1, -2}}, {{1, 2}, {1, 3}}, {{1, 3}, {10, 0, 20}}});
}
TEST(Origins, GraphAvgPool) {
  const Shape in{1, 2, 2, 2}, out{1, 1, 1, 1};
  expect_maps(
      [](DoubleGraph& graph, Node x) {
        return graph.avg_pool(x, {.kernel = {2, 2, 2}});
      },
      arange<double>(in), arange<double>(in, 1), Doubles(out, 8),
      {Doubles(out, 3.5), Doubles(out, 4.5), Doubles(in, 1)});
}
TEST(Origins, GraphSmoothMaxPool) {
  expect_maps([](DoubleGraph& graph, Node x) { return graph.smooth_max_pool(x, padded_pairs, {.beta = 2}); },
              Doubles({1, 2}, {0, log2}), Doubles({1, 2}, {4, 5}), Doubles({1, 2}, {2, 10}),
              {{{1, 2}, {log2 / 2, log5 / 2}}, {{1, 2}, {2, 4}}, {{1, 2}, {1, 8}}});
}
TEST(Origins, GraphMaxPool2d) {
  expect_maps([](DoubleGraph& graph, Node x) { return graph.max_pool2d(x, 2, 2, 1); },
              Doubles({1, 2, 3}, {1, 5, 2, 3, 4, 6}), arange<double>({1, 2, 3}, 1), Doubles({1, 1, 2}, {3, 4}),
              {{{1, 1, 2}, {5, 6}}, {{1, 1, 2}, {2, 6}}, {{1, 2, 3}, {0, 3, 0, 0, 0, 4}}});
}
TEST(Origins, GraphMaxPool2dPad) {
  const Shape shape{1, 2, 2};
  expect_maps([](DoubleGraph& graph, Node x) { return graph.max_pool2d_pad(x, 3, 3, 1, 1); },
              Doubles(shape, {-1, -2, -3, -4}), arange<double>(shape, 1), arange<double>(shape, 5),
              {Doubles(shape, -1), Doubles(shape, 1), {shape, {26, 0, 0, 0}}});
}
TEST(Origins, GraphSmoothMaxPool2d) {
  const Shape in{1, 2, 2}, out{1, 1, 1};
  expect_maps([](DoubleGraph& graph, Node x) { return graph.smooth_max_pool2d(x, 2, 2, 2, 1.0); },
              Doubles(in, {0, 0, log2, log4}), Doubles(in, {8, 0, 4, 2}), Doubles(out, 8),
              {Doubles(out, log8), Doubles(out, 3), {in, {1, 1, 2, 4}}});
}
TEST(Origins, GraphAvgPool2d) {
  const Shape in{2, 2, 2}, out{2, 1, 1};
  expect_maps([](DoubleGraph& graph, Node x) { return graph.avg_pool2d(x, 2, 2, 2); }, arange<double>(in, 1),
              Doubles(in, {4, 0, 0, 0, 0, 0, 8, 0}), Doubles(out, {4, 8}),
              {{out, {2.5, 6.5}}, {out, {1, 2}}, {in, {1, 1, 1, 1, 2, 2, 2, 2}}});
}
TEST(Origins, GraphAvgPool2dPad) {
  const Shape shape{1, 2, 2};
  expect_maps([](DoubleGraph& graph, Node x) { return graph.avg_pool2d_pad(x, 2, 2, 2, 1); },
              Doubles(shape, {4, 8, 12, 16}), Doubles(shape, {8, 4, 4, 4}), Doubles(shape, {20, 8, 12, 16}),
              {{shape, {1, 2, 3, 4}}, {shape, {2, 1, 1, 1}}, {shape, {5, 2, 3, 4}}});
}

}  // namespace
}  // namespace ndpool
