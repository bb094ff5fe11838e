// Graphs with shapes as types: result types are computed, values are those of the dynamic graph.
#include <ndpool/graph.hpp>

#include <gtest/gtest.h>

namespace ndpool::typed {
namespace {

template <class V>
using ShapeOf = typename V::ShapeType;

template <class Expected, class V>
void expect_shape(Graph<double>& graph, const V& node) {
  static_assert(std::same_as<ShapeOf<V>, Expected>);
  EXPECT_EQ(graph.dynamic().shape(node), detail::run_time_shape<Expected>());
}

TEST(TypedGraph, ResultTypesAreComputedAndEqualTheRunTimeShapes) {
  Graph<double> graph;
  const auto x = graph.input<Shape<2, 3, 8, 8>>("image");
  expect_shape<Shape<2, 3, 8, 8>>(graph, graph.add(x, graph.relu(x)));
  expect_shape<Shape<2, 3, 8, 8>>(graph, graph.multiply(graph.exp(x), graph.log(graph.scale(x, 2))));
  expect_shape<Shape<>>(graph, graph.sum(x));
  expect_shape<Shape<>>(graph, graph.mean(x));
  expect_shape<Shape<2, 192>>(graph, graph.flatten(x));
  expect_shape<Shape<2, 3, 64>>(graph, graph.flatten<2>(x));
  expect_shape<Shape<6, 64>>(graph, graph.reshape<Shape<6, 64>>(x));
  expect_shape<Shape<2, 3, 8, 5>>(graph, graph.dense(x, graph.parameter<Shape<5, 8>>(), graph.parameter<Shape<5>>()));
  const auto w = graph.parameter<Shape<4, 3, 3, 3>>();
  expect_shape<Shape<2, 4, 6, 6>>(graph, graph.convolution(x, w));
  expect_shape<Shape<2, 4, 8, 4>>(graph,
                                  graph.convolution<Padding<1, 1>, Stride<1, 2>>(x, w, graph.parameter<Shape<4>>()));
  const auto signal = graph.input<Shape<3, 10>>();
  expect_shape<Shape<4, 6>>(graph, graph.convolution<Dilation<2>>(signal, graph.parameter<Shape<4, 3, 3>>()));
  expect_shape<Shape<2, 3, 4, 4>>(graph, graph.pool(x, max_pool<Window<Kernel<2, 2>>>));
  expect_shape<Shape<2, 3, 4, 4>>(graph, graph.pool(x, min_pool<Window<Kernel<3, 3>, Stride<2, 2>, Padding<1, 1>>>));
  expect_shape<Shape<2, 3, 3, 5>>(graph, graph.pool(x, adaptive_avg_pool<3, 5>));
  expect_shape<Shape<2, 3, 1, 1>>(graph, graph.pool(x, global_sum_pool<2, true>));
  expect_shape<Shape<2, 3>>(graph, graph.pool(x, global_lp_pool<2>, reduction::Lp{3}));
  expect_shape<Shape<2, 3, 4, 4>>(
      graph, graph.pool(x, smooth_max_pool<Window<Kernel<2, 2>>>, reduction::SmoothMax{{.beta = 4}}));
  const auto logits = graph.input<Shape<2, 10>>();
  expect_shape<Shape<>>(graph, graph.softmax_cross_entropy(logits, graph.side<Shape<2>>()));
  expect_shape<Shape<>>(graph, graph.mean_squared_error(logits, logits));
}

TEST(TypedGraph, TensorsGoInAndTheSameNumbersComeOut) {
  Graph<double> graph;
  const Var<Shape<1, 4>> x = graph.input<Shape<1, 4>>("x");
  const auto w = graph.parameter(Tensor<double, Shape<1, 1, 3>>{{1, 10, 100}});
  const auto shift = graph.constant(Tensor<double, Shape<1, 4>>{{1, 1, 1, 1}});
  const auto y = graph.add(graph.convolution<Padding<1>>(x, w), shift);
  const auto z = graph.pool(y, max_pool<Window<Kernel<2>>>);
  static_assert(std::same_as<decltype(z), const Var<Shape<1, 2>>>);
  auto program = graph.compile();
  const Tensor<double, Shape<1, 4>> at{{1, 2, 3, 4}};
  const Tensor<double, Shape<1, 2>> gz{{1, 2}};
  const auto results = program.vjp({{x, at}}, {{z, gz}});
  EXPECT_EQ(results[z][0], 322);
  EXPECT_EQ(results[z][1], 433);
  const double expected[] = {1, 12, 120, 200};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(results.gradient(x)[i], expected[i]);
  EXPECT_EQ(program.forward({{x, ndpool::view(at.data, {1, 4})}})[z][0], 322);
}

TEST(TypedGraph, GlobalMaxGivesItsDerivativeToEveryExtreme) {
  Graph<double> graph;
  const auto x = graph.input<Shape<3>>();
  const auto y = graph.pool(x, global_max_pool<1>);
  auto program = graph.compile();
  const Tensor<double, Shape<3>> at{{5, 1, 5}};
  const auto [value, gradients] = program.value_and_grad(y, {{x, at}});
  EXPECT_EQ(value, 5);
  EXPECT_EQ(gradients.gradient(x)[0], 1);
  EXPECT_EQ(gradients.gradient(x)[1], 0);
  EXPECT_EQ(gradients.gradient(x)[2], 1);
}

TEST(TypedGraph, CustomNodesOfTensors) {
  using Pair = Tensor<double, Shape<2>>;
  using Number = Tensor<double, Shape<>>;
  const auto dot = [](const Pair& a, const Pair& b) { return a.data[0] * b.data[0] + a.data[1] * b.data[1]; };
  Graph<double> graph;
  const auto a = graph.input<Shape<2>>("a"), b = graph.input<Shape<2>>("b");
  const auto y = graph.custom<Shape<>>(
      [=](const Pair& x, const Pair& w) { return Number{{dot(x, w)}}; },
      [=](const Pair& x, const Pair& w, const Pair& dx, const Pair& dw) { return Number{{dot(dx, w) + dot(x, dw)}}; },
      [](const Pair& x, const Pair& w, const Number& g) {
        return std::tuple(Pair{{g.data[0] * w.data[0], g.data[0] * w.data[1]}},
                          Pair{{g.data[0] * x.data[0], g.data[0] * x.data[1]}});
      },
      a, b);
  auto program = graph.compile();
  const Pair at_a{{1, 2}}, at_b{{3, 4}}, one{{1, 0}};
  EXPECT_EQ(program.forward({{a, at_a}, {b, at_b}})[y][0], 11);
  EXPECT_EQ(program.jvp({{a, at_a}, {b, at_b}}, {{b, one}}).tangent(y)[0], 1);
  const auto results = program.value_and_grad(y, {{a, at_a}, {b, at_b}});
  EXPECT_EQ(results.gradients.gradient(a)[1], 4);
  EXPECT_EQ(results.gradients.gradient(b)[1], 2);
}

}  // namespace
}  // namespace ndpool::typed
