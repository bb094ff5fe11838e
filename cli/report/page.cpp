#include "report/page.hpp"

#include "io/png.hpp"

#include <fmt/format.h>

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

constexpr const char* style = R"(
:root { color-scheme: light dark; --line: #8884; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin: 2.5rem 0 0; } p { max-width: 48rem; }
.row { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-end; }
figure { margin: 0; width: min-content; min-width: 9rem; } figcaption { font-size: .85rem; }
img { image-rendering: pixelated; display: block; border: 1px solid var(--line); max-width: 100%; }
table { border-collapse: collapse; } th, td { text-align: left; padding: .15rem .9rem .15rem 0; }
th { border-bottom: 1px solid var(--line); } td { font-variant-numeric: tabular-nums; }
)";

}  // namespace

Floats::Floats(const Shape& extents) : shape(extents), values(static_cast<std::size_t>(element_count(extents))) {}

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

Floats heat_map(const Floats& plane, float most) {
  Floats colours({plane.extent(0), plane.extent(1), 3});
  for (std::size_t i = 0; i < plane.values.size(); ++i) {
    const float heat = most > 0 ? 3 * plane.values[i] / most : 0;
    for (std::size_t c = 0; c < 3; ++c)
      colours.values[3 * i + c] = std::clamp(heat - static_cast<float>(c), 0.0F, 1.0F);
  }
  return colours;
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) switch (c) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  return safe;
}

void Page::section(const std::string& heading, const std::string& text) {
  end_row();
  body_ += fmt::format("<h2>{}</h2>\n<p>{}</p>\n", escaped(heading), escaped(text));
}

void Page::picture(const Floats& picture, const std::string& caption, int scale) {
  if (!in_row_) body_ += "<div class=\"row\">\n";
  in_row_ = true;
  body_ += fmt::format(
      "<figure><img alt=\"{0}\" width=\"{1}\" height=\"{2}\" src=\"data:image/png;base64,{3}\">"
      "<figcaption>{0}</figcaption></figure>\n",
      escaped(caption), picture.extent(1) * scale, picture.extent(0) * scale, base64(png_of(picture)));
}

void Page::end_row() {
  if (in_row_) body_ += "</div>\n";
  in_row_ = false;
}

void Page::table(const std::vector<std::string>& heads, const std::vector<std::vector<std::string>>& rows) {
  end_row();
  body_ += "<table><tr>";
  for (const std::string& head : heads) body_ += "<th>" + escaped(head) + "</th>";
  body_ += "</tr>\n";
  for (const std::vector<std::string>& row : rows) {
    body_ += "<tr>";
    for (const std::string& cell : row) body_ += "<td>" + escaped(cell) + "</td>";
    body_ += "</tr>\n";
  }
  body_ += "</table>\n";
}

void Page::chart(const std::string& svg, const std::string& caption) {
  end_row();
  // As a picture, so that the styles of the chart and of the page keep apart.
  body_ += fmt::format("<img alt=\"{}\" src=\"data:image/svg+xml;base64,{}\">\n", escaped(caption), base64(svg));
}

std::string Page::html() const {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"icon\" href=\"data:,\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}{3}</body>\n</html>\n",
      escaped(title_), style, body_, in_row_ ? "</div>\n" : "");
}

}  // namespace ndpool::cli
