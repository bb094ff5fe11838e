#include "kernels/general/choose.hpp"

#include "kernels/ties/pair.hpp"

#include <cmath>
#include <limits>

namespace ndpool::general {

namespace {

/// How floats are ordered as integers.
template <class T>
void order_floats(const KernelChoice& choice, Finish& finish) {
  finish.flip = choice.combine == Combine::min ? -1 : 0;
  finish.ignores_nan = choice.nan == Nan::ignore;
  const int mantissa_bits = sizeof(T) == 8 ? 52 : sizeof(T) == 4 ? 23 : std::is_same_v<T, f16> ? 10 : 7;
  finish.infinity =
      std::int64_t{-1} << mantissa_bits & (std::numeric_limits<std::int64_t>::max() >> (64 - 8 * sizeof(T)));
  finish.quiet_bit = std::int64_t{1} << (mantissa_bits - 1);
}

template <class T>
std::optional<ElementChoice> extreme_of(const KernelChoice& choice) {
  const bool is_min = choice.combine == Combine::min;
  ElementChoice element;
  element.traits = {sizeof(T), sizeof(T), false};
  Finish& finish = element.finish;
  constexpr auto highest_bit = static_cast<std::int64_t>(std::uint64_t{1} << (8 * sizeof(T) - 1));
  if constexpr (std::is_integral_v<T>) {
    constexpr ElementKind kinds[] = {ElementKind::max8, ElementKind::max16, ElementKind::max32, ElementKind::max64};
    element.kind = kinds[std::bit_width(sizeof(T)) - 1];
    // Numbers are compared as unsigned, those of 64 bits as signed.
    const bool flips_sign = std::is_signed_v<T> != (sizeof(T) == 8);
    finish.flip = (flips_sign ? highest_bit : 0) ^ (is_min ? -1 : 0);
    if (std::is_same_v<T, bool>) finish.flip = is_min ? 1 : 0;
  } else if (std::is_floating_point_v<T> && choice.nan == Nan::propagate) {
    element.kind = sizeof(T) == 4 ? ElementKind::max_f32 : ElementKind::max_f64;
    finish.flip = is_min ? highest_bit : 0;
  } else {
    element.kind = sizeof(T) == 2 ? ElementKind::key16 : sizeof(T) == 4 ? ElementKind::key32 : ElementKind::key64;
    order_floats<T>(choice, finish);
  }
  return element;
}

/// Of a sum of `taps` numbers of magnitude 2^bits: the bits of its magnitude.
int sum_bits(int bits, Index taps) { return bits + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(taps))); }

template <class T>
std::optional<ElementChoice> sum_of(const KernelChoice& choice, Index taps) {
  ElementChoice element;
  Finish& finish = element.finish;
  finish.averages = choice.averages;
  finish.rounding = choice.average.rounding;
  if constexpr (!std::is_integral_v<T>) {
    element.kind = std::is_same_v<T, float>    ? ElementKind::sum_f32
                   : std::is_same_v<T, double> ? ElementKind::sum_f64
                   : std::is_same_v<T, f16>    ? ElementKind::sum_f16
                                               : ElementKind::sum_bf16;
    element.traits = {sizeof(T), sizeof(T) == 8 ? std::size_t{8} : std::size_t{4}, true};
    return element;
  } else {
    constexpr int bits = std::numeric_limits<T>::digits + (std::is_signed_v<T> ? 1 : 0);
    constexpr Index few = 255;
    constexpr bool is_signed = std::is_signed_v<T>;
    const int all = sum_bits(bits, taps);
    finish.is_bool = std::is_same_v<T, bool>;
    finish.quotients_fit_float = all <= 22;
    finish.quotients_fit_double = all <= 51;
    const auto use = [&element](ElementKind kind, std::size_t work_size) {
      element.kind = kind;
      element.traits = {sizeof(T), work_size, true};
    };
    using Kind = ElementKind;
    if constexpr (sizeof(T) == 8)
      use(is_signed ? Kind::wide_i64 : Kind::wide_u64, 16);
    else if constexpr (sizeof(T) == 4)
      all <= 62 ? use(is_signed ? Kind::sum_i32 : Kind::sum_u32, 8)
                : use(is_signed ? Kind::wide_i32 : Kind::wide_u32, 16);
    else if constexpr (sizeof(T) == 2)
      all <= 30 ? use(is_signed ? Kind::sum_i16 : Kind::sum_u16, 4)
                : use(is_signed ? Kind::wide_i16 : Kind::wide_u16, 16);
    else if (taps <= few)
      use(is_signed ? Kind::few_i8 : Kind::few_u8, 2);
    else
      all <= 30 ? use(is_signed ? Kind::sum_i8 : Kind::sum_u8, 4) : use(is_signed ? Kind::wide_i8 : Kind::wide_u8, 16);
    return element;
  }
}

