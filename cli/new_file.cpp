#include "new_file.hpp"

#include "problem.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace ndpool::cli {

namespace {

/// Hidden names, where a signal handler can read them. A slot belongs to whoever has set its flag.
struct Slot {
  std::atomic<bool> taken{false}, filled{false};
  std::array<char, 4096> name{};
};
std::array<Slot, 16> slots;

void remember(const std::string& name) {
  for (Slot& slot : slots) {
    if (name.size() >= slot.name.size() || slot.taken.exchange(true)) continue;
    std::memcpy(slot.name.data(), name.c_str(), name.size() + 1);
    slot.filled = true;
    return;
  }
}

void forget(const std::string& name) {
  for (Slot& slot : slots) {
    if (!slot.filled || name != slot.name.data()) continue;
    slot.filled = false;
    slot.taken = false;
  }
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Files that a reader could make with what it may do anyway.
mode_t usual_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

void remove_hidden_files() {
  for (const Slot& slot : slots)
    if (slot.filled) unlink(slot.name.data());
}

NewFile::NewFile(const std::string& path) : path_(path) {
  const char* temporary = std::getenv("TMPDIR");
  const std::string folder = is_stdout() ? (temporary == nullptr ? "/tmp" : temporary) : folder_of(path);
  struct stat status {};
  if (!is_stdout() && stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw Problem("cannot write " + path + ": it is there and is no ordinary file");
  file_ = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, usual_mode());
  if (file_ >= 0) return;
  std::string name = folder + "/.ndpool-XXXXXX";
  file_ = mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) raise_errno("write into", folder);
  fchmod(file_, usual_mode());
  if (is_stdout()) {
    unlink(name.c_str());
  } else {
    hidden_ = name;
    remember(hidden_);
  }
}

NewFile::~NewFile() {
  if (file_ >= 0) close(file_);
  if (hidden_.empty()) return;
  unlink(hidden_.c_str());
  forget(hidden_);
}

void NewFile::reserve(std::size_t bytes) {
  if (bytes == 0) return;
  // Answers with an error number instead of setting errno.
  errno = posix_fallocate(file_, 0, static_cast<off_t>(bytes));
  if (errno != 0) raise_errno("write", path_);
}

void NewFile::write(const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(file_, next, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) raise_errno("write", path_);
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void NewFile::name_it(const std::string& name) const {
  const std::string self = "/proc/self/fd/" + std::to_string(file_);
  if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) raise_errno("write", path_);
}

void NewFile::commit() {
  if (is_stdout()) {
    if (lseek(file_, 0, SEEK_SET) != 0) raise_errno("read back", "what goes to standard output");
    std::vector<char> block(std::size_t{1} << 20);
    for (ssize_t got = 0; (got = read(file_, block.data(), block.size())) > 0;)
      if (std::fwrite(block.data(), 1, static_cast<std::size_t>(got), stdout) != static_cast<std::size_t>(got))
        raise_errno("write to", "standard output");
    if (std::fflush(stdout) != 0) raise_errno("write to", "standard output");
    return;
  }
  if (hidden_.empty()) {
    // A link replaces nothing, a rename does: the file gets a hidden name for a moment.
    const std::string name = folder_of(path_) + "/.ndpool-" + std::to_string(getpid()) + "-" + std::to_string(file_);
    unlink(name.c_str());  // of a killed process with the same number
    name_it(name);
    hidden_ = name;
    remember(hidden_);
  }
  if (std::rename(hidden_.c_str(), path_.c_str()) != 0) raise_errno("write", path_);
  forget(hidden_);
  hidden_.clear();
}

}  // namespace ndpool::cli
