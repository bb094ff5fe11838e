// error: ndpool: the gradient must have the scalar and the shape of the output (floats for integers)
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Conv = Conv1D<Shape<1, 2, 8>, 4, Window<Kernel<3>>, training, std::int8_t>;
void wrong(const Conv::Parameters& p, const Conv::Output& gy, Conv::InputGradient& gx) {
  Conv::backward_input(p, gy, gx);
}
