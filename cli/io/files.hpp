// Arrays in files, whatever their format: mapped where the format allows it, in memory else.
#pragma once

#include "io/array.hpp"
#include "io/mapping.hpp"
#include "io/new_file.hpp"

#include <memory>
#include <optional>

namespace ndpool::cli {

/// What to do about elements without a type, as which NumPy writes bfloat16. `require` is `--dtype bfloat16`: it would
/// have no effect on elements that have a type, so these are WrongArguments.
enum class Untyped : unsigned char { refuse, accept, require };

/// Bytes of memory that pictures may take, and which elements may be read.
struct ReadOptions {
  std::size_t memory = std::size_t{1} << 30;
  Untyped untyped = Untyped::refuse;
};

/// An array to be read: `.npy`, `.png` or `-`, standard input with a `.npy` in it.
class InputFile {
 public:
  explicit InputFile(const std::string& path, const ReadOptions& options = {});
  const Array& array() const { return array_; }
  const std::string& path() const { return path_; }
  bool is_picture() const { return picture_.has_value(); }
  bool is_fortran() const { return fortran_; }
  /// `npy`, version and the like, for people.
  const std::string& format() const { return format_; }

 private:
  void map_npy(bool accept_untyped);

  std::string path_, format_;
  Mapping mapping_;
  std::optional<OwnArray> picture_;
  Array array_;
  bool fortran_ = false;
};

/// An array to be written: `.npy`, `.png` or `-`. The file appears with `commit`.
class OutputFile {
 public:
  OutputFile(const std::string& path, Dtype dtype, const Shape& shape, bool fortran = false);
  const Array& array() const { return array_; }
  const std::string& path() const { return file_.path(); }
  void commit();

 private:
  NewFile file_;
  Mapping mapping_;
  std::optional<OwnArray> picture_;
  Array array_;
};

/// Throws WrongArguments unless a file of this name can hold such an array.
void check_output(const std::string& path, Dtype dtype, const Shape& shape);

bool is_png(const std::string& path);

}  // namespace ndpool::cli
