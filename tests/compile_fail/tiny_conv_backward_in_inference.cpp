// error: ndpool: a layer for inference has no way back: give it the setting `training`
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Conv = Conv1D<Shape<1, 2, 8>, 4, Window<Kernel<3>>>;
void wrong(const Conv::Input& x, Conv::Parameters& p, const Conv::Output& gy, Conv::Input& gx) {
  Conv::backward(x, p, gy, gx, p);
}
