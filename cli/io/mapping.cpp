#include "io/mapping.hpp"

#include "errors.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

namespace ndpool::cli {

namespace {

/// All mappings there are.
struct Registry {
  std::mutex mutex;
  std::vector<std::pair<char*, std::size_t>> mappings;
};
Registry& registry() {
  static Registry all;
  return all;
}

/// Asked for often: the file stays open.
std::size_t resident_bytes() {
  static const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  char text[128] = {};
  if (file < 0 || pread(file, text, sizeof text - 1, 0) <= 0) return 0;
  const char* second = std::strchr(text, ' ');  // the first number is the size of all memory, resident or not
  if (second == nullptr) return 0;
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return std::strtoull(second, nullptr, 10) * page;
}

}  // namespace

void raise_errno(const std::string& doing, const std::string& path) {
  throw CommandError("cannot " + doing + " " + path + ": " + std::strerror(errno));
}

Mapping::Mapping(int file, std::size_t bytes, bool writable, const std::string& path) : bytes_(bytes) {
  if (bytes == 0) return;
  void* data = mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) raise_errno("map", path);
  data_ = static_cast<char*>(data);
  const std::lock_guard lock(registry().mutex);
  registry().mappings.emplace_back(data_, bytes_);
}

Mapping::~Mapping() {
  if (data_ == nullptr) return;
  const std::lock_guard lock(registry().mutex);
  std::erase_if(registry().mappings, [&](const auto& mapping) { return mapping.first == data_; });
  munmap(data_, bytes_);
}

void read_ahead(const char* begin, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t before = reinterpret_cast<std::size_t>(begin) % page;
#ifdef MADV_POPULATE_READ
  // One call instead of a fault per page. Kernels that do not know it answer with an error, and pages come one by one.
  madvise(const_cast<char*>(begin - before), bytes + before, MADV_POPULATE_READ);
#else
  madvise(const_cast<char*>(begin - before), bytes + before, MADV_WILLNEED);
#endif
}

MemoryGuard::MemoryGuard(std::size_t bound) : bound_(bound) {
  watcher_ = std::thread([this] {
    while (!ends_) {
      trim(bound_ / 10 * 9);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
}

MemoryGuard::~MemoryGuard() {
  ends_ = true;
  watcher_.join();
}

void MemoryGuard::trim(std::size_t limit) const {
  if (resident_bytes() <= limit) return;
  const std::lock_guard lock(registry().mutex);
  for (const auto& [data, bytes] : registry().mappings) madvise(data, bytes, MADV_DONTNEED);
}

}  // namespace ndpool::cli
