// A program that only runs forward. Its object file is searched for code of the way back.
#include <ndpool/tiny.hpp>

using namespace ndpool::tiny;
using First = MaxPool2D<Shape<1, 4, 8, 8>, 2, 2>;
using Second = AvgPool2D<First::OutputShape, 2, 2>;

void infer(const First::Input& x, First::Output& between, Second::Output& y) {
  First::forward(x, between);
  Second::forward(between, y);
}
