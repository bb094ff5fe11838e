// error: ndpool: the kernel is larger than the padded input
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
auto convolve(Graph<float>& graph) {
  return graph.convolution(graph.input<Shape<3, 4, 4>>(), graph.parameter<Shape<8, 3, 5, 5>>());
}
