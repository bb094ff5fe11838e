// error: ndpool: the input must have the scalar and the shape of the layer
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Conv = Conv1D<Shape<1, 2, 8>, 4, Window<Kernel<3>>>;
void wrong(const Conv::Parameters& p, Conv::Output& y) { Conv::forward(Tensor<float, Shape<1, 3, 8>>{}, p, y); }
