// error: ndpool: the kernel is larger than the padded input
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
Conv1D<Shape<1, 2, 8>, 4, Window<Kernel<11>, Padding<1>>>::Output y;
