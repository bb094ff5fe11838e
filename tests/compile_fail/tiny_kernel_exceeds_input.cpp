// error: ndpool: the kernel is larger than the padded input
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
MaxPool1D<Shape<1, 1, 4>, 5>::Output y;
