// error: ndpool: a zero point must be a number that the layer's scalar can hold
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
Conv1D<Shape<1, 2, 8>, 1, Window<Kernel<3>>, quantised(128), std::int8_t>::Output y;
