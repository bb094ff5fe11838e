// Smooth max with a beta in the type of the sums, and with a beta that is a node: forward, JVP, VJP, training.
#include <ndpool/graph.hpp>
#include <ndpool/half.hpp>

#include <gtest/gtest.h>
#include <boost/math/differentiation/autodiff.hpp>
#include <boost/multiprecision/cpp_int.hpp>

#include <cmath>
#include <limits>

#include "support/expect_error.hpp"

namespace ndpool::testing {
namespace {

using Numbers = std::vector<double>;
using Dual = boost::math::differentiation::autodiff_fvar<double, 1>;

const Numbers at{0.5, -1, 2, 0.25, 3, 1};

/// A pool of windows of two, padded by one zero, whose beta is the parameter `beta`.
struct Trained {
  Graph<double> graph;
  Node x = graph.input({6}, "x"), beta = graph.parameter({}, {1.5}, "beta");
  Node y = graph.smooth_max_pool(x, {.kernel = {2}, .padding = {1}}, beta);
  Program<double> program = graph.compile({y});
};

/// The same with a constant beta.
Numbers constant_beta(double beta) {
  const Pool pool = smooth_max_pool({.kernel = {2}, .padding = {1}}, {.beta = beta});
  Numbers y(4);
  pool.without_kernels().forward(view(at, {6}), view(y, {4}));
  return y;
}

TEST(TrainedBeta, ValuesAreThoseOfAConstantBeta) {
  Trained trained;
  for (const double beta : {1.5, -2.0, 0.01, 100.0}) {
    trained.program.parameter(trained.beta)[0] = beta;
    const auto y = trained.program.forward({{trained.x, at}})[trained.y];
    EXPECT_EQ(Numbers(y.begin(), y.end()), constant_beta(beta)) << beta;
  }
}

TEST(TrainedBeta, DerivativesByBetaEqualFiniteDifferences) {
  const Numbers one{1}, gy{1, -2, 3, 0.5}, dx{1, 2, -1, 0, 1, 3};
  Trained trained;
  constexpr double step = 1e-6;
  for (const double beta : {1.5, -2.0, 0.3, 8.0}) {
    SCOPED_TRACE(beta);
    trained.program.parameter(trained.beta)[0] = beta;
    const Numbers above = constant_beta(beta + step), below = constant_beta(beta - step);
    const auto by_beta = trained.program.jvp({{trained.x, at}}, {{trained.beta, one}});
    double by_gradient = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const double slope = (above[i] - below[i]) / (2 * step);
      EXPECT_NEAR(by_beta.tangent(trained.y)[i], slope, 1e-8);
      by_gradient += gy[i] * slope;
    }
    EXPECT_NEAR(trained.program.vjp({{trained.x, at}}, {{trained.y, gy}}).gradient(trained.beta)[0], by_gradient, 1e-8);
    // Both inputs at a time: <gy, J (dx, dbeta)> = <J^T gy, (dx, dbeta)>.
    const auto both = trained.program.jvp({{trained.x, at}}, {{trained.x, dx}, {trained.beta, one}});
    double by_tangents = 0, by_gradients = 0;
    for (std::size_t i = 0; i < 4; ++i) by_tangents += gy[i] * both.tangent(trained.y)[i];
    const auto back = trained.program.vjp({{trained.x, at}}, {{trained.y, gy}});
    for (std::size_t i = 0; i < 6; ++i) by_gradients += dx[i] * back.gradient(trained.x)[i];
    EXPECT_NEAR(by_tangents, by_gradients + back.gradient(trained.beta)[0], 1e-12);
  }
}

TEST(TrainedBeta, DerivativesOfXAreThoseOfAConstantBeta) {
  Trained trained;
  Graph<double> graph;
  const Node x = graph.input({6}), y = graph.smooth_max_pool(x, {.kernel = {2}, .padding = {1}}, {.beta = 1.5});
  Program<double> constant = graph.compile();
  const Numbers gy{1, -2, 3, 0.5}, dx{1, 2, -1, 0, 1, 3};
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(trained.program.vjp({{trained.x, at}}, {{trained.y, gy}}).gradient(trained.x)[i],
                constant.vjp({{x, at}}, {{y, gy}}).gradient(x)[i], 1e-14);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(trained.program.jvp({{trained.x, at}}, {{trained.x, dx}}).tangent(trained.y)[i],
                constant.jvp({{x, at}}, {{x, dx}}).tangent(y)[i], 1e-14);
}

TEST(TrainedBeta, ABetaOfDualNumbersHasADerivative) {
  Graph<Dual> graph;
  const Dual beta = boost::math::differentiation::make_fvar<double, 1>(1.5);
  const Node x = graph.input({6}), y = graph.smooth_max_pool(x, {.kernel = {2}, .padding = {1}}, {.beta = beta}),
             square = graph.smooth_max_pool2d(graph.reshape(x, {1, 2, 3}), 2, 3, 1, beta);
  EXPECT_EQ(graph.name(y), "smooth_max_pool1");
  Program<Dual> program = graph.compile({y, square});
  const std::vector<Dual> duals(at.begin(), at.end());
  Trained trained;
  const auto by_beta = trained.program.jvp({{trained.x, at}}, {{trained.beta, Numbers{1}}});
  const auto results = program.forward({{x, duals}});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(results[y][i].derivative(0), by_beta.value(trained.y)[i], 1e-14);
    EXPECT_NEAR(results[y][i].derivative(1), by_beta.tangent(trained.y)[i], 1e-14);
  }
  EXPECT_LT(results[square][0].derivative(1), 0);  // more beta, less above the max
}

