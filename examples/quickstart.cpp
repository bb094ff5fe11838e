// Pools a small array with every reducer and prints values, winners and gradients.
#include <ndpool/ndpool.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int rows = 4, columns = 6;
const ndpool::Shape input_shape = {rows, columns};
const std::vector<float> x = {
    1, 3, 2, 9, 4, 0,  //
    5, 3, 1, 2, 8, 8,  //
    0, 7, 6, 2, 1, 3,  //
    2, 4, 6, 5, 3, 3,
};

template <class T>
void print(const char* title, const std::vector<T>& values, const ndpool::Shape& shape, const char* format) {
  std::printf("  %s\n", title);
  for (ndpool::Index row = 0; row < shape[0]; ++row) {
    std::printf("   ");
    for (ndpool::Index column = 0; column < shape[1]; ++column)
      std::printf(format, values[static_cast<std::size_t>(row * shape[1] + column)]);
    std::printf("\n");
  }
}

void show(const std::string& title, const ndpool::Pool& pool, bool has_winners) {
  const ndpool::Shape shape = pool.output_shape(input_shape);
  const auto count = static_cast<std::size_t>(ndpool::element_count(shape));
  std::vector<float> y(count), ones(count, 1), gx(x.size());
  pool.forward(ndpool::view(x, input_shape), ndpool::view(y, shape));
  pool.vjp(ndpool::view(x, input_shape), ndpool::view(ones, shape), ndpool::view(gx, input_shape));

  std::printf("%s\n", title.c_str());
  print("value", y, shape, "%7.3f");
  if (has_winners) {
    std::vector<ndpool::Index> winners(count);
    pool.forward(ndpool::view(x, input_shape), ndpool::view(y, shape), ndpool::view(winners, shape));
    print("winner (flat index)", winners, shape, "%7ld");
  }
  print("gradient of the sum of the outputs", gx, input_shape, "%7.3f");
  std::printf("\n");
}

}  // namespace

int main() {
  const ndpool::Window window = {.kernel = {2, 2}};
  print("input", x, input_shape, "%7.3f");
  std::printf("\n");
  show("max, 2x2", ndpool::max_pool(window), true);
  show("max, 3x3, stride 2, padding 1", ndpool::max_pool({.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}),
       true);
  show("max, 2x2, ties split", ndpool::max_pool(window, {.ties = ndpool::Ties::split}), true);
  show("min, 2x2", ndpool::min_pool(window), true);
  show("sum, 2x2", ndpool::sum_pool(window), false);
  show("average, 2x2", ndpool::avg_pool(window), false);
  show("smooth max, 2x2, beta 1", ndpool::smooth_max_pool(window, {.beta = 1}), false);
  show("smooth max, 2x2, beta 10", ndpool::smooth_max_pool(window, {.beta = 10}), false);
  show("Lp, 2x2, p 2", ndpool::lp_pool(2, window), false);
  show("adaptive average to 3x4", ndpool::adaptive_avg_pool({.output_size = {3, 4}}), false);
  show("global max", ndpool::global_max_pool({.keepdims = true}), true);
}
