// error: ndpool: the vjp of a custom node must return a tensor of the shape of every input
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
using X = Tensor<float, Shape<3>>;
using Y = Tensor<float, Shape<2>>;
auto custom(Graph<float>& graph) {
  return graph.custom<Shape<2>>([](const X&) { return Y{}; }, [](const X&, const X&) { return Y{}; },
                                [](const X&, const Y& g) { return g; }, graph.input<Shape<3>>());
}
