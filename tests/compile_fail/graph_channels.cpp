// error: ndpool: the weights must have as many channels as the input
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
auto convolve(Graph<float>& graph) {
  return graph.convolution(graph.input<Shape<2, 3, 8, 8>>(), graph.parameter<Shape<8, 1, 3, 3>>());
}
