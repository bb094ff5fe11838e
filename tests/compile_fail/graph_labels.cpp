// error: ndpool: softmax_cross_entropy needs one label per row of logits
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
auto loss(Graph<float>& graph) {
  return graph.softmax_cross_entropy(graph.input<Shape<32, 10>>(), graph.side<Shape<10>>());
}
