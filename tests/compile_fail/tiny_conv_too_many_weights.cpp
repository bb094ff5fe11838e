// error: ndpool: too many weights per output for a sum of 32 bits
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
Conv1D<Shape<1, 65794, 1>, 1, Window<Kernel<1>>, quantised(0), std::int8_t>::Output y;
