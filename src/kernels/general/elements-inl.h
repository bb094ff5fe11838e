// Per-target code: what an element is while the general engine combines it, how it is loaded from an array, and how it
// is stored. The only code of the engine per scalar. No include guard of the usual kind: see fold-inl.h.
#if defined(NDPOOL_GENERAL_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_GENERAL_ELEMENTS_INL_H_
#undef NDPOOL_GENERAL_ELEMENTS_INL_H_
#else
#define NDPOOL_GENERAL_ELEMENTS_INL_H_
#endif

#include "kernels/general/finish.hpp"
#include "kernels/ties/pair.hpp"

#include <ndpool/half.hpp>
#include <ndpool/spec/result.hpp>

#include <hwy/highway.h>

#include <bit>
#include <limits>

#undef NDPOOL_ALWAYS_INLINE
#define NDPOOL_ALWAYS_INLINE HWY_ATTR __attribute__((always_inline))

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace general {

namespace hn = hwy::HWY_NAMESPACE;
using namespace ndpool::general;  // what does not depend on the target

/// An integer whose highest bit comes first in its order: signed where the target has no unsigned maximum.
template <std::size_t size>
using OrderedBits = std::conditional_t<
    size == 1, std::uint8_t,
    std::conditional_t<size == 2, std::uint16_t, std::conditional_t<size == 4, std::uint32_t, std::int64_t>>>;

/// Types and loads that all elements share. `Stored` is what arrays hold, `Work` what rows of scratch hold, `Result`
/// what a fold writes at last.
template <class StoredT, class WorkT>
struct ElementBase {
  using Stored = StoredT;
  using Work = WorkT;
  using Result = StoredT;
  using D = hn::ScalableTag<Work>;
  using V = hn::Vec<D>;
  static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
  static constexpr bool is_sum = false;
  /// Stores finish what the last fold made; else a pass of its own does, which saves a copy of every loop where storing
  /// takes many instructions.
  static constexpr bool stores_fused = true;
  /// That pass is the element's own `finish_row`.
  static constexpr bool finishes_rows = false;
  /// Arrays and scratch hold the same numbers.
  static constexpr bool lifts_nothing = false;
  /// Elements carry the position of their cell; the input of a tile is lifted before it is folded.
  static constexpr bool has_positions = false;
  static HWY_INLINE V load(const Work* from) { return hn::LoadU(D(), from); }
  static HWY_INLINE void put(V v, Work* to) { hn::StoreU(v, D(), to); }
  static HWY_INLINE V splat(Work one) { return hn::Set(D(), one); }
};

/// Max of integers. `flip` makes it a minimum (all bits), or the maximum of the other signedness (highest bit).
template <class Bits>
struct IntegerMax : ElementBase<Bits, Bits> {
  using Base = ElementBase<Bits, Bits>;
  using typename Base::D;
  using typename Base::V;
  static Bits identity(const Finish&) { return std::numeric_limits<Bits>::lowest(); }
  static HWY_INLINE V flipped(V v, const Finish& f) { return hn::Xor(v, hn::Set(D(), static_cast<Bits>(f.flip))); }
  static HWY_INLINE V lift(const Bits* from, const Finish& f) { return flipped(hn::LoadU(D(), from), f); }
  static HWY_INLINE V combine(V a, V b) { return hn::Max(a, b); }
  static HWY_INLINE void store(V v, Bits* to, Index, const Finish& f) { hn::StoreU(flipped(v, f), D(), to); }
};

/// Max of floats that propagates NaN. `flip` is the sign bit for a minimum.
template <class T>
struct FloatMax : ElementBase<T, T> {
  using Base = ElementBase<T, T>;
  using typename Base::D;
  using typename Base::V;
  static T identity(const Finish&) { return -std::numeric_limits<T>::infinity(); }
  static HWY_INLINE V flipped(V v, const Finish& f) {
    const hn::RebindToSigned<D> bits;
    return hn::BitCast(D(),
                       hn::Xor(hn::BitCast(bits, v), hn::Set(bits, static_cast<hn::TFromD<decltype(bits)>>(f.flip))));
  }
  static HWY_INLINE V lift(const T* from, const Finish& f) { return flipped(hn::LoadU(D(), from), f); }
  /// Of two zeros the earlier stays, so that the sign of a result depends on its window alone.
  static HWY_INLINE V combine(V a, V b) {
    const V larger = hn::IfThenElse(hn::IsNaN(b), b, hn::Max(b, a));
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
    return larger;  // x86's maximum is its second operand if one is NaN, or if both are equal
#else
    return hn::IfThenElse(hn::IsNaN(a), a, larger);
#endif
  }
  static HWY_INLINE void store(V v, T* to, Index, const Finish& f) { hn::StoreU(flipped(v, f), D(), to); }
};

/// Max of floats as integers of the same order: of 16-bit floats, which needs no conversion, and of all floats whose
/// NaNs are ignored. `flip` complements keys for a minimum. Keys below that of -infinity are free: the lowest is the
/// identity, the next one NaN where it loses to every number.
template <class Bits>
struct KeyMax : ElementBase<Bits, Bits> {
  using Base = ElementBase<Bits, Bits>;
  using typename Base::D;
  using typename Base::V;
  static constexpr bool stores_fused = sizeof(Bits) == 2;  // f16 and bf16: 1.1 to 1.7 times as fast
  static constexpr int sign_shift = 8 * sizeof(Bits) - 1;
  static constexpr Bits lowest = std::numeric_limits<Bits>::lowest(), highest = std::numeric_limits<Bits>::max();
  static Bits identity(const Finish&) { return lowest; }
  static Bits nan_key(const Finish& f) { return f.ignores_nan ? static_cast<Bits>(lowest + 1) : highest; }
  static HWY_INLINE V ordered(V bits) {
    return hn::Xor(bits, hn::And(hn::ShiftRight<sign_shift>(bits), hn::Set(D(), highest)));
  }
  static HWY_INLINE V lift(const Bits* from, const Finish& f) {
    const V bits = hn::LoadU(D(), from);
    const auto is_nan = hn::Gt(hn::And(bits, hn::Set(D(), highest)), hn::Set(D(), static_cast<Bits>(f.infinity)));
    return hn::IfThenElse(is_nan, hn::Set(D(), nan_key(f)),
                          hn::Xor(ordered(bits), hn::Set(D(), static_cast<Bits>(f.flip))));
  }
  static HWY_INLINE V combine(V a, V b) { return hn::Max(a, b); }
  static HWY_INLINE void store(V key, Bits* to, Index, const Finish& f) {
    V bits = ordered(hn::Xor(key, hn::Set(D(), static_cast<Bits>(f.flip))));
    // The identity is -infinity, or +infinity for a minimum.
    const V infinity = hn::Set(D(), static_cast<Bits>(f.flip != 0 ? f.infinity : (f.infinity | lowest)));
    bits = hn::IfThenElse(hn::Eq(key, hn::Set(D(), lowest)), infinity, bits);
    const V nan = hn::Set(D(), static_cast<Bits>(f.infinity | f.quiet_bit));
    bits = hn::IfThenElse(hn::Eq(key, hn::Set(D(), nan_key(f))), nan, bits);
    hn::StoreU(bits, D(), to);
  }
};

/// What sums of `S` are kept in.
template <class S>
struct SumOf;
template <class S, class W>
struct SumBase : ElementBase<S, W> {
  static constexpr bool is_sum = true;
  static W identity(const Finish&) { return W(0); }
  static HWY_INLINE hn::Vec<hn::ScalableTag<W>> combine(hn::Vec<hn::ScalableTag<W>> a, hn::Vec<hn::ScalableTag<W>> b) {
    return hn::Add(a, b);
  }
};

/// The divisors of the vector at `i`: one for all, or one for each element.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V divided(D d, V sum, Index i, const Finish& f) {
  using T = hn::TFromD<D>;
  if (f.counts == nullptr) {
    if (f.reciprocal != 0) return hn::Mul(sum, hn::Set(d, static_cast<T>(f.reciprocal)));  // of a power of two: exact
    return hn::Div(sum, hn::Set(d, static_cast<T>(f.count)));
  }
  if constexpr (sizeof(T) == 8) {
    return hn::Div(sum, hn::Mul(hn::Set(d, f.count), hn::LoadU(d, f.counts + i)));
  } else {  // the product is exact in double, so that it is rounded once
#if HWY_TARGET == HWY_SCALAR
    return hn::Div(sum, hn::Set(d, static_cast<T>(f.count * f.counts[i])));
#else
    const hn::Rebind<double, hn::Half<D>> wide;
    const hn::Half<D> half;
    const auto count = hn::Set(wide, f.count);
    const auto low = hn::DemoteTo(half, hn::Mul(count, hn::LoadU(wide, f.counts + i)));
    const auto high = hn::DemoteTo(half, hn::Mul(count, hn::LoadU(wide, f.counts + i + hn::Lanes(wide))));
    return hn::Div(sum, hn::Combine(d, high, low));
#endif
  }
}

