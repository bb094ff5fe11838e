// Files in memory: mapped, so that the operating system moves their pages, and dropped again before they are too many.
#pragma once

#include <ndpool/axis.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>

namespace ndpool::cli {

/// A whole file in memory, shared with it. Movable; unmapped at the end.
class Mapping {
 public:
  Mapping() = default;
  /// `path` is what errors call the file.
  Mapping(int file, std::size_t bytes, bool writable, const std::string& path);
  Mapping(Mapping&& other) noexcept { swap(other); }
  Mapping& operator=(Mapping&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Mapping();

  char* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(Mapping& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Tells the system that memory of a mapping will be read soon.
void read_ahead(const char* begin, std::size_t bytes);

/// Keeps the resident set below a bound by giving back pages of mappings: they stay in the files, and come again when
/// they are touched. Looks by itself a few hundred times a second, for runs that cannot be cut into tiles.
class MemoryGuard {
 public:
  explicit MemoryGuard(std::size_t bound);
  ~MemoryGuard();
  MemoryGuard(const MemoryGuard&) = delete;
  MemoryGuard& operator=(const MemoryGuard&) = delete;

  std::size_t bound() const { return bound_; }
  /// Gives pages back if the resident set is larger than `limit`.
  void trim(std::size_t limit) const;

 private:
  std::size_t bound_;
  std::atomic<bool> ends_{false};
  std::thread watcher_;
};

}  // namespace ndpool::cli
