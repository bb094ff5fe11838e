// error: ndpool: as many positions as the tensor has axes
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
float first(const Tensor<float, Shape<4, 4>>& x) { return x(0); }