template <class T>
struct RealSum : SumBase<T, T> {
  using Base = SumBase<T, T>;
  static constexpr bool lifts_nothing = true;
  using typename Base::D;
  using typename Base::V;
  static HWY_INLINE V lift(const T* from, const Finish&) { return hn::LoadU(D(), from); }
  static HWY_INLINE V finished(V sum, Index i, const Finish& f) { return f.averages ? divided(D(), sum, i, f) : sum; }
  static HWY_INLINE void store(V sum, T* to, Index i, const Finish& f) { hn::StoreU(finished(sum, i, f), D(), to); }
};

/// Without instructions, Highway's conversions of f16 are wrong for infinities and NaN.
inline constexpr bool has_f16_instructions = HWY_TARGET <= HWY_AVX2 || HWY_TARGET == HWY_NEON;

/// Sums of 16-bit floats: widened when loaded, rounded once, to nearest even, when stored. NaNs keep their sign only.
template <class S>
struct HalfSum : SumBase<S, float> {
  using Base = SumBase<S, float>;
  using typename Base::D;
  using typename Base::V;
  using Bits = hn::Rebind<std::uint16_t, D>;
  static HWY_INLINE V lift(const S* from, const Finish&) {
    if constexpr (std::is_same_v<S, f16> && !has_f16_instructions) {
      alignas(64) float wide[hn::MaxLanes(D())];
      for (std::size_t i = 0; i < hn::Lanes(D()); ++i) wide[i] = static_cast<float>(from[i]);
      return hn::Load(D(), wide);
    } else if constexpr (std::is_same_v<S, f16>) {
      const hn::Rebind<hwy::float16_t, D> narrow;
      return hn::PromoteTo(D(), hn::LoadU(narrow, reinterpret_cast<const hwy::float16_t*>(from)));
    } else {
      const hn::Rebind<std::uint32_t, D> wide;
      const auto bits = hn::PromoteTo(wide, hn::LoadU(Bits(), reinterpret_cast<const std::uint16_t*>(from)));
      return hn::BitCast(D(), hn::ShiftLeft<16>(bits));
    }
  }
  static HWY_INLINE void store(V sum, S* to, Index i, const Finish& f) {
    V v = f.averages ? divided(D(), sum, i, f) : sum;
    v = hn::IfThenElse(hn::IsNaN(v), hn::CopySign(hn::Set(D(), std::numeric_limits<float>::quiet_NaN()), v), v);
    auto* const at = reinterpret_cast<std::uint16_t*>(to);
    if constexpr (std::is_same_v<S, f16> && !has_f16_instructions) {
      alignas(64) float wide[hn::MaxLanes(D())];
      hn::Store(v, D(), wide);
      for (std::size_t k = 0; k < hn::Lanes(D()); ++k) to[k] = S(wide[k]);
    } else if constexpr (std::is_same_v<S, f16>) {
      hn::StoreU(hn::BitCast(Bits(), hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), v)), Bits(), at);
    } else {
      const hn::Rebind<std::int32_t, D> wide;
      const hn::Rebind<std::uint32_t, D> plain;
      const auto bits = hn::BitCast(wide, v);
      const auto is_odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(wide, 1));
      auto rounded = hn::Add(bits, hn::Add(is_odd, hn::Set(wide, 0x7fff)));
      rounded = hn::IfThenElse(hn::RebindMask(wide, hn::IsNaN(v)), bits, rounded);
      const auto upper = hn::BitCast(wide, hn::ShiftRight<16>(hn::BitCast(plain, rounded)));
      hn::StoreU(hn::DemoteTo(Bits(), upper), Bits(), at);
    }
  }
};

