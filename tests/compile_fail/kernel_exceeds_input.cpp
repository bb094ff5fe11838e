// error: ndpool: the kernel is larger than the padded input
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = max_pool<Window<Kernel<5, 2>>>(Tensor<float, Shape<4, 4>>{});
