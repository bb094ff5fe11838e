// error: ndpool: padding must not be negative
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = sum_pool<Window<Kernel<2>, Padding<-1>>>(Tensor<float, Shape<4>>{});
