// PNG pictures as arrays: rows x columns, or rows x columns x channels.
#pragma once

#include "io/array.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace ndpool::cli {

/// Reads 8- and 16-bit pictures, grey or in colour, with or without alpha; palettes and fewer bits become 8-bit ones.
/// A picture that needs more than `limit` bytes is a CommandError.
OwnArray read_png(const std::string& path, std::size_t limit);

/// The same of the bytes of a file in memory, however large the picture is.
OwnArray decode_png(std::string_view bytes);

/// Throws WrongArguments if a PNG cannot hold such an array: uint8 or uint16, with 1 to 4 channels if it has three
/// axes.
void check_png(Dtype dtype, const Shape& shape);

/// Gets the bytes of a picture piece by piece.
using PngSink = std::function<void(const void* data, std::size_t bytes)>;
void write_png(const Array& array, const PngSink& sink);

}  // namespace ndpool::cli
