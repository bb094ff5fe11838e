// Headers of .npy files: damaged in any way they are read as something sound, or refused.
#include "io/npy.hpp"

#include "errors.hpp"

#include <gtest/gtest.h>

#include <random>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace ndpool::cli {
namespace {

TEST(Npy, HeadersSurviveTheWayThereAndBack) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16, Dtype::i8, Dtype::u8, Dtype::i16,
                            Dtype::u16, Dtype::i32, Dtype::i64, Dtype::u32, Dtype::u64, Dtype::boolean})
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{3, 0, 2}, Shape{2, 3, 4, 5, 6}, Shape::filled(64, 1)})
      for (const bool fortran : {false, true}) {
        const std::string text = make_npy_header(dtype, shape, fortran);
        EXPECT_EQ(text.size() % 64, 0U);
        const auto bytes = static_cast<std::size_t>(element_count(shape) * item_size(dtype));
        const NpyHeader header = read_npy_header(text, text.size() + bytes, Dtype::bf16);
        EXPECT_EQ(header.dtype, dtype);
        EXPECT_TRUE(header.shape == shape);
        EXPECT_EQ(header.fortran, fortran);
        EXPECT_EQ(header.data_offset, text.size());
        EXPECT_FALSE(header.swapped);
      }
}

TEST(Npy, FilesThatAreTooShortAreRefused) {
  const std::string text = make_npy_header(Dtype::f32, {3, 4}, false);
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_THROW(read_npy_header({text.data(), size}, size), CommandError) << size;
  EXPECT_THROW(read_npy_header(text, text.size() + 47), CommandError);
  EXPECT_NO_THROW(read_npy_header(text, text.size() + 48));
}

TEST(Npy, DamagedHeadersAreSoundOrRefused) {
  std::mt19937 random(0);
  const std::string pieces[] = {"'", "{",     "}",     "(",    ")",   ",",  ":",
                                "-", "descr", "shape", "True", "<f8", "|O", "9999999999"};
  for (int round = 0; round < 20000; ++round) {
    std::string text = make_npy_header(Dtype::f32, {3, 4}, false) + std::string(48, 'x');
    const unsigned changes = 1 + random() % 4;
    for (unsigned i = 0; i < changes; ++i) {
      const std::size_t at = random() % 140;
      if (random() % 2 == 0)
        text[at] = static_cast<char>(random());
      else
        text.insert(at, pieces[random() % std::size(pieces)]);
    }
    text.resize(random() % 3 == 0 ? random() % text.size() : text.size());
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
}

}  // namespace
}  // namespace ndpool::cli
