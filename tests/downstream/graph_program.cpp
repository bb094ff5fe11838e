#include <ndpool/graph.hpp>

#include <cstdio>

int main() {
  ndpool::Graph<float> graph;
  const auto x = graph.input({1, 4}), w = graph.parameter({1, 4}, {1, 2, 3, 4});
  const auto y = graph.sum(graph.pool(graph.multiply(x, w), ndpool::max_pool({.kernel = {2}})));
  const auto z = graph.dense(x, w);
  auto program = graph.compile({y, z});
  const auto results = program.forward({{x, std::vector<float>{1, 1, -1, 0}}});
  std::printf("%g %g\n", results[y][0] + 3, results[z][0] + 4);
}
