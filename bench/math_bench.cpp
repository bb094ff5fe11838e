// exp, log and pow of the kernels beside those of Highway and SLEEF: the largest error over a million arguments,
// against long double, and the time of one element in the first-level cache. Compiled for AVX2 alone, so that all three
// run the same instructions.
//
//   build/bench/bench/math_bench
#include "kernels/simd/math-inl.h"

#include <hwy/contrib/math/math-inl.h>

#ifdef NDPOOL_HAS_SLEEF
#include <sleef.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace ndpool::bench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace target = ndpool::HWY_NAMESPACE;

constexpr double power = 2.3;

template <class T, class Body>
void for_each_vector(const T* x, T* y, std::size_t count, Body body) {
  const hn::ScalableTag<T> d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) hn::StoreU(body(d, hn::LoadU(d, x + i)), d, y + i);
}

// One struct per way; each has exp, log and pow over arrays of whole vectors.
struct Kernels {
  static constexpr const char* name = "ndpool";
  static constexpr bool has_pow = true;
  template <class T>
  static void exp(const T* x, T* y, std::size_t n) {
    for_each_vector(x, y, n, [](auto d, auto v) { return target::Exp(d, v); });
  }
  template <class T>
  static void log(const T* x, T* y, std::size_t n) {
    for_each_vector(x, y, n, [](auto d, auto v) { return target::Log(d, v); });
  }
  template <class T>
  static void pow(const T* x, T* y, std::size_t n) {
    for_each_vector(x, y, n, [](auto d, auto v) { return target::PowPositive(d, v, static_cast<T>(power)); });
  }
};

struct Highway {
  static constexpr const char* name = "Highway contrib/math";
  static constexpr bool has_pow = false;
  template <class T>
  static void exp(const T* x, T* y, std::size_t n) {
    for_each_vector(x, y, n, [](auto d, auto v) { return hn::Exp(d, v); });
  }
  template <class T>
  static void log(const T* x, T* y, std::size_t n) {
    for_each_vector(x, y, n, [](auto d, auto v) { return hn::Log(d, v); });
  }
};

#ifdef NDPOOL_HAS_SLEEF
struct Sleef {
  static constexpr const char* name = "SLEEF, 1 ulp";
  static constexpr bool has_pow = true;
  template <class F, class D>
  static void each(const float* x, float* y, std::size_t n, F of_float, D) {
    for (std::size_t i = 0; i < n; i += 8) _mm256_storeu_ps(y + i, of_float(_mm256_loadu_ps(x + i)));
  }
  template <class F, class D>
  static void each(const double* x, double* y, std::size_t n, F, D of_double) {
    for (std::size_t i = 0; i < n; i += 4) _mm256_storeu_pd(y + i, of_double(_mm256_loadu_pd(x + i)));
  }
  template <class T>
  static void exp(const T* x, T* y, std::size_t n) {
    each(x, y, n, Sleef_expf8_u10avx2, Sleef_expd4_u10avx2);
  }
  template <class T>
  static void log(const T* x, T* y, std::size_t n) {
    each(x, y, n, Sleef_logf8_u10avx2, Sleef_logd4_u10avx2);
  }
  template <class T>
  static void pow(const T* x, T* y, std::size_t n) {
    each(
        x, y, n, [](__m256 v) { return Sleef_powf8_u10avx2(v, _mm256_set1_ps(static_cast<float>(power))); },
        [](__m256d v) { return Sleef_powd4_u10avx2(v, _mm256_set1_pd(power)); });
  }
};
#endif

/// The error in units of the last place of the exact result; 0 where that is no normal number.
template <class T>
double error_in_ulp(T got, long double exact) {
  const T nearest = static_cast<T>(exact);
  if (!std::isnormal(nearest)) return 0;
  const T ulp = std::nextafter(std::fabs(nearest), std::numeric_limits<T>::infinity()) - std::fabs(nearest);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) / ulp);
}

constexpr std::size_t arguments = 1 << 20, block = 1 << 11;

template <class T>
std::vector<T> draw(double lowest, double highest, bool spread_exponents) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> number(lowest, highest);
  std::vector<T> x(arguments);
  for (T& one : x) one = static_cast<T>(spread_exponents ? std::exp2(number(random)) : number(random));
  return x;
}

template <class T, class Function, class Exact>
void measure(const char* scalar, const char* function, const char* way, const std::vector<T>& x, Function f,
             Exact exact) {
  std::vector<T> y(arguments);
  f(x.data(), y.data(), arguments);
  double largest = 0;
  for (std::size_t i = 0; i < arguments; ++i) largest = std::max(largest, error_in_ulp(y[i], exact(x[i])));
  double best = 1;
  for (int round = 0; round < 200; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int repeat = 0; repeat < 8; ++repeat) f(x.data(), y.data(), block);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    best = std::min(best, taken.count() / (8.0 * block));
  }
  std::printf("%-7s %-4s %-22s %6.2f ulp  %6.2f ns\n", scalar, function, way, largest, best * 1e9);
}

template <class Way, class T>
void measure_functions(const char* scalar) {
  constexpr bool is_float = sizeof(T) == 4;
  measure(scalar, "exp", Way::name, draw<T>(is_float ? -87 : -708, is_float ? 88 : 709, false), Way::template exp<T>,
          [](T x) { return std::exp(static_cast<long double>(x)); });
  measure(scalar, "log", Way::name, draw<T>(is_float ? -126 : -1022, is_float ? 127 : 1023, true), Way::template log<T>,
          [](T x) { return std::log(static_cast<long double>(x)); });
  if constexpr (Way::has_pow)
    measure(scalar, "pow", Way::name, draw<T>(-10, 10, true), Way::template pow<T>,
            [](T x) { return std::pow(static_cast<long double>(x), static_cast<long double>(static_cast<T>(power))); });
}

template <class Way>
void measure_way() {
  measure_functions<Way, float>("float");
  measure_functions<Way, double>("double");
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool::bench
HWY_AFTER_NAMESPACE();

int main() {
  if (!__builtin_cpu_supports("avx2")) {
    std::puts("this processor has no AVX2");
    return 0;
  }
  using namespace ndpool::bench::HWY_NAMESPACE;
  measure_way<Kernels>();
  measure_way<Highway>();
#ifdef NDPOOL_HAS_SLEEF
  measure_way<Sleef>();
#else
  std::puts("SLEEF (libsleef-dev) was not found when this was built");
#endif
}
