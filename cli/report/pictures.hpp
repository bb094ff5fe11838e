// The pictures of the demo: where they come from, and what is done with them besides pooling.
#pragma once

#include "report/page.hpp"

#include <string>

namespace ndpool::cli {

/// A picture with what pools tell apart: edges, thin lines, a smooth sky, single bright dots.
Floats draw_scene();

/// The user's picture: colours of 0 to 1, and no larger than a page can show.
Floats read_picture(const std::string& path);

Floats pooled(const Pool& pool, const Floats& x);

/// The VJP of ones: what each cell gives to the sum of all outputs.
Floats gradient_of_ones(const Pool& pool, const Floats& x);

/// The grey plane of a picture.
Floats brightness(const Floats& picture);

Floats scaled(Floats picture, float factor, float offset = 0);
Floats cropped(const Floats& picture, Index rows, Index columns);
float largest(const Floats& plane);

}  // namespace ndpool::cli
