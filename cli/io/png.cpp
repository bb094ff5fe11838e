#include "io/png.hpp"

#include "errors.hpp"
#include "report/progress.hpp"

#include <fmt/format.h>
#include <png.h>
#include <sys/stat.h>

#include <bit>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace ndpool::cli {

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// libpng reports errors through a callback that must not return. The exception passes through libpng's frames, which
/// can be unwound as all code on this platform can, and which the destructors below clean up after.
[[noreturn]] void on_error(png_structp, png_const_charp message) { throw CommandError(message); }
void on_warning(png_structp, png_const_charp) {}
void on_row(png_structp, png_uint_32, int) { stop_if_interrupted(); }

struct Decoder {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, on_error, on_warning);
  png_infop info = png_create_info_struct(png);
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { png_destroy_read_struct(&png, &info, nullptr); }
};

struct Encoder {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, on_error, on_warning);
  png_infop info = png_create_info_struct(png);
  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() { png_destroy_write_struct(&png, &info); }
};

OwnArray decode(std::FILE* file, std::size_t file_bytes, std::size_t limit) {
  unsigned char signature[8] = {};
  if (std::fread(signature, 1, 8, file) != 8 || png_sig_cmp(signature, 0, 8) != 0)
    throw CommandError("it is no PNG picture");

  Decoder decoder;
  png_structp png = decoder.png;
  png_infop info = decoder.info;
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
  png_set_chunk_malloc_max(png, png_alloc_size_t{1} << 23);
  png_init_io(png, file);
  png_set_read_status_fn(png, on_row);
  png_set_sig_bytes(png, 8);
  png_read_info(png, info);
  png_set_expand(png);  // palettes, fewer than 8 bits, transparent colours
  if constexpr (std::endian::native == std::endian::little)
    if (png_get_bit_depth(png, info) == 16) png_set_swap(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);

  const Index height = png_get_image_height(png, info), width = png_get_image_width(png, info),
              channels = png_get_channels(png, info);
  const Dtype dtype = png_get_bit_depth(png, info) == 16 ? Dtype::u16 : Dtype::u8;
  const std::size_t row_bytes = png_get_rowbytes(png, info);
  if (row_bytes > limit / static_cast<std::size_t>(height))
    throw CommandError(
        fmt::format("a picture of {} x {} with {} channels is larger than --memory allows", width, height, channels));
  // Deflate makes at most about a thousand bytes of one.
  if (row_bytes * static_cast<std::size_t>(height) / 1100 > file_bytes)
    throw CommandError(fmt::format("it is cut off: {} bytes cannot hold {} x {} pixels", file_bytes, width, height));
  OwnArray picture(dtype, channels == 1 ? Shape{height, width} : Shape{height, width, channels});
  std::vector<png_bytep> rows(static_cast<std::size_t>(height));
  for (std::size_t r = 0; r < rows.size(); ++r)
    rows[r] = reinterpret_cast<png_bytep>(picture.array().data) + r * row_bytes;
  png_read_image(png, rows.data());
  png_read_end(png, nullptr);
  return picture;
}

void write_bytes(png_structp png, png_bytep data, png_size_t bytes) {
  (*static_cast<const PngSink*>(png_get_io_ptr(png)))(data, bytes);
}
void flush_nothing(png_structp) {}

}  // namespace

OwnArray read_png(const std::string& path, std::size_t limit) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) raise_errno("read", path);
  struct stat status {};
  const std::size_t bytes = fstat(fileno(file.get()), &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
  try {
    return decode(file.get(), bytes, limit);
  } catch (const CommandError& problem) {
    throw CommandError("cannot read " + path + ": " + problem.what());
  }
}

OwnArray decode_png(std::string_view bytes) {
  // Opened for reading only: nothing is written through the pointer.
  const File file(fmemopen(const_cast<char*>(bytes.data()), bytes.size(), "rb"));
  if (file == nullptr) raise_errno("read", "a picture in memory");
  return decode(file.get(), bytes.size(), std::numeric_limits<std::size_t>::max());
}

void check_png(Dtype dtype, const Shape& shape) {
  if (dtype != Dtype::u8 && dtype != Dtype::u16)
    throw WrongArguments(fmt::format("a .png cannot hold {}; write .npy instead", name_of(dtype)));
  const bool fits = shape.size() == 2 || (shape.size() == 3 && shape[2] >= 1 && shape[2] <= 4);
  if (!fits || shape[0] < 1 || shape[1] < 1 || shape[0] > 0x7fffffff || shape[1] > 0x7fffffff)
    throw WrongArguments(
        fmt::format("a .png cannot hold {}: it must be rows x columns, with 1 to 4 channels behind; "
                    "write .npy instead",
                    text_of(shape)));
}

void write_png(const Array& array, const PngSink& sink) {
  check_png(array.dtype, array.shape);
  constexpr int colours[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                             PNG_COLOR_TYPE_RGB_ALPHA};
  const Index channels = array.shape.size() == 3 ? array.shape[2] : 1;
  const std::size_t row_bytes = static_cast<std::size_t>(array.shape[1] * channels * item_size(array.dtype));
  Encoder encoder;
  png_structp png = encoder.png;
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
  png_set_write_fn(png, const_cast<PngSink*>(&sink), write_bytes, flush_nothing);
  png_set_write_status_fn(png, on_row);
  png_set_IHDR(png, encoder.info, static_cast<png_uint_32>(array.shape[1]), static_cast<png_uint_32>(array.shape[0]),
               8 * item_size(array.dtype), colours[channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, encoder.info);
  if (array.dtype == Dtype::u16 && std::endian::native == std::endian::little) png_set_swap(png);
  for (std::size_t r = 0; r < static_cast<std::size_t>(array.shape[0]); ++r)
    png_write_row(png, reinterpret_cast<png_const_bytep>(array.data) + r * row_bytes);
  png_write_end(png, encoder.info);
}

}  // namespace ndpool::cli