/// Gradients as they are read, divided, for sums of `E`: the results are its working elements.
template <class E>
struct Divided : E {
  using Work = char;  // loads are from arrays, stores of what is not scratch
  static HWY_INLINE void store(typename E::V v, typename E::Stored* to, Index i, const Finish& f) {
    const typename E::D d;
    hn::StoreU(divided(d, v, i, f), d, reinterpret_cast<typename E::Work*>(to));
  }
};

/// Sums of integers in an integer that holds them. They are divided, rounded and clamped in a pass of their own.
template <class S, class W>
struct IntegerSum : SumBase<S, W> {
  using Base = SumBase<S, W>;
  using typename Base::D;
  using typename Base::V;
  static constexpr bool stores_fused = false, finishes_rows = true;
  static HWY_INLINE V lift(const S* from, const Finish&) {
    const hn::Rebind<S, D> narrow;
    if constexpr (std::is_unsigned_v<S> && std::is_signed_v<W>) {
      const hn::RebindToUnsigned<D> wide;
      return hn::BitCast(D(), hn::PromoteTo(wide, hn::LoadU(narrow, from)));
    } else {
      return hn::PromoteTo(D(), hn::LoadU(narrow, from));
    }
  }
  static HWY_INLINE void store(V, S*, Index, const Finish&) {}

