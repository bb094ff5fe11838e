// error: ndpool: every stride must be at least 1
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
MaxPool1D<Shape<1, 1, 4>, 2, 0>::Output y;
