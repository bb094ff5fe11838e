// The streaming limit: the time it takes to read some arrays once and to write others once, with nothing computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace ndpool::bench {

/// A piece of memory that starts on a cache line and is a whole number of steps long.
class Buffer {
 public:
  static constexpr std::size_t step = 128;

  /// Empty buffers take no part in a stream.
  explicit Buffer(std::size_t bytes = 0)
      : bytes_((bytes + step - 1) / step * step),
        data_(static_cast<char*>(bytes == 0 ? nullptr : std::aligned_alloc(step, bytes_)), &std::free) {
    if (bytes_ > 0) std::memset(data_.get(), 0, bytes_);
  }
  std::size_t bytes() const { return bytes_; }
  char* data() const { return data_.get(); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_.get());
  }

 private:
  std::size_t bytes_;
  std::unique_ptr<char, decltype(&std::free)> data_;
};

/// Non-temporal stores pass by the cache: the best for arrays that do not fit into it.
enum class Stores : unsigned char { plain, non_temporal };

namespace detail {

__attribute__((target_clones("avx2", "default"))) inline std::uint64_t read_all(const char* from, std::size_t bytes) {
  typedef std::uint64_t Lanes __attribute__((vector_size(32), aligned(8), may_alias));
  Lanes sums[4] = {};
  for (std::size_t i = 0; i < bytes; i += Buffer::step)
    for (std::size_t k = 0; k < 4; ++k) sums[k] += *reinterpret_cast<const Lanes*>(from + i + 32 * k);
  const Lanes sum = sums[0] + sums[1] + sums[2] + sums[3];
  return sum[0] + sum[1] + sum[2] + sum[3];
}

inline void write_all(char* to, std::size_t bytes, [[maybe_unused]] Stores stores) {
#ifdef __SSE2__
  if (stores == Stores::non_temporal) {
    const __m128i value = _mm_set1_epi8(1);
    for (std::size_t i = 0; i < bytes; i += 16) _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), value);
    _mm_sfence();
    return;
  }
#endif
  std::memset(to, 1, bytes);
}

}  // namespace detail

/// Goes through all arrays at the same time in blocks of so many bytes written, as a pool would.
class Stream {
 public:
  Stream(std::vector<const Buffer*> reads, std::vector<const Buffer*> writes)
      : reads_(std::move(reads)), writes_(std::move(writes)) {}

  /// All that is read and written.
  std::size_t bytes() const {
    std::size_t bytes = 0;
    for (const auto* buffers : {&reads_, &writes_})
      for (const Buffer* buffer : *buffers) bytes += buffer->bytes();
    return bytes;
  }

  void run(Stores stores, std::size_t block) {
    std::size_t most = 0;
    for (const Buffer* buffer : writes_) most = buffer->bytes() > most ? buffer->bytes() : most;
    const std::size_t blocks = most / block + 1;
    for (std::size_t b = 0; b < blocks; ++b) {
      const auto share = [&](const Buffer& buffer, auto use) {
        const std::size_t steps = buffer.bytes() / Buffer::step;
        const std::size_t begin = steps * b / blocks * Buffer::step, end = steps * (b + 1) / blocks * Buffer::step;
        use(buffer.data() + begin, end - begin);
      };
      for (const Buffer* buffer : reads_)
        share(*buffer, [&](const char* from, std::size_t bytes) { kept_ = kept_ + detail::read_all(from, bytes); });
      for (const Buffer* buffer : writes_)
        share(*buffer, [&](char* to, std::size_t bytes) { detail::write_all(to, bytes, stores); });
    }
  }

 private:
  std::vector<const Buffer*> reads_, writes_;
  volatile std::uint64_t kept_ = 0;  // nobody looks at it, but the compiler has to believe that somebody might
};

}  // namespace ndpool::bench
