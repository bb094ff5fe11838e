// error: ndpool: the input must have the scalar and the shape of the layer
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Pool = AvgPool1D<Shape<1, 1, 8>, 2>;
void wrong(Pool::Output& y) { Pool::forward(Tensor<float, Shape<1, 2, 8>>{}, y); }
