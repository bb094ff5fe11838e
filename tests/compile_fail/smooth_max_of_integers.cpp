// error: ndpool: smooth max needs a scalar with exp, log and pow
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
auto y = smooth_max_pool<Window<Kernel<2>>>(Tensor<int, Shape<4>>{});
