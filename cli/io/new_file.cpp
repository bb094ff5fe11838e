#include "io/new_file.hpp"

#include "errors.hpp"
#include "io/output_names.hpp"
#include "report/progress.hpp"

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

/// The mode of files that are made without asking for one.
mode_t usual_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder == nullptr ? "/tmp" : folder;
}

/// Everything, or a CommandError that calls the file `path`; Interrupted at a signal, as a pipe may block for ever.
void write_all(int file, const void* data, std::size_t bytes, const std::string& path) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    stop_if_interrupted();
    const ssize_t written = write(file, next, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) raise_errno("write", path);
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

/// Owner and mode of the file that is replaced. Only root may give files away; for others the owner becomes theirs.
void copy_owner_and_mode(const struct stat& replaced, int file) {
  static_cast<void>(!fchown(file, replaced.st_uid, replaced.st_gid));
  fchmod(file, replaced.st_mode & 0777);
}

}  // namespace

void remove_hidden_files() {
  for (const Slot& slot : slots)
    if (slot.filled) unlink(slot.name.data());
}

NewFile::NewFile(const std::string& path) : path_(path), target_(is_stdout() ? path : follow_links(path)) {
  struct stat replaced {};
  const bool replaces = !is_stdout() && stat(path.c_str(), &replaced) == 0;
  if (replaces && !S_ISREG(replaced.st_mode))
    throw CommandError("cannot write " + path + ": it is there and is no ordinary file");
  open_in(is_stdout() ? temporary_folder() : folder_of(target_));
  if (replaces)
    copy_owner_and_mode(replaced, file_);
  else if (!is_stdout())
    fchmod(file_, usual_mode());
}

/// Private at first: nobody else can open what will be private under its own name, too.
void NewFile::open_in(const std::string& folder) {
  file_ = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file_ >= 0) return;
  std::string name = folder + "/.ndpool-XXXXXX";
  file_ = mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) raise_errno("write into", folder);
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
  if (errno == EINTR) stop_if_interrupted(false);
  if (errno != 0) raise_errno("write", path_);
}

void NewFile::write(const void* data, std::size_t bytes) { write_all(file_, data, bytes, path_); }

void NewFile::name_it(const std::string& name) const {
  const std::string self = "/proc/self/fd/" + std::to_string(file_);
  if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) raise_errno("write", path_);
}

void NewFile::commit() {
  if (is_stdout()) {
    if (lseek(file_, 0, SEEK_SET) != 0) raise_errno("read back", "what goes to standard output");
    std::vector<char> block(std::size_t{1} << 20);
    ssize_t got = 0;
    while ((got = read(file_, block.data(), block.size())) > 0)
      write_all(STDOUT_FILENO, block.data(), static_cast<std::size_t>(got), "standard output");
    if (got < 0) raise_errno("read back", "what goes to standard output");
    return;
  }
  if (hidden_.empty()) {
    // A link replaces nothing, a rename does: the file gets a hidden name for a moment.
    const std::string name = folder_of(target_) + "/.ndpool-" + std::to_string(getpid()) + "-" + std::to_string(file_);
    unlink(name.c_str());  // of a killed process with the same number
    name_it(name);
    hidden_ = name;
    remember(hidden_);
  }
  if (std::rename(hidden_.c_str(), target_.c_str()) != 0) raise_errno("write", path_);
  forget(hidden_);
  hidden_.clear();
}

}  // namespace ndpool::cli
