#include "report/pictures.hpp"

#include "errors.hpp"
#include "io/files.hpp"

#include <algorithm>
#include <cmath>

namespace ndpool::cli {

Floats draw_scene() {
  Floats picture({192, 256, 3});
  const float height = 192, width = 256;
  unsigned noise = 12345;
  for (Index r = 0; r < 192; ++r)
    for (Index c = 0; c < 256; ++c) {
      const float y = static_cast<float>(r) / height, x = static_cast<float>(c) / width;
      float red = 0.25F + 0.5F * y, green = 0.45F + 0.35F * y, blue = 0.85F - 0.1F * y;
      if (std::hypot(x - 0.78F, (y - 0.22F) * height / width) < 0.08F) red = 1, green = 0.9F, blue = 0.4F;
      const float hill = 0.62F + 0.08F * std::sin(9 * x) + 0.03F * std::sin(23 * x + 1);
      if (y > hill) red = 0.18F + 0.2F * (y - hill), green = 0.42F - 0.3F * (y - hill), blue = 0.16F;
      if (x > 0.12F && x < 0.42F && y > 0.4F && y < 0.85F) {  // a house of fine stripes with windows
        const bool stripe = (c / 2) % 2 == 0;
        red = stripe ? 0.8F : 0.55F, green = stripe ? 0.72F : 0.45F, blue = stripe ? 0.6F : 0.38F;
        if ((r / 14) % 2 == 0 && (c / 14) % 2 == 0) red = 0.1F, green = 0.12F, blue = 0.2F;
      }
      if (x > 0.55F && x < 0.95F && y > 0.72F && y < 0.95F && ((r / 8) + (c / 8)) % 2 == 0) red = green = blue = 0.92F;
      noise = noise * 1664525U + 1013904223U;
      if (y < 0.5F && noise >> 22 == 0) red = green = blue = 1;
      picture.at(r, c, 0) = red, picture.at(r, c, 1) = green, picture.at(r, c, 2) = blue;
    }
  return picture;
}

Floats read_picture(const std::string& path) {
  const InputFile file(path);
  if (!file.is_picture()) throw WrongArguments("--input must be a .png");
  const Array& array = file.array();
  const Index channels = array.shape.size() == 3 ? array.shape[2] : 1;
  Floats picture({array.shape[0], array.shape[1], 3});
  const float most = array.dtype == Dtype::u16 ? 65535.0F : 255.0F;
  for (std::size_t i = 0; i < picture.values.size(); ++i) {
    const std::size_t pixel = i / 3, colour = channels >= 3 ? i % 3 : 0;
    const std::size_t at = pixel * static_cast<std::size_t>(channels) + colour;
    const float value = array.dtype == Dtype::u16
                            ? static_cast<float>(reinterpret_cast<const std::uint16_t*>(array.data)[at])
                            : static_cast<float>(reinterpret_cast<const unsigned char*>(array.data)[at]);
    picture.values[i] = value / most;
  }
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

Floats cropped(const Floats& picture, Index rows, Index columns) {
  Floats part({rows, columns, 3});
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c)
      for (Index k = 0; k < 3; ++k) part.at(r, c, k) = picture.at(r, c, k);
  return part;
}

float largest(const Floats& plane) { return *std::ranges::max_element(plane.values); }

}  // namespace ndpool::cli
