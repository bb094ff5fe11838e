// The pictures of the demo: where they come from, and what is done with them besides pooling.
#pragma once

#include "report/page.hpp"

#include <string>

namespace ndpool::cli {

/// The photograph that the command brings (web/demo/cat.txt says whose it is): colours of 0 to 1.
Floats read_photograph();

/// The user's picture: colours of 0 to 1, and no larger than a page can show.
Floats read_picture(const std::string& path);

Floats pooled(const Pool& pool, const Floats& x);

/// The VJP of ones: what each cell gives to the sum of all outputs.
Floats gradient_of_ones(const Pool& pool, const Floats& x);

/// The grey plane of a picture.
Floats brightness(const Floats& picture);

Floats scaled(Floats picture, float factor, float offset = 0);

/// A box of rows and columns.
struct Box {
  Index row, column, rows, columns;

  /// The box of the input that windows of `size` x `size` cells, side by side, read for this one.
  Box times(Index size) const { return {row * size, column * size, rows * size, columns * size}; }
};
Floats cropped(const Floats& picture, const Box& box);

float largest(const Floats& plane);

}  // namespace ndpool::cli