  /// Writes the results of a row of sums.
  static void finish_row(const W* sums, Index n, S* to, const Finish& f) {
    constexpr W low = std::is_signed_v<W> ? static_cast<W>(std::numeric_limits<S>::lowest()) : W(0);
    const W high = static_cast<W>(f.is_bool ? 1 : std::numeric_limits<S>::max());
    const auto clamped = [low, high](auto v) NDPOOL_ALWAYS_INLINE {
      using Result = decltype(v);
      v = v < static_cast<Result>(low) ? static_cast<Result>(low) : v;
      return static_cast<S>(v > static_cast<Result>(high) ? static_cast<Result>(high) : v);
    };
    if (!f.averages) {
      for (Index i = 0; i < n; ++i) to[i] = clamped(sums[i]);
      return;
    }
    const double* counts = f.counts;
    const double count = f.count;
    if (f.rounding == Rounding::half_even && f.quotients_fit_float && counts == nullptr) {
      // A quotient of a sum below 2^22 is nearer to itself as a float than to a half that it is not.
      constexpr float shifter = 12582912.0F;  // 1.5 * 2^23: adding it leaves no bits behind the point
      const auto divisor = static_cast<float>(count);
      for (Index i = 0; i < n; ++i)
        to[i] = clamped(static_cast<std::int32_t>((static_cast<float>(sums[i]) / divisor + shifter) - shifter));
    } else if (f.quotients_fit_double) {
      finish_averages(sums, n, to, f, clamped);
    } else {
      for (Index i = 0; i < n; ++i) {
        const double divisor = counts == nullptr ? count : count * counts[i];
        to[i] =
            clamped(spec::round_divide(static_cast<std::int64_t>(sums[i]), static_cast<Index>(divisor), f.rounding));
      }
    }
  }

