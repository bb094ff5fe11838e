// Division and residues of whole numbers, without overflow: what window arithmetic is made of.
#pragma once

#include <ndpool/fault.hpp>

namespace ndpool {

namespace detail {

// For b > 0. Strides and dilations are 1 so often that asking first is cheaper than dividing.
constexpr Index ceil_divide(Index a, Index b) { return b == 1 ? a : a / b + (a % b > 0 ? 1 : 0); }
constexpr Index floor_divide(Index a, Index b) { return b == 1 ? a : a / b - (a % b < 0 ? 1 : 0); }
constexpr Index common_divisor(Index a, Index b) {
  while (b != 0) {
    const Index rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

struct Quotient {
  Index floor;
  Index rest;
};

/// a * b / c for a, b >= 0 and c > 0, exact although a * b may need 128 bits; the quotient itself must fit.
constexpr Quotient multiply_divide(Index a, Index b, Index c) {
  Index product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return {product / c, product % c};
  const auto divisor = static_cast<std::uint64_t>(c);
  const auto factor = static_cast<std::uint64_t>(b);
  std::uint64_t quotient = 0, rest = 0;  // rest < divisor < 2^63, so doubling it never wraps
  for (int bit = 62; bit >= 0; --bit) {
    quotient *= 2;
    rest *= 2;
    if (rest >= divisor) rest -= divisor, ++quotient;
    if ((static_cast<std::uint64_t>(a) >> bit & 1) == 0) continue;
    quotient += factor / divisor;
    rest += factor % divisor;
    if (rest >= divisor) rest -= divisor, ++quotient;
  }
  return {static_cast<Index>(quotient), static_cast<Index>(rest)};
}

/// Whole numbers from `low` to `high`, both included.
struct Interval {
  Index low;
  Index high;
};

/// The smallest n >= 0 with (n * step) mod modulus in `wanted`, or -1; for 0 <= step < modulus and 0 <= low <= high <
/// modulus. Euclid's algorithm on (modulus, step): halves the modulus at least, so that it needs 63 rounds at most.
constexpr Index first_multiple_in(Index step, Index modulus, Interval wanted) {
  if (wanted.low == 0) return 0;
  if (step == 0) return -1;
  if (step > modulus - step) {  // count down instead of up
    step = modulus - step;
    wanted = {modulus - wanted.high, modulus - wanted.low};
  }
  const Index direct = ceil_divide(wanted.low, step);
  if (direct <= wanted.high / step) return direct;
  // n * step - turns * modulus is in the interval, which holds no multiple of step: so turns * modulus mod step is in
  // the negated one.
  const Interval negated{step - 1 - (wanted.high - 1) % step, step - 1 - (wanted.low - 1) % step};
  const Index turns = first_multiple_in(modulus % step, step, negated);
  if (turns < 0) return -1;
  const Quotient whole = multiply_divide(turns, modulus, step);
  return whole.floor + wanted.low / step + ceil_divide(wanted.low % step + whole.rest, step);
}

/// The smallest n >= 0 with (first + n * step) mod modulus in `wanted`, or -1; for 0 <= first < modulus, step >= 0 and
/// 0 <= low <= high < modulus.
constexpr Index first_residue_in(Index step, Index first, Index modulus, Interval wanted) {
  if (wanted.low <= first && first <= wanted.high) return 0;
  const auto less_first = [&](Index number) { return number < first ? number - first + modulus : number - first; };
  return first_multiple_in(step % modulus, modulus, {less_first(wanted.low), less_first(wanted.high)});
}

}  // namespace detail

}  // namespace ndpool
