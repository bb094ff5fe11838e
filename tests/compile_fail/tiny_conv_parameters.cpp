// error: ndpool: weight and bias must be the Parameters of the layer
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Conv = Conv1D<Shape<1, 2, 8>, 4, Window<Kernel<3>>>;
using Other = Conv1D<Shape<1, 2, 8>, 4, Window<Kernel<5>>>;
void wrong(const Conv::Input& x, const Other::Parameters& p, Conv::Output& y) { Conv::forward(x, p, y); }
