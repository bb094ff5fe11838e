// Whole graphs on doubles, kernels included: VJP against finite differences.
#include "support/graph_point.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ndpool::testing {
namespace {

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
  for (std::uint64_t number = 0; number < random_graphs; ++number) {
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
