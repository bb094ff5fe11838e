// One pass of exp, or of pow, over an array: the limit of smooth max and of Lp where that is above streaming. The
// kernels' own functions are no part of the library's interface, so these are plain loops that the compiler vectorises:
// polynomials with the power of two put into the exponent, without special cases.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ndpool::bench {

namespace detail {

template <class T>
struct FloatBits;
template <>
struct FloatBits<float> {
  using Unsigned = std::uint32_t;
  static constexpr int fraction_bits = 23, exp_degree = 6, log_terms = 5;
  static constexpr float ln2_high = 0.693145752F, ln2_low = 1.42860677e-6F;
};
template <>
struct FloatBits<double> {
  using Unsigned = std::uint64_t;
  static constexpr int fraction_bits = 52, exp_degree = 12, log_terms = 10;
  static constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
};

/// Adding it to a small number rounds that to an integer, which is then in the last bits.
template <class T>
inline constexpr T to_integers = static_cast<T>(std::uint64_t{3} << (FloatBits<T>::fraction_bits - 1));

/// 1 / (i!).
template <class T>
inline constexpr auto exp_coefficients = [] {
  std::array<T, FloatBits<T>::exp_degree + 1> coefficients{};
  double value = 1;
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    coefficients[i] = static_cast<T>(value);
    value /= static_cast<double>(i + 1);
  }
  return coefficients;
}();

/// 2 / (2 i + 1), of the series of log((1 + t) / (1 - t)).
template <class T>
inline constexpr auto log_coefficients = [] {
  std::array<T, FloatBits<T>::log_terms> coefficients{};
  for (std::size_t i = 0; i < coefficients.size(); ++i)
    coefficients[i] = static_cast<T>(2.0 / (2.0 * static_cast<double>(i) + 1.0));
  return coefficients;
}();

template <class T, std::size_t Count>
[[gnu::always_inline]] inline T polynomial(T x, const std::array<T, Count>& coefficients) {
  T value = coefficients[Count - 1];
#pragma GCC unroll 16
  for (std::size_t i = Count - 1; i > 0; --i) value = value * x + coefficients[i - 1];
  return value;
}

template <class T>
[[gnu::always_inline]] inline T exp_of(T x) {
  using Bits = FloatBits<T>;
  using Unsigned = typename Bits::Unsigned;
  const T shifted = x * static_cast<T>(1.4426950408889634) + to_integers<T>;
  const T n = shifted - to_integers<T>;
  const T r = (x - n * Bits::ln2_high) - n * Bits::ln2_low;
  return std::bit_cast<T>(std::bit_cast<Unsigned>(polynomial(r, exp_coefficients<T>)) +
                          (std::bit_cast<Unsigned>(shifted) << Bits::fraction_bits));
}

/// log |x|. Reduces x to a factor between sqrt(1/2) and sqrt(2).
template <class T>
[[gnu::always_inline]] inline T log_of(T x) {
  using Bits = FloatBits<T>;
  using Unsigned = typename Bits::Unsigned;
  constexpr Unsigned one = std::bit_cast<Unsigned>(T(1)), low = std::bit_cast<Unsigned>(static_cast<T>(0.70710678));
  const Unsigned bits = std::bit_cast<Unsigned>(x) & ~(Unsigned{1} << (8 * sizeof(T) - 1));
  const Unsigned exponent = (bits - low + one) >> Bits::fraction_bits;  // biased, so that it is never negative
  const T factor = std::bit_cast<T>(bits - (exponent << Bits::fraction_bits) + one);
  const T n = std::bit_cast<T>(exponent + std::bit_cast<Unsigned>(to_integers<T>)) -
              (to_integers<T> + static_cast<T>(one >> Bits::fraction_bits));
  const T t = (factor - 1) / (factor + 1);
  return n * Bits::ln2_high + (n * Bits::ln2_low + t * polynomial(t * t, log_coefficients<T>));
}

/// Calls `f` on every element, block by block into `block`, which stays in the first-level cache.
template <class T, class F>
[[gnu::always_inline]] inline void pass_over(const T* in, std::size_t count, T* block, std::size_t block_size, F f) {
  for (std::size_t begin = 0; begin < count; begin += block_size) {
    const std::size_t size = std::min(block_size, count - begin);
    for (std::size_t i = 0; i < size; ++i) block[i] = f(in[begin + i]);
  }
}

}  // namespace detail

/// The exp of every element. A pass writes nothing but `block`.
#define NDPOOL_ROW(T)                                                                                              \
  __attribute__((target_clones("avx2", "default"))) inline void exp_pass(const T* in, std::size_t count, T* block, \
                                                                         std::size_t size) {                       \
    detail::pass_over(in, count, block, size, [](T x) { return detail::exp_of(x); });                              \
  }
NDPOOL_ROW(float)
NDPOOL_ROW(double)
#undef NDPOOL_ROW

/// |x| to the power p of every element.
#define NDPOOL_ROW(T)                                                                                         \
  __attribute__((target_clones("avx2", "default"))) inline void pow_pass(const T* in, std::size_t count, T p, \
                                                                         T* block, std::size_t size) {        \
    detail::pass_over(in, count, block, size, [p](T x) { return detail::exp_of(p * detail::log_of(x)); });    \
  }
NDPOOL_ROW(float)
NDPOOL_ROW(double)
#undef NDPOOL_ROW

}  // namespace ndpool::bench
