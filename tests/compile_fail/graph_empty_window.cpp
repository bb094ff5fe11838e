// error: ndpool: the padding leaves a window without an input element
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
auto pool(Graph<float>& graph) {
  return graph.pool(graph.input<Shape<3, 8, 8>>(), max_pool<Window<Kernel<2, 2>, Padding<3, 3>>>);
}
