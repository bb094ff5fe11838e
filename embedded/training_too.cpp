// The same layers with the way back: what inference_only.cpp must not contain is here, so the search can find it.
#include <ndpool/tiny.hpp>

using namespace ndpool::tiny;
using First = MaxPool2D<Shape<1, 4, 8, 8>, 2, 2, -1, -1, training>;
using Second = AvgPool2D<First::OutputShape, 2, 2, -1, -1, training>;
using Conv = Conv1D<Shape<1, 2, 8>, 4, Window<Kernel<3>, Padding<1>>, training>;
using Third = GlobalMaxPool<Conv::OutputShape, training>;

void learn(const First::Input& x, First::Output& between, Second::Output& y, First::Memory& first,
           Second::Memory& second, First::Input& gx) {
  First::forward(x, between, first);
  Second::forward(between, y, second);
  Second::backward(second, y, between);
  First::backward(first, between, gx);
}

void learn(const Conv::Input& x, const Conv::Parameters& parameters, Conv::Output& between, Third::Output& y,
           Third::Memory& third, Conv::Input& gx, Conv::Parameters& gradient) {
  Conv::forward(x, parameters, between);
  Third::forward(between, y, third);
  Third::backward(third, y, between);
  Conv::backward(x, parameters, between, gx, gradient);
}
