// error: ndpool: a shape has a negative length
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
Tensor<float, Shape<-4>> x;
