// error: ndpool: the weights must have as many columns as the last axis of the input
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
auto dense(Graph<float>& graph) { return graph.dense(graph.input<Shape<2, 48>>(), graph.parameter<Shape<48, 10>>()); }
