// A page of HTML with its pictures inside, and how arrays become pictures.
#pragma once

#include "io/array.hpp"

#include <string>
#include <vector>

namespace ndpool::cli {

/// Numbers of an array of float, in row-major order.
struct Floats {
  Shape shape;
  std::vector<float> values;

  explicit Floats(const Shape& extents);
  float* data() { return values.data(); }
  const float* data() const { return values.data(); }
  Index extent(int axis) const { return shape[axis]; }
  /// Rows x columns x 3.
  float& at(Index row, Index column, Index channel) {
    return values[static_cast<std::size_t>((row * shape[1] + column) * shape[2] + channel)];
  }
  float at(Index row, Index column, Index channel) const {
    return values[static_cast<std::size_t>((row * shape[1] + column) * shape[2] + channel)];
  }
};

/// Numbers from 0 to 1 as a picture of 8 bits; what is outside is clipped.
std::string png_of(const Floats& picture);

/// A plane of numbers from 0 to `most` as a picture from black over red and yellow to white.
Floats heat_map(const Floats& plane, float most);

/// Text with the characters that HTML would misread replaced.
std::string escaped(const std::string& text);

/// Collects the parts of the page and writes them as one file.
class Page {
 public:
  explicit Page(const std::string& title) : title_(title) {}

  void section(const std::string& heading, const std::string& text);
  void picture(const Floats& picture, const std::string& caption, int scale);
  /// Ends a row of pictures.
  void end_row();
  void table(const std::vector<std::string>& heads, const std::vector<std::vector<std::string>>& rows);
  /// A drawing in SVG.
  void chart(const std::string& svg, const std::string& caption);
  std::string html() const;

 private:
  std::string title_, body_;
  bool in_row_ = false;
};

}  // namespace ndpool::cli
