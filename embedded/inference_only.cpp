// A program that only runs forward. Its object file is searched for code of the way back.
#include <ndpool/tiny.hpp>

using namespace ndpool::tiny;
using First = MaxPool2D<Shape<1, 4, 8, 8>, 2, 2>;
using Second = AvgPool2D<First::OutputShape, 2, 2>;
using Conv = Conv1D<Shape<1, 2, 8>, 4, Window<Kernel<3>, Padding<1>>>;
using Third = GlobalMaxPool<Conv::OutputShape>;

void infer(const First::Input& x, First::Output& between, Second::Output& y) {
  First::forward(x, between);
  Second::forward(between, y);
}

void infer(const Conv::Input& x, const Conv::Parameters& parameters, Conv::Output& between, Third::Output& y) {
  Conv::forward(x, parameters, between);
  Third::forward(between, y);
}
