// Arrays between pages that may not be touched.
#pragma once

#include "support/array.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace ndpool::testing {

/// Memory between two pages that may not be touched, with the array at the front or at the very end of it.
class Guarded {
 public:
  Guarded(std::size_t bytes, bool at_end) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t room = (bytes + page - 1) / page * page;
    mapped_ = room + 2 * page;
    base_ = static_cast<char*>(mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || mprotect(base_ + page, room, PROT_READ | PROT_WRITE) != 0) std::abort();
    data = base_ + page + (at_end ? room - bytes : 0);
  }
  ~Guarded() { munmap(base_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  char* data = nullptr;

 private:
  char* base_ = nullptr;
  std::size_t mapped_ = 0;
};

template <class T>
class GuardedArray {
 public:
  GuardedArray(const Shape& shape, bool at_end)
      : shape_(shape), memory_(static_cast<std::size_t>(element_count(shape)) * sizeof(T), at_end) {
    for (Index i = 0; i < element_count(shape); ++i) data()[i] = static_cast<T>(i * 37 % 101);
  }
  T* data() { return reinterpret_cast<T*>(memory_.data); }
  View<T> view() { return {data(), shape_}; }

 private:
  Shape shape_;
  Guarded memory_;
};

}  // namespace ndpool::testing
