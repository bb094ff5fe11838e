// compiles
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
void build(Graph<float>& graph) {
  Var<Shape<2, 3, 8, 8>> x = graph.input<Shape<2, 3, 8, 8>>();
  Var<Shape<2, 3, 4, 4>> y = graph.pool(graph.relu(x), max_pool<Window<Kernel<2, 2>>>);
  graph.dense(graph.flatten(y), graph.parameter<Shape<10, 48>>(), graph.parameter<Shape<10>>());
}
