// Pools over parts of arrays, whose flat indices count cells as those of the whole do, by kernels and by the reference.
#include <ndpool/ndpool.hpp>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ndpool
