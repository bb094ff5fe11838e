#include "io/npy.hpp"

#include "errors.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace ndpool::cli {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct Row {
  Dtype dtype;
  std::string_view code;  ///< kind and size, as in a descr
};
constexpr Row rows[] = {
    {Dtype::f32, "f4"}, {Dtype::f64, "f8"}, {Dtype::f16, "f2"},     {Dtype::bf16, "V2"}, {Dtype::i8, "i1"},
    {Dtype::u8, "u1"},  {Dtype::i16, "i2"}, {Dtype::u16, "u2"},     {Dtype::i32, "i4"},  {Dtype::i64, "i8"},
    {Dtype::u32, "u4"}, {Dtype::u64, "u8"}, {Dtype::boolean, "b1"},
};

/// Reads the dictionary of a header: Python's notation, as far as such headers use it.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  NpyHeader read(std::optional<Dtype> void_as) {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !has_descr) {
        has_descr = true;
        read_descr(string_value(), void_as, header);
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        header.fortran = boolean();
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        header.shape = tuple();
      } else {
        throw CommandError(fmt::format("its header has an unexpected entry '{}'", printable(key)));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (!rest_.empty()) throw CommandError("its header goes on behind the dictionary");
    if (!has_descr || !has_order || !has_shape) throw CommandError("its header lacks descr, fortran_order or shape");
    return header;
  }

 private:
  static std::string printable(std::string_view text) {
    std::string clean;
    for (const char c : text.substr(0, 40)) clean += c >= ' ' && c <= '~' ? c : '?';
    return clean;
  }

  void skip_spaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t' || rest_[0] == '\0'))
      rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_spaces();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      throw CommandError(fmt::format("its header is not a dictionary as NumPy writes it: '{}' expected before '{}'", c,
                                     printable(rest_.substr(0, 10))));
  }
  std::string_view string() {
    skip_spaces();
    const char quote = rest_.empty() ? '\0' : rest_[0];
    if (quote != '\'' && quote != '"') expect('\'');
    rest_.remove_prefix(1);
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) throw CommandError("its header has a string without an end");
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::string_view string_value() {
    skip_spaces();
    if (rest_.starts_with('[')) throw CommandError("its elements are records; ndpool pools plain numbers");
    return string();
  }
  bool boolean() {
    skip_spaces();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    throw CommandError("its header has a fortran_order that is neither True nor False");
  }
  Shape tuple() {
    Shape shape;
    Index elements = 1;
    expect('(');
    while (!accept(')')) {
      skip_spaces();
      Index extent = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error == std::errc::result_out_of_range)
        throw CommandError("its header has an extent that does not fit 64 bits");
      if (error != std::errc()) throw CommandError("its header has a shape that is no tuple of numbers");
      if (extent < 0) throw CommandError(fmt::format("its header has the negative extent {}", extent));
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      if (shape.size() == max_rank) throw CommandError(fmt::format("it has more than {} axes", max_rank));
      shape.push_back(extent);
      if (__builtin_mul_overflow(elements, extent == 0 ? 1 : extent, &elements))
        throw CommandError("its header has a shape whose elements do not fit 64 bits");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  static void read_descr(std::string_view descr, std::optional<Dtype> void_as, NpyHeader& header) {
    const bool has_order = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
    const std::string_view code = has_order ? descr.substr(1) : descr;
    constexpr char other = std::endian::native == std::endian::little ? '>' : '<';
    for (const Row& row : rows) {
      if (row.code != code) continue;
      if (row.dtype == Dtype::bf16) {
        if (void_as != Dtype::bf16)
          throw CommandError("its elements have no type; if they are bfloat16, say --dtype bfloat16");
      }
      header.dtype = row.dtype;
      header.swapped = has_order && descr[0] == other && item_size(row.dtype) > 1;
      return;
    }
    throw CommandError(fmt::format("its elements have the type '{}', which cannot be pooled", printable(descr)));
  }

  std::string_view rest_;
};

}  // namespace

NpyHeader read_npy_header(std::span<const char> start, std::size_t file_bytes, std::optional<Dtype> void_as) {
  const std::string_view text(start.data(), start.size());
  if (!text.starts_with(magic)) throw CommandError("it is no .npy file");
  if (text.size() < 10) throw CommandError("it ends within its header");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(text[i])); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    throw CommandError(fmt::format("it has version {} of the format; 1 to 3 are known", version));
  const std::size_t length_bytes = version == 1 ? 2 : 4, begin = 8 + length_bytes;
  if (text.size() < begin) throw CommandError("it ends within its header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= byte(8 + i) << (8 * i);
  if (length > npy_header_limit - begin)
    throw CommandError(fmt::format("its header has {} bytes, which no array needs", length));
  if (text.size() < begin + length) throw CommandError("it ends within its header");

  NpyHeader header = Reader(text.substr(begin, length)).read(void_as);
  header.data_offset = begin + length;
  Index bytes = 0;
  if (__builtin_mul_overflow(element_count(header.shape), Index{item_size(header.dtype)}, &bytes))
    throw CommandError("its header has a shape whose bytes do not fit 64 bits");
  if (static_cast<std::size_t>(bytes) > file_bytes - header.data_offset)
    throw CommandError(fmt::format("it is cut off: {} of {} need {} bytes, and {} are there", text_of(header.shape),
                                   name_of(header.dtype), bytes, file_bytes - header.data_offset));
  return header;
}

std::string make_npy_header(Dtype dtype, const Shape& shape, bool fortran) {
  std::string_view code;
  for (const Row& row : rows)
    if (row.dtype == dtype) code = row.code;
  constexpr char order = std::endian::native == std::endian::little ? '<' : '>';
  std::string extents;
  for (const Index extent : shape) extents += fmt::format("{}, ", extent);
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  if (shape.size() == 1) extents.pop_back();
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': ({}), }}",
                                 item_size(dtype) == 1 ? '|' : order, code, fortran ? "True" : "False", extents);
  const std::size_t before = magic.size() + 4;
  text.append((64 - (before + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  std::string header(magic);
  header += {'\x01', '\x00', static_cast<char>(text.size() % 256), static_cast<char>(text.size() / 256)};
  return header + text;
}

}  // namespace ndpool::cli
