#include "report/page.hpp"

#include "io/png.hpp"
#include "report/embedded.hpp"

#include <algorithm>
#include <cmath>

namespace ndpool::cli {

namespace {

std::string base64(const std::string& bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string png_of(const Floats& picture) {
  const OwnArray bytes(Dtype::u8, picture.shape);
  for (std::size_t i = 0; i < picture.values.size(); ++i)
    bytes.array().data[i] =
        static_cast<char>(static_cast<unsigned char>(std::lround(255 * std::clamp(picture.values[i], 0.0F, 1.0F))));
  std::string file;
  write_png(bytes.array(),
            [&](const void* data, std::size_t count) { file.append(static_cast<const char*>(data), count); });
  return file;
}

void replace(std::string& text, std::string_view placeholder, std::string_view value) {
  text.replace(text.find(placeholder), placeholder.size(), value);
}

}  // namespace

Floats::Floats(const Shape& extents) : shape(extents), values(static_cast<std::size_t>(element_count(extents))) {}

Floats heat_map(const Floats& plane, float largest) {
  Floats colours({plane.extent(0), plane.extent(1), 3});
  for (std::size_t i = 0; i < plane.values.size(); ++i) {
    const float heat = largest > 0 ? 3 * plane.values[i] / largest : 0;
    for (std::size_t c = 0; c < 3; ++c)
      colours.values[3 * i + c] = std::clamp(heat - static_cast<float>(c), 0.0F, 1.0F);
  }
  return colours;
}

nlohmann::json picture_of(const Floats& picture) {
  return {{"src", "data:image/png;base64," + base64(png_of(picture))},
          {"width", picture.extent(1)},
          {"height", picture.extent(0)}};
}

std::string page_of(const nlohmann::json& data) {
  std::string numbers = data.dump();
  // The end of the element that holds the numbers must not stand inside a text.
  for (std::size_t at = 0; (at = numbers.find("</", at)) != std::string::npos;) numbers.replace(at, 2, "<\\/");
  std::string html(embedded::page);
  replace(html, "/* style.css */", embedded::style);
  replace(html, "/* script.js */", embedded::script);
  replace(html, "{\"data\": \"of the run\"}", numbers);
  return html;
}

}  // namespace ndpool::cli
