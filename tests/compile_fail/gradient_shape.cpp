// error: ndpool: the gradient must have the shape of the output
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto gx = max_pool<Window<Kernel<2, 2>>>.vjp(Tensor<float, Shape<4, 4>>{}, Tensor<float, Shape<2, 3>>{});
