// error: ndpool: the padding leaves a window without an input element
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
auto pool(Graph<float>& graph) { return graph.max_pool2d_pad<2, 2, 2, 3>(graph.input<Shape<3, 8, 8>>()); }
