// error: cannot convert
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
auto pool(Graph<float>& graph) {
  return graph.pool(graph.input<Shape<4>>(), largest_magnitude_pool<Window<Kernel<2>>>, ndpool::reduction::Max{});
}
