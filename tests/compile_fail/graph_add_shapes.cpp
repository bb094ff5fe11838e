// error: ndpool: add needs two nodes of the same shape
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
auto sum(Graph<float>& graph) { return graph.add(graph.input<Shape<3, 4>>(), graph.input<Shape<4, 3>>()); }
