// error: ndpool: the tensor must have the shape of the node it is given for
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
void run(Graph<float>& graph, ndpool::Program<float>& program, const Tensor<float, Shape<4, 3>>& image) {
  program.forward({{graph.input<Shape<3, 4>>(), image}});
}
