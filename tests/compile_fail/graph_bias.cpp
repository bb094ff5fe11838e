// error: ndpool: the bias must have one number per output
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
auto dense(Graph<float>& graph) {
  return graph.dense(graph.input<Shape<2, 48>>(), graph.parameter<Shape<10, 48>>(), graph.parameter<Shape<48>>());
}
