// error: ndpool: the way back of a quantised convolution needs its multipliers: its Parameters
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Conv = Conv1D<Shape<1, 2, 8>, 4, Window<Kernel<3>>, training, std::int8_t>;
void wrong(const Conv::Input& x, const Conv::OutputGradient& gy, Conv::ParameterGradient& gradient) {
  Conv::backward_parameters(x, gy, gradient);
}
