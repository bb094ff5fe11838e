// error: ndpool: more pooled axes than the tensor has
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = max_pool<Window<Kernel<2, 2>>>(Tensor<float, Shape<4>>{});
