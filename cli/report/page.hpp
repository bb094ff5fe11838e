// The demo's page: a template with its style, its script and its numbers filled in, and how arrays become pictures.
#pragma once

#include "io/array.hpp"

#include <nlohmann/json.hpp>

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

/// A plane of numbers from 0 to `largest` as a picture from black over red and yellow to white.
Floats heat_map(const Floats& plane, float largest);

/// Numbers from 0 to 1 as a picture of 8 bits that a page can show, with its size; what is outside is clipped.
nlohmann::json picture_of(const Floats& picture);

/// The page that shows `data`, as one file that needs no other.
std::string page_of(const nlohmann::json& data);

}  // namespace ndpool::cli
