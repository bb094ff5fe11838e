// error: ndpool: the gradient must have the scalar and the shape of the output
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Pool = MaxPool1D<Shape<1, 1, 8>, 2, -1, training>;
void wrong(const Pool::Memory& memory, Pool::Input& gx) { Pool::backward(memory, Tensor<float, Shape<1, 1, 5>>{}, gx); }
