// error: ndpool: a convolution needs at least one channel that comes out
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
Conv1D<Shape<1, 2, 8>, 0, Window<Kernel<3>>>::Output y;
