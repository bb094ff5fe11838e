// Whole graphs on doubles, kernels included: JVP against forward-mode numbers.
#include "support/graph_point.hpp"

#include <gtest/gtest.h>
#include <boost/math/differentiation/autodiff.hpp>

#include <cmath>

namespace ndpool::testing {
namespace {

using Dual = boost::math::differentiation::autodiff_fvar<double, 1>;

TEST(RandomGraph, JvpEqualsTheDerivativeOfForwardModeNumbers) {
  for (std::uint64_t number = 0; number < random_graphs; ++number) {
    SCOPED_TRACE("NDPOOL_SEED=" + std::to_string(seed()) + ", graph " + std::to_string(number));
    Point point(number, 0);
    RandomGraph<Dual> made(seed() + number, smooth_nodes);
    Program<Dual> dual_program = made.graph.compile(made.sinks);
    const Dual t = boost::math::differentiation::make_fvar<double, 1>(0.0);
    // The two graphs are made alike, so that a node has the same number in both.
    const auto same_node = [&](Node node) { return Node(made.inputs[0].graph(), node.number()); };
    const auto tangent_of = [&](Node node) -> const double* {
      for (const Bound<double>& bound : point.dx.bound())
        if (bound.node().number() == node.number()) return bound.data();
      return nullptr;
    };
    ArraysFor<Dual> x;
    for (const Bound<double>& bound : point.x.bound()) {
      const double *value = bound.data(), *tangent = tangent_of(bound.node());
      Index i = 0;
      x.add(made.graph, same_node(bound.node()), [&] {
        const Dual dual = value[i] + t * (tangent == nullptr ? 0.0 : tangent[i]);
        ++i;
        return dual;
      });
    }
    for (const Node& node : point.program.parameters()) {
      const std::span<double> values = point.program.parameter(node);
      const std::span<Dual> duals = dual_program.parameter(same_node(node));
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

}  // namespace
}  // namespace ndpool::testing
