// Whole graphs in exact numbers: VJP is the transpose of JVP, to the last digit.
#include "support/generated.hpp"
#include "support/random_graph.hpp"

#include <gtest/gtest.h>
#include <boost/multiprecision/cpp_int.hpp>

namespace ndpool::testing {
namespace {

using Rational = boost::multiprecision::cpp_rational;

TEST(RandomGraph, IsAdjointExactlyInRationals) {
  int pools = 0;
  for (std::uint64_t number = 0; number < 500; ++number) {
    SCOPED_TRACE("NDPOOL_SEED=" + std::to_string(seed()) + ", graph " + std::to_string(number));
    RandomGraph<Rational> made(seed() + number, {.shared_ties = true});
    ASSERT_GE(made.operations, 3);
    ASSERT_LE(made.operations, 12);
    ASSERT_GE(made.pools, 1);
    pools += made.pools;
    Program<Rational> program = made.graph.compile(made.sinks);
    const auto eighth = [&] { return made.eighth(); };
    ArraysFor<Rational> x, dx, gy;
    x.add(made.graph, made.inputs, eighth);
    std::vector<Node> leaves = program.parameters();
    for (const Node& input : program.inputs()) leaves.push_back(input);
    dx.add(made.graph, leaves, eighth);
    gy.add(made.graph, made.sinks, eighth);

    const auto forward = program.jvp(x, dx);
    const Rational by_tangents = inner_product(gy, [&](Node node) { return forward.tangent(node); });
    const auto back = program.vjp(x, gy);
    const Rational by_gradients = inner_product(dx, [&](Node node) { return back.gradient(node); });
    ASSERT_EQ(by_tangents, by_gradients);
  }
  EXPECT_GE(pools, 1000);
}

}  // namespace
}  // namespace ndpool::testing
