// error: ndpool: layers of this scalar have no backward
#include <ndpool/tiny.hpp>
using namespace ndpool::tiny;
using Conv = Conv1D<Shape<1, 2, 8>, 4, Window<Kernel<3>>, training, std::int8_t>;
void wrong(const Conv::Parameters& p, const Conv::Output& gy, Conv::Input& gx) { Conv::backward_input(p, gy, gx); }
