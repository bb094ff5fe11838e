// error: ndpool: the input of a layer has a batch axis, a channel axis and the pooled axes
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Pool = MaxPool2D<Shape<1, 8, 64>, 2, 2>;
Pool::Output y;
