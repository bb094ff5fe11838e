// Graphs: build, compile, run forward, JVP and VJP. docs/graph.md is the tutorial. Link ndpool::graph.
//
//   ndpool::Graph<float> graph;
//   auto x = graph.input({32, 1, 8, 8}, "image");
//   auto w = graph.parameter({16, 1, 3, 3}, "weights");
//   auto y = graph.mean(graph.pool(graph.relu(graph.convolution(x, w)), ndpool::max_pool({.kernel = {2, 2}})));
//   auto program = graph.compile();
//   auto [value, gradients] = program.value_and_grad(y, {{x, pixels}});    // gradients.gradient(w)
#pragma once

#include <ndpool/graph/builder.hpp>
#include <ndpool/graph/typed.hpp>

namespace ndpool {

// The library brings these compiled.
extern template class Graph<float>;
extern template class Graph<double>;
extern template class Program<float>;
extern template class Program<double>;

}  // namespace ndpool
