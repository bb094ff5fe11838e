// error: ndpool: the tangent must have the shape of the input
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto dy = avg_pool<Window<Kernel<2, 2>>>.jvp(Tensor<float, Shape<4, 4>>{}, Tensor<float, Shape<4, 3>>{});
