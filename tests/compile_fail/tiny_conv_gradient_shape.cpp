// error: ndpool: the gradient must have the scalar and the shape of the output
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Conv = Conv1D<Shape<1, 2, 8>, 4, Window<Kernel<3>>, training>;
void wrong(const Conv::Input& x, Conv::Parameters& p, Conv::Input& gx) {
  Conv::backward(x, p, Tensor<float, Shape<1, 4, 8>>{}, gx, p);
}