TEST(TrainedBeta, TrainingMovesBeta) {
  Trained trained;
  const Node target = trained.graph.side({4}, "target"),
             loss = trained.graph.mean_squared_error(trained.y, target, "loss");
  Program<double> program = trained.graph.compile({loss});
  const Numbers wanted = constant_beta(4);
  double first = 0, last = 0;
  for (int step = 0; step < 4000; ++step) {
    const auto [value, gradients] = program.value_and_grad(loss, {{trained.x, at}, {target, wanted}});
    (step == 0 ? first : last) = value;
    program.parameter(trained.beta)[0] -= 20 * gradients.gradient(trained.beta)[0];
  }
  EXPECT_GT(first, 1e-3);
  EXPECT_LT(last, 1e-9);
  EXPECT_NEAR(program.parameter(trained.beta)[0], 4, 1e-2);
}

TEST(TrainedBeta, ABetaThatBecomesUnusableStopsTheRun) {
  Trained trained;
  const std::string what = R"(smooth_max_pool of node "x" (6) with the beta of node "beta" (scalar): beta )";
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Numbers gy(4), one{1};
  for (const auto& [beta, text] : {std::pair(0.0, "0"), std::pair(nan, "nan"), std::pair(infinity, "inf")}) {
    trained.program.parameter(trained.beta)[0] = beta;
    const std::string sentence = what + text + " must be finite and not 0";
    expect_error(sentence, [&] { trained.program.forward({{trained.x, at}}); });
    expect_error(sentence, [&] { trained.program.jvp({{trained.x, at}}, {{trained.beta, one}}); });
    expect_error(sentence, [&] { trained.program.vjp({{trained.x, at}}, {{trained.y, gy}}); });
  }
  trained.program.parameter(trained.beta)[0] = 2;  // and the program runs again
  EXPECT_EQ(trained.program.forward({{trained.x, at}})[trained.y][0], constant_beta(2)[0]);
}

TEST(TrainedBeta, WrongBetas) {
  Graph<double> graph;
  const Node x = graph.input({6}, "x"), two = graph.parameter({2}, "two"), beta = graph.parameter({}, {1}, "beta");
  expect_error(R"(smooth_max_pool of node "x" (6) with the beta of node "two" (2), which is not a single number)",
               [&] { graph.smooth_max_pool(x, {.kernel = {2}}, two); });
  expect_error(
      R"(smooth_max_pool of node "x" (6) with the beta of node "beta" (scalar): kernel 7 on axis 0 does not fit: )"
      R"(it spans 7 cells, and input 6 with padding 0 and 0 has 6)",
      [&] { graph.smooth_max_pool(x, {.kernel = {7}}, beta); });
  expect_error(R"(smooth_max_pool of node "x" (6): beta 0 must be finite and not 0)",
               [&] { graph.smooth_max_pool(x, {.kernel = {2}}, {.beta = 0}); });
  EXPECT_THROW(graph.smooth_max_pool(x, {.kernel = {2}, .padding = {2}}, beta, PadMode::ignore), Error);
  Graph<boost::multiprecision::cpp_rational> rational;
  const Node q = rational.input({2}, "q"), b = rational.parameter({}, {1}, "b");
  expect_error(R"(smooth_max_pool of node "q" (2): the scalar of this graph has no exp and log)",
               [&] { rational.smooth_max_pool(q, {.kernel = {2}}, b); });
}

