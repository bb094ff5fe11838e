// Where the derivatives of a random graph are looked at: a point, and a direction.
#pragma once

#include "support/generated.hpp"
#include "support/random_graph.hpp"

namespace ndpool::testing {

inline constexpr GraphNodes smooth_nodes{.transcendental = true};
inline constexpr std::uint64_t random_graphs = 500;

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
    for (const Node& input : program.inputs()) leaves.push_back(input);
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

}  // namespace ndpool::testing
