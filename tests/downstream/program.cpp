#include <ndpool/ndpool.hpp>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<float> x = {1, 5, 2, 4};
  std::vector<float> y(2);
  ndpool::max_pool({.kernel = {2}}).forward(ndpool::view(x, {4}), ndpool::view(y, {2}));
  std::printf("%g %g\n", y[0], y[1]);
}
