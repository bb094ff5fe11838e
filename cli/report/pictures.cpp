#include "report/pictures.hpp"

#include "errors.hpp"
#include "io/files.hpp"
#include "io/png.hpp"
#include "report/embedded.hpp"

#include <algorithm>
#include <cmath>

namespace ndpool::cli {

namespace {

/// Colours of 0 to 1 of a decoded picture, grey, with or without alpha.
Floats colours_of(const Array& array) {
  const Index channels = array.shape.size() == 3 ? array.shape[2] : 1;
  Floats picture({array.shape[0], array.shape[1], 3});
  const float largest = array.dtype == Dtype::u16 ? 65535.0F : 255.0F;
  for (std::size_t i = 0; i < picture.values.size(); ++i) {
    const std::size_t pixel = i / 3, colour = channels >= 3 ? i % 3 : 0;
    const std::size_t at = pixel * static_cast<std::size_t>(channels) + colour;
    const float value = array.dtype == Dtype::u16
                            ? static_cast<float>(reinterpret_cast<const std::uint16_t*>(array.data)[at])
                            : static_cast<float>(reinterpret_cast<const unsigned char*>(array.data)[at]);
    picture.values[i] = value / largest;
  }
  return picture;
}

}  // namespace

Floats read_photograph() { return colours_of(decode_png(embedded::cat).array()); }

Floats read_picture(const std::string& path) {
  const InputFile file(path);
  if (!file.is_picture()) throw WrongArguments("--input must be a .png");
  const Floats picture = colours_of(file.array());
  const Index longest = std::max(picture.extent(0), picture.extent(1));
  if (std::min(picture.extent(0), picture.extent(1)) < 16)
    throw WrongArguments("--input needs at least 16 x 16 pixels");
  if (longest <= 512) return picture;
  const Index by = (longest + 511) / 512;
  return pooled(avg_pool({.kernel = {by, by}, .axes = {0, 1}}), picture);
}

Floats pooled(const Pool& pool, const Floats& x) {
  Floats y(pool.output_shape(x.shape));
  pool.forward(View<const float>(x.data(), x.shape), View<float>(y.data(), y.shape));
  return y;
}

Floats gradient_of_ones(const Pool& pool, const Floats& x) {
  Floats gy(pool.output_shape(x.shape)), gx(x.shape);
  std::ranges::fill(gy.values, 1.0F);
  pool.vjp(View<const float>(x.data(), x.shape), View<const float>(gy.data(), gy.shape),
           View<float>(gx.data(), gx.shape));
  return gx;
}

Floats brightness(const Floats& picture) {
  Floats grey({picture.extent(0), picture.extent(1)});
  for (std::size_t i = 0; i < grey.values.size(); ++i)
    grey.values[i] =
        0.3F * picture.values[3 * i] + 0.59F * picture.values[3 * i + 1] + 0.11F * picture.values[3 * i + 2];
  return grey;
}

Floats scaled(Floats picture, float factor, float offset) {
  for (float& value : picture.values) value = factor * value + offset;
  return picture;
}

Floats cropped(const Floats& picture, const Box& box) {
  Floats part({box.rows, box.columns, 3});
  for (Index r = 0; r < box.rows; ++r)
    for (Index c = 0; c < box.columns; ++c)
      for (Index k = 0; k < 3; ++k) part.at(r, c, k) = picture.at(box.row + r, box.column + c, k);
  return part;
}

float largest(const Floats& plane) { return *std::ranges::max_element(plane.values); }

}  // namespace ndpool::cli
