// compiles
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
inline constexpr Settings strict{.training = true, .edges = ndpool::Edges::error};
using Conv = Conv1D<Shape<1, 2, 9>, 4, Window<Kernel<3>, Stride<2>>, strict>;
using Gaps = MaxPool1D<Shape<1, 1, 10>, 1, 3, strict>;
using Quantised = Conv1D<Shape<1, 2, 9>, 4, Window<Kernel<3>>, quantised(-3, 4), std::int8_t>;
void right(const Conv::Input& x, Conv::Parameters& p, Conv::Output& y, Conv::Input& gx, Conv::Parameters& gradient) {
  Conv::forward(x, p, y);
  Conv::backward(x, p, y, gx, gradient);
}
void right(const Gaps::Input& x, Gaps::Output& y) { Gaps::forward(x, y); }
void right(const Quantised::Input& x, const Quantised::Parameters& p, Quantised::Output& y) {
  Quantised::forward(x, p, y);
}
using Trained = Conv1D<Shape<1, 2, 9>, 4, Window<Kernel<3>>, with_training(quantised(-3, 4)), std::int8_t>;
void right(const Trained::Input& x, const Trained::Parameters& p, const Trained::OutputGradient& gy,
           Trained::InputGradient& gx, Trained::ParameterGradient& gradient) {
  Trained::backward(x, p, gy, gx, gradient);
}
