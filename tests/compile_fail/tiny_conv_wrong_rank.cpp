// error: ndpool: the input of a layer has a batch axis, a channel axis and the pooled axes
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
Conv1D<Shape<1, 2, 8, 8>, 4, Window<Kernel<3>>>::Output y;
