// The header of a .npy file, versions 1 to 3, read without trust and written as NumPy writes it.
#pragma once

#include "io/array.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace ndpool::cli {

struct NpyHeader {
  Dtype dtype = Dtype::f32;
  bool swapped = false;  ///< the elements are in the other byte order
  bool fortran = false;
  Shape shape;
  std::size_t data_offset = 0;
};

/// Reads the header at the start of a file of `file_bytes` bytes, of which `start` has the first ones: all, or at least
/// `npy_header_limit`. `void_as` is what elements of unnamed two-byte types are, as which NumPy keeps bfloat16. Throws
/// a CommandError without the name of the file.
NpyHeader read_npy_header(std::span<const char> start, std::size_t file_bytes, std::optional<Dtype> void_as = {});

/// Longer headers than this are refused.
inline constexpr std::size_t npy_header_limit = std::size_t{1} << 16;

/// The whole header, so long that the data behind it is aligned.
std::string make_npy_header(Dtype dtype, const Shape& shape, bool fortran);

}  // namespace ndpool::cli
