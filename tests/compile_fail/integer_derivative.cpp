// error: ndpool: this scalar type has no derivatives
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto gx = max_pool<Window<Kernel<2>>>.vjp(Tensor<int, Shape<4>>{}, Tensor<int, Shape<2>>{});
