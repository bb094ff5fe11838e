// Pools over parts of arrays, whose flat indices count cells as those of the whole do, by kernels and by the reference.
#include <ndpool/ndpool.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace ndpool {
namespace {

/// Different numbers, in an order that is none.
std::vector<double> scattered(const Shape& shape) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>((i * 37 + 11) % 101);
  return values;
}

std::vector<double> derivative(const Pool& pool, const Shape& in, const Shape& out, bool is_vjp) {
  const std::vector<double> x = scattered(in), from = scattered(is_vjp ? out : in);
  const Shape& to_shape = is_vjp ? in : out;
  std::vector<double> to(static_cast<std::size_t>(element_count(to_shape)));
  if (is_vjp)
    pool.vjp(view(x, in), view(from, out), view(to, in));
  else
    pool.jvp(view(x, in), view(from, in), view(to, out));
  return to;
}

/// Every part of the outputs of `window` on an array of `shape` that begins with the first.
void compare_parts(const Window& window, const Shape& shape) {
  for (const Pool& pool : {max_pool(window), min_pool(window, {.ties = Ties::all}), sum_pool(window)}) {
    const Geometry whole = pool.geometry(shape);
    spec::for_each_position(whole.output_shape(), [&](const Shape& last) {
      Geometry part = whole;
      for (int a = 0; a < part.rank; ++a) take_part(part, a, {0, last[a] + 1});
      const Pool over = pool.over(part);
      for (const bool is_vjp : {false, true})
        EXPECT_EQ(derivative(over, part.input_shape(), part.output_shape(), is_vjp),
                  derivative(over.without_kernels(), part.input_shape(), part.output_shape(), is_vjp))
            << (is_vjp ? "VJP" : "JVP") << " of axis 0 of " << shape[0] << ", outputs to " << last[0];
    });
  }
}

TEST(PartMaps, DerivativesOverPartsAreThoseOfTheReference) {
  compare_parts({.kernel = {2, 2}, .stride = {1, 2}}, {3, 3});
  compare_parts({.kernel = {3, 2, 2}, .stride = {1, 2, 1}}, {4, 3, 3});
  compare_parts({.kernel = {1, 3, 2}, .stride = {3, 3, 3}}, {4, 4, 3});
  compare_parts({.kernel = {3, 1, 2}, .stride = {2, 3, 1}}, {3, 5, 2});
  compare_parts({.kernel = {2, 1}, .stride = {2, 5}}, {6, 9});
  compare_parts({.kernel = {2, 3}, .stride = {1, 3}, .padding = {1, 1}}, {5, 8});
  compare_parts({.kernel = {2, 2}, .stride = {1, 3}, .axes = {0, 1}}, {4, 6, 3});
}

/// All ranges of outputs of bins, by kernels and by the reference: values, indices and derivatives.
TEST(PartMaps, PartsOfBinsAreThoseOfTheReference) {
  const Shape shapes[] = {{7, 5}, {5, 11}, {3, 4}};
  const Shape bins[] = {{3, 2}, {2, 7}, {5, 9}};
  for (int i = 0; i < 3; ++i) {
    const Adaptive adaptive{.output_size = bins[i]};
    for (const Pool& pool : {adaptive_max_pool(adaptive), adaptive_min_pool(adaptive, {.ties = Ties::all}),
                             adaptive_avg_pool(adaptive), adaptive_sum_pool(adaptive)}) {
      const Geometry whole = pool.geometry(shapes[i]);
      std::vector<double> x = scattered(shapes[i]), y(static_cast<std::size_t>(element_count(bins[i])));
      pool.forward(view(std::as_const(x), shapes[i]), view(y, bins[i]));
      spec::for_each_position(Shape{bins[i][0], bins[i][0], bins[i][1], bins[i][1]}, [&](const Shape& at) {
        const Range rows{at[0], at[1] + 1}, columns{at[2], at[3] + 1};
        if (rows.begin >= rows.end || columns.begin >= columns.end) return;
        Geometry part = whole;
        const Range down = take_part(part, 0, rows), across = take_part(part, 1, columns);
        const Shape in = part.input_shape(), out = part.output_shape();
        const Pool over = pool.over(part);
        std::vector<double> made(static_cast<std::size_t>(element_count(out)));
        const View<const double> cells(x.data() + down.begin * shapes[i][1] + across.begin, in, {shapes[i][1], 1});
        over.forward(cells, view(made, out));
        for (Index r = 0; r < out[0]; ++r)
          for (Index c = 0; c < out[1]; ++c)
            ASSERT_EQ(made[static_cast<std::size_t>(r * out[1] + c)],
                      y[static_cast<std::size_t>((r + rows.begin) * bins[i][1] + c + columns.begin)]);
        for (const bool is_vjp : {false, true}) {
          const std::vector<double> by_kernels = derivative(over, in, out, is_vjp),
                                    by_reference = derivative(over.without_kernels(), in, out, is_vjp);
          for (std::size_t k = 0; k < by_kernels.size(); ++k)
            ASSERT_NEAR(by_kernels[k], by_reference[k], 1e-11) << (is_vjp ? "VJP" : "JVP");
        }
      });
    }
  }
}

}  // namespace
}  // namespace ndpool
