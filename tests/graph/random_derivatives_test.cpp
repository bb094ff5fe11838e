// Whole graphs on doubles, kernels included: JVP against forward-mode numbers, VJP against finite differences.
#include "support/generated.hpp"
#include "support/random_graph.hpp"

#include <boost/math/differentiation/autodiff.hpp>
#include <gtest/gtest.h>

#include <cmath>

namespace ndpool::testing {
namespace {

using Dual = boost::math::differentiation::autodiff_fvar<double, 1>;
constexpr GraphNodes smooth_nodes{.transcendental = true};
constexpr std::uint64_t graphs = 500;

/// A graph, a point, and a direction over all inputs and parameters that matter.
struct Point {
  RandomGraph<double> made;
  Program<double> program;
  std::mt19937_64 random;
  ArraysFor<double> x, dx;
  std::vector<Node> leaves;

  Point(std::uint64_t number, std::uint64_t draw)
      : made(seed() + number, smooth_nodes),
        program(made.graph.compile(made.sinks)),
        random(seed() + number + 1000003 * draw),
        leaves(program.parameters()) {
    const std::string live = program.summary();
    for (const Node& input : made.inputs)
      if (live.find(made.graph.name(input) + " (input)") != std::string::npos) leaves.push_back(input);
    // Eighths have ties among the weights; a random shift of each leaves none.
    for (const Node& node : program.parameters())
      for (double& value : program.parameter(node)) value += 0.05 * uniform();
    x.add(made.graph, made.inputs, [&] { return uniform(); });
    for (const auto& [node, classes] : made.labels)
      x.add(made.graph, node, [&] { return static_cast<double>(random() % static_cast<std::uint64_t>(classes)); });
    dx.add(made.graph, leaves, [&] { return uniform(); });
  }
  double uniform() { return std::uniform_real_distribution<double>(-1, 1)(random); }
};

TEST(RandomGraph, JvpEqualsTheDerivativeOfForwardModeNumbers) {
  for (std::uint64_t number = 0; number < graphs; ++number) {
    SCOPED_TRACE("NDPOOL_SEED=" + std::to_string(seed()) + ", graph " + std::to_string(number));
    Point point(number, 0);
    RandomGraph<Dual> made(seed() + number, smooth_nodes);
    Program<Dual> dual_program = made.graph.compile(made.sinks);
    const Dual t = boost::math::differentiation::make_fvar<double, 1>(0.0);
    const auto tangent_of = [&](Node node) -> const double* {
      for (const Bound<double>& bound : point.dx.bound())
        if (bound.node().number() == node.number()) return bound.data();
      return nullptr;
    };
    ArraysFor<Dual> x;
    for (const Bound<double>& bound : point.x.bound()) {
      const double *value = bound.data(), *tangent = tangent_of(bound.node());
      Index i = 0;
      // The two graphs are made alike, so that a node has the same number in both.
      const Node node = made.inputs[0].graph() == 0 ? Node() : Node(made.inputs[0].graph(), bound.node().number());
      x.add(made.graph, node, [&] {
        const Dual dual = value[i] + t * (tangent == nullptr ? 0.0 : tangent[i]);
        ++i;
        return dual;
      });
    }
    for (const Node& node : point.program.parameters()) {
      const std::span<double> values = point.program.parameter(node);
      const std::span<Dual> duals = dual_program.parameter(Node(made.inputs[0].graph(), node.number()));
      for (std::size_t i = 0; i < values.size(); ++i) duals[i] = values[i] + t * tangent_of(node)[i];
    }
    const auto results = point.program.jvp(point.x, point.dx);
    const auto duals = dual_program.forward(x);
    for (std::size_t s = 0; s < made.sinks.size(); ++s) {
      const auto value = results.value(point.made.sinks[s]), tangent = results.tangent(point.made.sinks[s]);
      const auto dual = duals[made.sinks[s]];
      double largest = 1;
      for (const double one : tangent) largest = std::max(largest, std::abs(one));
      for (std::size_t i = 0; i < value.size(); ++i) {
        ASSERT_NEAR(dual[i].derivative(0), value[i], 1e-11 * (1 + std::abs(value[i])));
        ASSERT_NEAR(dual[i].derivative(1), tangent[i], 1e-10 * largest);
      }
    }
  }
}

/// <gy, outputs> at x + step dx.
double along(Point& point, const ArraysFor<double>& gy, double step) {
  ArraysFor<double> moved;
  for (const Bound<double>& bound : point.x.bound()) {
    const double* direction = nullptr;
    for (const Bound<double>& one : point.dx.bound())
      if (one.node() == bound.node()) direction = one.data();
    Index i = 0;
    moved.add(point.made.graph, bound.node(), [&] {
      const double value = bound.data()[i] + (direction == nullptr ? 0 : step * direction[i]);
      ++i;
      return value;
    });
  }
  Program<double> program = point.program;
  for (const Bound<double>& one : point.dx.bound()) {
    if (std::find(point.made.inputs.begin(), point.made.inputs.end(), one.node()) != point.made.inputs.end()) continue;
    const std::span<double> values = program.parameter(one.node());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += step * one.data()[i];
  }
  const auto results = program.forward(moved);
  return inner_product(gy, [&](Node node) { return results.value(node); });
}

TEST(RandomGraph, VjpEqualsFiniteDifferences) {
  constexpr double step = 1e-6;
  int redrawn = 0;
  for (std::uint64_t number = 0; number < graphs; ++number) {
    SCOPED_TRACE("NDPOOL_SEED=" + std::to_string(seed()) + ", graph " + std::to_string(number));
    for (std::uint64_t draw = 0;; ++draw) {
      ASSERT_LT(draw, 10U);
      Point point(number, draw);
      ArraysFor<double> gy;
      gy.add(point.made.graph, point.made.sinks, [&] { return point.uniform(); });
      const auto results = point.program.vjp(point.x, gy);
      double scale = 1;
      const double by_gradients = inner_product(point.dx, [&](Node node) {
        for (const double value : results.gradient(node)) scale += std::abs(value);
        return results.gradient(node);
      });
      const double before = along(point, gy, -step), here = along(point, gy, 0), after = along(point, gy, step);
      // Slopes that differ on the two sides show a kink between them, where there is no derivative to compare with.
      if (std::abs((after - here) - (here - before)) > 1e-4 * step * scale) {
        ++redrawn;
        continue;
      }
      ASSERT_NEAR((after - before) / (2 * step), by_gradients, 1e-6 * scale);
      break;
    }
  }
  EXPECT_LE(redrawn, 25);
}

}  // namespace
}  // namespace ndpool::testing