 private:
  /// Averages of sums below 2^51. Their nearest double is on the same side of every half and of every whole number as
  /// the quotient itself, so rounding it rounds the exact number.
  template <class Clamp>
  static void finish_averages(const W* sums, Index n, S* to, const Finish& f, const Clamp& clamped) {
    switch (f.rounding) {
      case Rounding::half_even:
        return round_all(sums, n, to, f, clamped, [](double, double nearest) NDPOOL_ALWAYS_INLINE { return nearest; });
      case Rounding::floor:
        return round_all(sums, n, to, f, clamped, [](double exact, double nearest) NDPOOL_ALWAYS_INLINE {
          return nearest - (nearest > exact ? 1.0 : 0.0);
        });
      case Rounding::toward_zero:
        return round_all(sums, n, to, f, clamped, [](double exact, double nearest) NDPOOL_ALWAYS_INLINE {
          return nearest - (exact > 0 && nearest > exact ? 1.0 : 0.0) + (exact < 0 && nearest < exact ? 1.0 : 0.0);
        });
      case Rounding::half_away:
        return round_all(sums, n, to, f, clamped, [](double exact, double nearest) NDPOOL_ALWAYS_INLINE {
          return nearest + (exact > 0 && exact - nearest == 0.5 ? 1.0 : 0.0) -
                 (exact < 0 && nearest - exact == 0.5 ? 1.0 : 0.0);
        });
    }
  }
  /// `adjust` makes a quotient and the nearest whole number, half to even, the rounded one.
  template <class Clamp, class Adjust>
  static HWY_NOINLINE void round_all(const W* sums, Index n, S* to, const Finish& f, const Clamp& clamped,
                                     const Adjust& adjust) {
    constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves no bits behind the point
    constexpr auto offset = std::bit_cast<std::uint64_t>(shifter);  // unsigned: lanes without a row may hold anything
    const double* const counts = f.counts;
    const double count = f.count;
    const auto rounded = [&](W sum, double divisor) NDPOOL_ALWAYS_INLINE {
      const double whole = std::bit_cast<double>(static_cast<std::uint64_t>(sum) + offset) - shifter;
      const double exact = whole / divisor;
      const double result = adjust(exact, (exact + shifter) - shifter);
      return clamped(static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(result + shifter) - offset));
    };
    if (counts == nullptr)
      for (Index i = 0; i < n; ++i) to[i] = rounded(sums[i], count);
    else
      for (Index i = 0; i < n; ++i) to[i] = rounded(sums[i], count * counts[i]);
  }
};

/// Sums of integers in 128 bits, one at a time.
template <class S>
struct WideSum {
  using Stored = S;
  using Work = spec::Wide;
  using Result = S;
  using V = Work;
  static constexpr Index lanes = 1;
  static constexpr bool is_sum = true, stores_fused = false, finishes_rows = true, lifts_nothing = false,
                        has_positions = false;

  static Work identity(const Finish&) { return 0; }
  static NDPOOL_ALWAYS_INLINE V load(const Work* from) { return *from; }
  static NDPOOL_ALWAYS_INLINE void put(V v, Work* to) { *to = v; }
  static NDPOOL_ALWAYS_INLINE V splat(Work one) { return one; }
  static NDPOOL_ALWAYS_INLINE V lift(const S* from, const Finish&) { return *from; }
  /// Unsigned: lanes without a row may hold anything.
  static NDPOOL_ALWAYS_INLINE V combine(V a, V b) {
    __extension__ using Unsigned = unsigned __int128;
    return static_cast<V>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  }
  static void store(V, S*, Index, const Finish&) {}

