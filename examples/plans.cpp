// One plan for many images of one shape: checks, choice and scratch once, then runs that allocate nothing.
#include <ndpool/ndpool.hpp>

#include <cstdio>
#include <vector>

int main() {
  const ndpool::Shape in = {64, 56, 56};
  const auto pool = ndpool::max_pool({.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
  const ndpool::Shape out = pool.output_shape(in);
  const ndpool::Plan<float> plan = pool.plan<float>(in);

  std::vector<float> x(static_cast<std::size_t>(ndpool::element_count(in)));
  std::vector<float> y(static_cast<std::size_t>(ndpool::element_count(out)));
  float largest = 0;
  for (int image = 0; image < 3; ++image) {
    x[static_cast<std::size_t>(image)] = static_cast<float>(image + 1);
    plan.forward(x.data(), y.data());
    largest += y[0];
  }
  std::printf("%dx%dx%d, sum of the first maxima: %g\n", static_cast<int>(out[0]), static_cast<int>(out[1]),
              static_cast<int>(out[2]), largest);
}
