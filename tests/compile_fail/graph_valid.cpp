// compiles
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
void build(Graph<float>& graph) {
  Var<Shape<2, 3, 8, 8>> x = graph.input<Shape<2, 3, 8, 8>>();
  Var<Shape<2, 3, 4, 4>> y = graph.pool(graph.relu(x), max_pool<Window<Kernel<2, 2>>>);
  Var<Shape<2, 3, 5, 5>> z = graph.max_pool2d_pad<2, 2, 2, 1>(x);
  graph.avg_pool<Kernel<2, 2>, Padding<3, 3>>(z);  // counts padding, so that it has no empty window
  graph.dense(graph.flatten(y), graph.parameter<Shape<10, 48>>(), graph.parameter<Shape<10>>());
}
