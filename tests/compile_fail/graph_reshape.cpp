// error: ndpool: reshape must keep the number of elements
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
auto reshape(Graph<float>& graph) { return graph.reshape<Shape<5, 5>>(graph.input<Shape<4, 6>>()); }
