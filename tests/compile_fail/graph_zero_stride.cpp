// error: ndpool: every stride must be at least 1
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
auto pool(Graph<float>& graph) {
  return graph.pool(graph.input<Shape<3, 8, 8>>(), max_pool<Window<Kernel<2, 2>, Stride<1, 0>>>);
}