  static void finish_row(const Work* sums, Index n, S* to, const Finish& f) {
    for (Index i = 0; i < n; ++i) {
      const auto divisor = static_cast<Index>(f.counts == nullptr ? f.count : f.count * f.counts[i]);
      const Work result = f.averages ? average(sums[i], divisor, f.rounding) : sums[i];
      to[i] = f.is_bool ? static_cast<S>(result > 0) : spec::clamp_to<S>(result);
    }
  }
  static NDPOOL_ALWAYS_INLINE Work average(Work sum, Index divisor, Rounding rounding) {
    const auto low = static_cast<std::int64_t>(sum);  // divided by one instruction, if it is all of the sum
    if (low == sum && low != std::numeric_limits<std::int64_t>::lowest())
      return spec::round_divide(low, divisor, rounding);
    return spec::round_divide<Work>(sum, divisor, rounding);
  }
};

/// Extremes with the sum of what ties with them (ties/pair.hpp): the smaller key's sum is dropped, never multiplied by
/// 0.
struct TieSum32 : ElementBase<std::uint64_t, std::int64_t> {
  static constexpr bool is_sum = true;  // a tap that came twice would count twice
  static constexpr std::int64_t offset =
      std::numeric_limits<std::int64_t>::lowest();  // keys are compared as signed numbers
  static constexpr std::int64_t low_half = 0xFFFF'FFFF;
  static std::int64_t identity(const Finish&) { return offset; }
  static HWY_INLINE V lift(const std::uint64_t* from, const Finish&) {
    return hn::Xor(hn::LoadU(D(), reinterpret_cast<const std::int64_t*>(from)), hn::Set(D(), offset));
  }
  static HWY_INLINE V combine(V a, V b) {
    const D d;
    const V low = hn::Set(d, low_half), key_a = hn::AndNot(low, a), key_b = hn::AndNot(low, b);
    const V sum_a = hn::IfThenZeroElse(hn::Gt(key_b, key_a), hn::And(low, a));
    const V sum_b = hn::IfThenZeroElse(hn::Gt(key_a, key_b), hn::And(low, b));
#if HWY_TARGET == HWY_SCALAR
    const V sum = hn::Set(d, static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(
                                 std::bit_cast<float>(static_cast<std::uint32_t>(hn::GetLane(sum_a))) +
                                 std::bit_cast<float>(static_cast<std::uint32_t>(hn::GetLane(sum_b))))));
#else
    const hn::Repartition<float, D> floats;
    const V sum = hn::BitCast(d, hn::Add(hn::BitCast(floats, sum_a), hn::BitCast(floats, sum_b)));
#endif
    return hn::Or(hn::Max(key_a, key_b), sum);
  }
  static HWY_INLINE void store(V v, std::uint64_t* to, Index, const Finish&) {
    hn::StoreU(hn::Xor(v, hn::Set(D(), offset)), D(), reinterpret_cast<std::int64_t*>(to));
  }
};
struct TieSum64 {
  using Stored = ties::Pair<double>;
  struct Work : Stored {};
  using Result = Stored;
  using V = Stored;
  static constexpr Index lanes = 1;
  static constexpr bool is_sum = true, stores_fused = true, finishes_rows = false, lifts_nothing = false,
                        has_positions = false;
  static Work identity(const Finish&) { return {}; }
  static NDPOOL_ALWAYS_INLINE V load(const Work* from) { return *from; }
  static NDPOOL_ALWAYS_INLINE void put(const V& v, Work* to) { *to = {v}; }
  static NDPOOL_ALWAYS_INLINE V splat(const Work& one) { return one; }
  static NDPOOL_ALWAYS_INLINE V lift(const Stored* from, const Finish&) { return *from; }
  static NDPOOL_ALWAYS_INLINE V combine(const V& a, const V& b) {
    const double sum = (a.high >= b.high ? a.low : 0.0) + (b.high >= a.high ? b.low : 0.0);
    return {a.high >= b.high ? a.high : b.high, sum};
  }
  static NDPOOL_ALWAYS_INLINE void store(const V& v, Stored* to, Index, const Finish&) { *to = v; }
};

}  // namespace general
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_GENERAL_ELEMENTS_INL_H_
