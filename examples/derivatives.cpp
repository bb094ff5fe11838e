// Value, JVP and VJP of one pool, and the check that the two derivatives are transposes of each other.
#include <ndpool/ndpool.hpp>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<double> x = {1, 3, 2, 9, 4, 0}, dx = {1, 2, 3, 4, 5, 6};
  const auto pool = ndpool::max_pool({.kernel = {3}, .stride = {1}});
  const ndpool::Shape in = {6}, out = pool.output_shape(in);
  std::vector<double> y(4), dy(4), gx(6);
  const std::vector<double> gy = {1, 10, 100, 1000};

  pool.forward(ndpool::view(x, in), ndpool::view(y, out));
  pool.jvp(ndpool::view(x, in), ndpool::view(dx, in), ndpool::view(dy, out));
  pool.vjp(ndpool::view(x, in), ndpool::view(gy, out), ndpool::view(gx, in));

  double along = 0, back = 0;
  for (std::size_t i = 0; i < dy.size(); ++i) along += dy[i] * gy[i];
  for (std::size_t i = 0; i < gx.size(); ++i) back += dx[i] * gx[i];
  for (const double value : y) std::printf("%g ", value);
  std::printf("| %g = %g\n", along, back);
}
