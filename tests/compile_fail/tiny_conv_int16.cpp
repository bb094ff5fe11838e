// error: ndpool: quantised convolutions are of int8
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
Conv1D<Shape<1, 2, 8>, 4, Window<Kernel<3>>, inference, std::int16_t>::Output y;
