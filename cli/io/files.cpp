#include "io/files.hpp"

#include "errors.hpp"
#include "io/npy.hpp"
#include "io/png.hpp"
#include "report/progress.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace ndpool::cli {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  operator int() const { return number_; }

 private:
  int number_;
};

bool ends_with(const std::string& path, const std::string& ending) {
  if (path.size() < ending.size()) return false;
  for (std::size_t i = 0; i < ending.size(); ++i)
    if (std::tolower(path[path.size() - ending.size() + i]) != ending[i]) return false;
  return true;
}

/// Copies standard input into a file: what comes through a pipe may be larger than memory.
void spool_standard_input(NewFile& file) {
  std::vector<char> block(std::size_t{1} << 20);
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, block.data(), block.size());
    if (got < 0 && errno == EINTR) stop_if_interrupted(false);
    if (got < 0) raise_errno("read", "standard input");
    if (got == 0) return;
    file.write(block.data(), static_cast<std::size_t>(got));
  }
}

std::size_t size_of(int file, const std::string& path) {
  struct stat status {};
  if (fstat(file, &status) != 0) raise_errno("read", path);
  if (S_ISDIR(status.st_mode)) throw CommandError("cannot read " + path + ": it is a folder");
  if (!S_ISREG(status.st_mode))
    throw CommandError("cannot read " + path + ": it is no ordinary file; use - for a pipe");
  return static_cast<std::size_t>(status.st_size);
}

bool is_regular(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

bool is_png(const std::string& path) { return ends_with(path, ".png"); }

void check_output(const std::string& path, Dtype dtype, const Shape& shape) {
  if (is_png(path)) return check_png(dtype, shape);
  if (path != "-" && !ends_with(path, ".npy"))
    throw WrongArguments(fmt::format("the output {} must end in .npy or .png, or be -", path));
}

InputFile::InputFile(const std::string& path, const ReadOptions& options) : path_(path) {
  if (is_png(path)) {
    picture_.emplace(read_png(path, options.memory / 2));
    array_ = picture_->array();
    format_ = fmt::format("png, {} bits", 8 * item_size(array_.dtype));
  } else {
    map_npy(options.untyped != Untyped::refuse);
  }
  if (options.untyped == Untyped::require && array_.dtype != Dtype::bf16)
    throw WrongArguments(fmt::format("--dtype bfloat16 is for elements without a type; those of {} are {}", path_,
                                     name_of(array_.dtype)));
}

void InputFile::map_npy(bool accept_untyped) {
  const bool is_stdin = path_ == "-";
  const Descriptor own(is_stdin ? -1 : open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (is_stdin) path_ = "standard input";
  if (!is_stdin && own < 0) raise_errno("read", path_);
  std::optional<NewFile> spool;  // without a name, and gone with its mapping
  if (is_stdin && !is_regular(STDIN_FILENO)) spool_standard_input(spool.emplace("-"));
  const int file = spool ? spool->descriptor() : is_stdin ? STDIN_FILENO : int{own};
  const std::size_t bytes = size_of(file, path_);
  mapping_ = Mapping(file, bytes, false, path_);
  try {
    const NpyHeader header = read_npy_header({mapping_.data(), std::min(bytes, npy_header_limit)}, bytes,
                                             accept_untyped ? std::optional(Dtype::bf16) : std::nullopt);
    fortran_ = header.fortran;
    array_ = {header.dtype, header.shape, strides_for(header.shape, header.fortran),
              mapping_.data() + header.data_offset};
    const bool aligned = header.data_offset % static_cast<std::size_t>(item_size(header.dtype)) == 0;
    array_.encoding = header.swapped                               ? Encoding::swapped
                      : !aligned || header.dtype == Dtype::boolean ? Encoding::foreign
                                                                   : Encoding::native;
    format_ = fmt::format("npy {}.{}, {} order, {}", int{mapping_.data()[6]}, int{mapping_.data()[7]},
                          header.fortran ? "Fortran" : "C", header.swapped ? "other byte order" : "this byte order");
  } catch (const CommandError& problem) {
    throw CommandError("cannot read " + path_ + ": " + problem.what());
  }
}

OutputFile::OutputFile(const std::string& path, Dtype dtype, const Shape& shape, bool fortran) : file_(path) {
  if (is_png(path)) {
    picture_.emplace(dtype, shape);
    array_ = picture_->array();
    return;
  }
  const std::string header = make_npy_header(dtype, shape, fortran);
  const std::size_t bytes = header.size() + static_cast<std::size_t>(element_count(shape) * item_size(dtype));
  file_.reserve(bytes);
  mapping_ = Mapping(file_.descriptor(), bytes, true, path);
  std::memcpy(mapping_.data(), header.data(), header.size());
  array_ = {dtype, shape, strides_for(shape, fortran), mapping_.data() + header.size()};
}

void OutputFile::commit() {
  if (picture_) write_png(picture_->array(), [this](const void* data, std::size_t bytes) { file_.write(data, bytes); });
  file_.commit();
}

}  // namespace ndpool::cli
