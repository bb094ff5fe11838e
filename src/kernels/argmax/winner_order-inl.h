// Per-target code: which of two taps wins, and how winners are numbered. No include guard of the usual kind: see
// rows-inl.h.
#if defined(NDPOOL_WINNER_ORDER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_WINNER_ORDER_INL_H_
#undef NDPOOL_WINNER_ORDER_INL_H_
#else
#define NDPOOL_WINNER_ORDER_INL_H_
#endif

#include "kernels/forward/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Numbers of the size of T. Signed ones compare faster, but only the longer ones hold all tap numbers then.
template <class T>
using TapOf = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t, std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>>;

/// How elements are looked at so that the winner is always the largest of signed numbers: with some bits flipped. That
/// turns their order around for minima, and the upper half of unsigned numbers below the lower one.
template <class T>
struct Order {
  static_assert(std::is_arithmetic_v<T>);
  using Bits = hwy::MakeUnsigned<T>;
  using Signed = std::conditional_t<std::is_floating_point_v<T>, T, hwy::MakeSigned<T>>;
  static constexpr Bits flipped(Combine kind) {
    const Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1)), all = static_cast<Bits>(~Bits{0});
    const bool is_min = kind == Combine::min;
    if (std::is_floating_point_v<T>) return is_min ? sign : Bits{0};
    return static_cast<Bits>((is_min ? all : Bits{0}) ^ (std::is_unsigned_v<T> ? sign : Bits{0}));
  }
};

/// Values with the taps they come from, and the rules by which a larger one displaces another.
template <class T, Nan nan>
struct Winner {
  using Tap = TapOf<T>;
  using D = hn::ScalableTag<T>;
  using DTap = hn::ScalableTag<Tap>;
  static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
  /// The tap of padding: it comes after every other one, also when it is shifted.
  static constexpr Tap no_tap = sizeof(T) <= 2 ? std::numeric_limits<Tap>::max() : Tap{1} << 30;

  hn::Vec<D> value;
  hn::Vec<DTap> tap;

  template <Index step>
  static HWY_INLINE Winner load(const T* values, const Tap* taps) {
    if constexpr (step == 1 || lanes == 1) {
      return {hn::LoadU(D(), values), hn::LoadU(DTap(), taps)};
    } else {
#if HWY_TARGET != HWY_SCALAR
      static_assert(step == 2);
      return {hn::ConcatEven(D(), hn::LoadU(D(), values + lanes), hn::LoadU(D(), values)),
              hn::ConcatEven(DTap(), hn::LoadU(DTap(), taps + lanes), hn::LoadU(DTap(), taps))};
#endif
    }
  }
  HWY_INLINE void store(T* values, Tap* taps) const {
    hn::StoreU(value, D(), values);
    hn::StoreU(tap, DTap(), taps);
  }
  HWY_INLINE Winner shifted(hn::Vec<DTap> by) const {
    if constexpr (sizeof(T) <= 2)
      return {value, hn::SaturatedAdd(tap, by)};
    else
      return {value, hn::Add(tap, by)};
  }

  /// Strictly larger. NaN equals NaN; whether it beats numbers or loses to them is the policy.
  static HWY_INLINE hn::Mask<D> beats(hn::Vec<D> a, hn::Vec<D> b) {
    if constexpr (!std::numeric_limits<T>::has_quiet_NaN) {
      return hn::Gt(a, b);
    } else {
      // A comparison with NaN is false, so its contrary is true for either; the policy says which of them must be none.
      const auto number = nan == Nan::propagate ? b : a;
      return hn::AndNot(hn::Le(a, b), hn::Eq(number, number));
    }
  }

  /// For a candidate that comes later in row-major order: it has to be better.
  HWY_INLINE void take_later(const Winner& candidate) { take(candidate, beats(candidate.value, value)); }
  /// For any candidate: where both are equal, the first in row-major order wins.
  HWY_INLINE void take_any(const Winner& candidate) {
    const auto is_before = hn::RebindMask(D(), hn::Lt(candidate.tap, tap));
    take(candidate, hn::Or(beats(candidate.value, value), hn::AndNot(beats(value, candidate.value), is_before)));
  }

 private:
  HWY_INLINE void take(const Winner& candidate, hn::Mask<D> wins) {
    value = hn::IfThenElse(wins, candidate.value, value);
    tap = hn::IfThenElse(hn::RebindMask(DTap(), wins), candidate.tap, tap);
  }
};

/// How winners are numbered while they are looked for: by their taps, or by where their cells are relative to tap 0, as
/// flat indices count. Both grow in row-major order of the cells.
enum class Numbering : unsigned char { taps, cells };

/// True if the numbers of all cells fit 32 bits well, padding included.
inline bool can_number_cells(const Rows& rows) {
  Index cells = 1;
  const auto add_axis = [&cells](const Axis& axis) {
    const Index reach = axis.adaptive ? axis.input : axis.lo + axis.input + axis.hi + axis.stride;
    return !__builtin_mul_overflow(cells, reach, &cells) && cells < Index{1} << 28;
  };
  if (rows.horizontal.window.adaptive || !add_axis(rows.horizontal.window)) return false;
  for (int v = 0; v < rows.vertical_count; ++v)
    if (!add_axis(rows.vertical[v].window)) return false;
  return true;
}

/// What a tap on an axis adds to the number of a winner. A window of one cell may have any dilation, which nobody asks
/// for.
inline Index number_weight(const PooledAxis& axis, Numbering numbering) {
  if (numbering == Numbering::taps) return axis.tap_stride;
  return axis.window.kernel == 1 ? 0 : axis.window.dilation * axis.cell_stride;
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_WINNER_ORDER_INL_H_
