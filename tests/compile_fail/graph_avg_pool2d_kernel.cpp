// error: ndpool: the kernel is larger than the padded input
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
auto pool(Graph<float>& graph) { return graph.avg_pool2d<9, 2, 1>(graph.input<Shape<3, 8, 8>>()); }