TEST(TrainedBeta, TakesEveryGeometryAndTheOptionsOfPadding) {
  Graph<double> graph;
  const Node x = graph.input({2, 6}, "x"), beta = graph.parameter({1}, {1}, "beta");
  EXPECT_EQ(graph.shape(graph.smooth_max_pool(x, Adaptive{.output_size = {3}}, beta)), (Shape{2, 3}));
  EXPECT_EQ(graph.shape(graph.smooth_max_pool(x, Global{.axes = {1}}, beta)), (Shape{2}));
  EXPECT_EQ(graph.shape(graph.smooth_max_pool2d(x, 2, 2, 2, beta)), (Shape{1, 3}));
  const Node ignored = graph.smooth_max_pool(x, {.kernel = {6}, .stride = {7}, .padding = {1}}, beta, PadMode::ignore,
                                             Empty::identity, "ignored");
  Program<double> program = graph.compile({ignored});
  const auto results = program.vjp({{x, Numbers(12)}}, {{ignored, Numbers{1, 1}}});
  EXPECT_DOUBLE_EQ(results[ignored][0], std::log(5.0));             // five taps of 0, none of padding
  EXPECT_DOUBLE_EQ(results.gradient(beta)[0], 2 * -std::log(5.0));  // log(5) / beta in each row
}

TEST(TrainedBeta, HalvesHaveABetaOfFloats) {
  Graph<f16> graph;
  static_assert(std::same_as<Graph<f16>::SmoothMaxBetaOptions, BasicSmoothMaxOptions<spec::Parameter<float>>>);
  const Node x = graph.input({2}), beta = graph.parameter({}, {f16(2.0F)});
  const Node y = graph.smooth_max_pool(x, {.kernel = {2}}, beta),
             z = graph.smooth_max_pool(x, {.kernel = {2}}, {.beta = 2});
  Program<f16> program = graph.compile({y, z});
  const std::vector<f16> zeros(2, f16(0.0F)), one(1, f16(1.0F));
  const auto results = program.vjp({{x, zeros}}, {{y, one}});
  const float expected = static_cast<float>(f16(std::log(2.0F) / 2)),
              slope = static_cast<float>(f16(std::log(2.0F) / -4));
  EXPECT_EQ(static_cast<float>(results[y][0]), expected);
  EXPECT_EQ(static_cast<float>(results[z][0]), expected);
  EXPECT_EQ(static_cast<float>(results.gradient(beta)[0]), slope);
}

TEST(TrainedBeta, TypedGraphs) {
  using namespace typed;
  typed::Graph<double> graph;
  const auto x = graph.input<typed::Shape<1, 2, 3>>("x");
  const auto beta = graph.parameter(Tensor<double, typed::Shape<>>{{1.5}}, "beta");
  const auto y = graph.smooth_max_pool<Kernel<2, 2>, Stride<1, 1>>(x, beta),
             z = graph.smooth_max_pool2d<2, 2, 1>(x, beta);
  static_assert(std::same_as<decltype(y), const Var<typed::Shape<1, 1, 2>>>);
  static_assert(std::same_as<decltype(z), const Var<typed::Shape<1, 1, 2>>>);
  const auto constant = graph.smooth_max_pool2d<2, 2, 1>(x, 1.5);
  auto program = graph.compile({y, z, constant});
  const auto results = program.vjp({{x, at}}, {{y, Numbers{1, 1}}, {z, Numbers{-1, -1}}});
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(results[y][i], results[z][i]);
    EXPECT_NEAR(results[y][i], results[constant][i], 1e-14);
  }
  EXPECT_EQ(results.gradient(beta)[0], 0);
}

}  // namespace
}  // namespace ndpool::testing
