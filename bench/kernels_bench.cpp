// Kernels against the streaming limit: for every case of bench/cases the time of one forward pass, the time it takes to
// read the input once and write the output once, measured alternately in the same process, and the ratio of the two.
#include "support/problem.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace {

using ndpool::Index;

/// Reads `in` and writes `out`, interleaved in blocks as a pool would.
class Stream {
 public:
  Stream(const char* in, std::size_t in_bytes, char* out, std::size_t out_bytes)
      : in_(in), in_bytes_(in_bytes), out_(out), out_bytes_(out_bytes) {}

  __attribute__((target_clones("avx2", "default"))) void run(std::size_t block, bool non_temporal) {
    const std::size_t blocks = out_bytes_ / block + 1;
    for (std::size_t b = 0; b < blocks; ++b) {
      read(in_bytes_ * b / blocks, in_bytes_ * (b + 1) / blocks);
      write(out_bytes_ * b / blocks / 64 * 64, b + 1 == blocks ? out_bytes_ : out_bytes_ * (b + 1) / blocks / 64 * 64,
            non_temporal);
    }
  }

 private:
  __attribute__((target_clones("avx2", "default"))) void read(std::size_t begin, std::size_t end) {
    typedef std::uint64_t Lanes __attribute__((vector_size(32), aligned(8), may_alias));
    Lanes sums[4] = {};
    for (std::size_t i = begin / 128 * 128; i + 128 <= end; i += 128)
      for (std::size_t k = 0; k < 4; ++k) sums[k] += *reinterpret_cast<const Lanes*>(in_ + i + 32 * k);
    const Lanes sum = sums[0] + sums[1] + sums[2] + sums[3];
    kept_ = kept_ + sum[0] + sum[1] + sum[2] + sum[3];
  }
  void write(std::size_t begin, std::size_t end, [[maybe_unused]] bool non_temporal) {
#ifdef __SSE2__
    if (non_temporal) {
      const __m128i value = _mm_set1_epi8(1);
      for (std::size_t i = begin; i + 16 <= end; i += 16) _mm_stream_si128(reinterpret_cast<__m128i*>(out_ + i), value);
      _mm_sfence();
      return;
    }
#endif
    std::memset(out_ + begin, 1, end - begin);
  }

  const char* in_;
  std::size_t in_bytes_;
  char* out_;
  std::size_t out_bytes_;
  volatile std::uint64_t kept_ = 0;
};

template <class F>
double seconds(F f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::unique_ptr<char[], decltype(&std::free)> aligned(std::size_t bytes) {
  return {static_cast<char*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64)), &std::free};
}

template <class T>
void measure(const std::string& name, const ndpool::testing::Problem& problem) {
  const auto plan = problem.pool.plan<T>(problem.shape);
  const auto in_count = static_cast<std::size_t>(ndpool::element_count(problem.shape));
  const auto out_count = static_cast<std::size_t>(ndpool::element_count(plan.output_shape()));
  const auto in = aligned(in_count * sizeof(T)), out = aligned(out_count * sizeof(T));
  T* x = reinterpret_cast<T*>(in.get());
  for (std::size_t i = 0; i < in_count; ++i) x[i] = static_cast<T>(i * 2654435761U % 251);
  std::memset(out.get(), 0, out_count * sizeof(T));
  T* y = reinterpret_cast<T*>(out.get());
  Stream stream(in.get(), in_count * sizeof(T), out.get(), out_count * sizeof(T));

  double kernel = 1e9, limit = 1e9, total = 0;
  for (int run = 0; (run < 15 || total < 0.4) && run < 20000; ++run) {
    const double once = seconds([&] { plan.forward(x, y); });
    kernel = std::min(kernel, once);
    for (const std::size_t block : {std::size_t{4096}, std::size_t{65536}})
      for (const bool non_temporal : {false, true})
        limit = std::min(limit, seconds([&] { stream.run(block, non_temporal); }));
    total += once;
  }
  std::printf("%-26s %10.1f us %10.1f us %7.2f\n", name.c_str(), kernel * 1e6, limit * 1e6, kernel / limit);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  ndpool::set_threads(1);
  std::printf("one thread, target %s\n%-26s %13s %13s %7s\n", ndpool::target().c_str(), "case", "time", "limit",
              "ratio");
  for (const auto& [name, line] : ndpool::testing::read_cases("../../bench/cases/goals.txt")) {
    if (argc > 1 && name.find(argv[1]) == std::string::npos) continue;
    const std::size_t bar = line.find(" | ");
    const ndpool::testing::Problem problem = ndpool::testing::parse_problem(line.substr(0, bar));
    const std::string scalar = line.substr(bar + 3);
#define NDPOOL_ROW(kind, type) \
  if (scalar == #kind) measure<type>(name, problem);
    NDPOOL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
  }
}