template <class T>
std::vector<PositionChoice> positions_of(const KernelChoice& choice) {
  const bool is_min = choice.combine == Combine::min;
  ElementChoice element;
  element.traits = {.stored_size = sizeof(T), .work_size = 4, .has_positions = true};
  Finish& finish = element.finish;
  if constexpr (std::is_integral_v<T>) {
    const auto highest_bit = static_cast<std::int64_t>(std::uint64_t{1} << (8 * sizeof(T) - 1));
    finish.flip = (std::is_signed_v<T> ? highest_bit : 0) ^ (is_min ? -1 : 0);
    if (std::is_same_v<T, bool>) finish.flip = is_min ? 1 : 0;
  } else {
    order_floats<T>(choice, finish);
  }
  const auto with = [&element](ElementKind kind, std::size_t size, Index max_position) {
    PositionChoice position{element, max_position};
    position.element.kind = kind;
    position.element.traits.work_size = size;
    return position;
  };
  constexpr Index all = (Index{1} << 48) - 2;
  if constexpr (sizeof(T) == 8) return {with(ElementKind::position64, 16, std::numeric_limits<Index>::max())};
  if constexpr (sizeof(T) == 4) return {with(ElementKind::position32, 8, 0xFFFF'FFFE)};
  if constexpr (sizeof(T) == 2)
    return {with(ElementKind::position16, 4, 0xFFFE), with(ElementKind::far_position16, 8, all)};
  return {with(ElementKind::position8, 4, 0xFF'FFFE), with(ElementKind::far_position8, 8, all)};
}

}  // namespace

ElementChoice tie_element(bool is_double) {
  ElementChoice element;
  const std::size_t size = is_double ? sizeof(ties::Pair<double>) : sizeof(ties::Pair<float>);
  element.kind = is_double ? ElementKind::ties_f64 : ElementKind::ties_f32;
  element.traits = {size, size, true};
  return element;
}

std::vector<PositionChoice> choose_position_elements(ScalarKind scalar, const KernelChoice& choice) {
  if (choice.combine != Combine::max && choice.combine != Combine::min) return {};
  switch (scalar) {
#define NDPOOL_ROW(name, type) \
  case ScalarKind::kind_##name: return positions_of<type>(choice);
    NDPOOL_ALL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
    case ScalarKind::none: break;
  }
  return {};
}

std::optional<ElementChoice> choose_element(ScalarKind scalar, const KernelChoice& choice, Index taps) {
  if (choice.combine != Combine::max && choice.combine != Combine::min && choice.combine != Combine::sum)
    return std::nullopt;
  constexpr Index max_divisor = Index{1} << 53;  // exact as a double
  if (choice.averages && choice.average.divisor != AverageOptions::no_divisor &&
      std::abs(choice.average.divisor) > max_divisor)
    return std::nullopt;
  switch (scalar) {
#define NDPOOL_ROW(name, type)  \
  case ScalarKind::kind_##name: \
    return choice.combine == Combine::sum ? sum_of<type>(choice, taps) : extreme_of<type>(choice);
    NDPOOL_ALL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
    case ScalarKind::none: break;
  }
  return std::nullopt;
}

}  // namespace ndpool::general
