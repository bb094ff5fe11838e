// Per-target code: elements of one scalar in vectors, how they are combined, and how they move from lane to lane. No
// include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_CELLS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_CELLS_INL_H_
#undef NDPOOL_CELLS_INL_H_
#else
#define NDPOOL_CELLS_INL_H_
#endif

#include "kernels/forward/rows-inl.h"
#include "kernels/simd/nan_flag.hpp"

/// Sanitizers look at every access, which makes what is inlined so long that it takes many minutes to compile. They see
/// fewer loops: those of two rows, of three and of any number, and of few scalars (has_fused).
#undef NDPOOL_IS_SANITIZED
#define NDPOOL_IS_SANITIZED (HWY_IS_ASAN || HWY_IS_MSAN || HWY_IS_TSAN)

/// Behind the parameters of a lambda in a loop: it is inlined whatever the compiler thinks of it, because what it
/// captures could not live in registers otherwise.
#undef NDPOOL_HOT
#if NDPOOL_IS_SANITIZED
#define NDPOOL_HOT HWY_ATTR
#undef HWY_INLINE
#define HWY_INLINE inline
#else
#define NDPOOL_HOT HWY_ATTR __attribute__((always_inline))
#endif

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

namespace hn = hwy::HWY_NAMESPACE;

/// Calls f(0), ..., f(N - 1), one call after the other: then nothing of what they use is in memory, as it is in a loop.
template <int N, class F>
HWY_INLINE void repeat(const F& f) {
  const auto all = [&]<int... n>(std::integer_sequence<int, n...>) NDPOOL_HOT { (f(n), ...); };
  all(std::make_integer_sequence<int, N>());
}

/// What is loaded once stays in a register: GCC would rather read it from memory each time it is used, and while the
/// memory is on its way that takes up to twice as long.
template <class V>
HWY_INLINE V in_register(V v) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL && HWY_TARGET != HWY_EMU128
  asm("" : "+x"(v.raw));
#endif
  return v;
}

/// Elements of one scalar in vectors: short floats are combined as floats, and sums of short integers have twice their
/// bits. Longer integers are summed in their own type and watched, because large ones could leave it.
template <class E, Combine combine_kind>
struct Cells {
  static constexpr Combine kind = combine_kind;
  static constexpr bool is_short = !std::is_arithmetic_v<E>;
  static constexpr bool sums_integers = kind == Combine::sum && std::is_integral_v<E>;
  static constexpr bool widens_sums = sums_integers && sizeof(E) <= 2;
  /// Taps whose sum is exact, and a float or a double away from every half when it is divided (dividing-inl.h).
  static constexpr Index most_taps = sums_integers ? 128 : std::numeric_limits<Index>::max();

  using Element = E;
  using WideSum = std::conditional_t<sizeof(E) == 1, std::int16_t, std::int32_t>;
  using T = std::conditional_t<is_short, float, std::conditional_t<widens_sums, WideSum, E>>;
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
  /// There are elements that these loops must not combine, which are noticed and left to others: NaNs among extremes,
  /// and long integers whose sums might not fit. True if the loops have to watch for them; NaNs raise a flag of their
  /// own where there is one.
  static constexpr bool has_nans = std::is_floating_point_v<T> && kind != Combine::sum;
  static constexpr bool flags_nans = has_nans && NDPOOL_HAS_NAN_FLAG && HWY_TARGET != HWY_EMU128;
  static constexpr bool watches = sums_integers ? !widens_sums : has_nans && !flags_nans;
  using Flag = FlagIf<flags_nans>;
  /// Other scalars have fewer constants in their loops, for the compiler's sake, and integers beyond bytes fewer still.
  static constexpr bool is_common = std::is_same_v<E, float>;
  static constexpr bool is_rare = std::is_integral_v<E> && sizeof(E) > 1;

  static HWY_INLINE V load(const E* from) { return in_register(load_and_widen(from)); }
  static HWY_INLINE V load_and_widen(const E* from) {
    if constexpr (widens_sums) {
      return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<E, D>(), from));
    } else if constexpr (std::is_same_v<E, f16>) {
      const hn::Rebind<hwy::float16_t, D> narrow;
      return hn::PromoteTo(D(), hn::LoadU(narrow, reinterpret_cast<const hwy::float16_t*>(from)));
    } else if constexpr (std::is_same_v<E, bf16>) {
      const hn::Rebind<std::uint16_t, D> narrow;
      const hn::Rebind<std::uint32_t, D> wide;
      const auto bits = hn::PromoteTo(wide, hn::LoadU(narrow, reinterpret_cast<const std::uint16_t*>(from)));
      return hn::BitCast(D(), hn::ShiftLeft<16>(bits));
    } else {
      return hn::LoadU(D(), from);
    }
  }

  /// Two of these elements fill what one becomes: even and odd ones come apart as they are widened.
  static constexpr bool comes_apart = widens_sums || std::is_same_v<E, bf16>;
  struct Parted {
    V even, odd;
  };
  static HWY_INLINE Parted load_parted(const E* from) {
    if constexpr (widens_sums) {
      constexpr int bits = 8 * sizeof(E);
      const V pairs = in_register(hn::LoadU(D(), reinterpret_cast<const T*>(from)));
      if constexpr (std::is_signed_v<E>)
        return {hn::ShiftRight<bits>(hn::ShiftLeft<bits>(pairs)), hn::ShiftRight<bits>(pairs)};
      const hn::RebindToUnsigned<D> plain;
      return {hn::And(pairs, hn::Set(D(), T{std::numeric_limits<E>::max()})),
              hn::BitCast(D(), hn::ShiftRight<bits>(hn::BitCast(plain, pairs)))};
    } else {
      const hn::RebindToUnsigned<D> plain;
      const auto pairs = in_register(hn::LoadU(plain, reinterpret_cast<const std::uint32_t*>(from)));
      return {hn::BitCast(D(), hn::ShiftLeft<16>(pairs)),
              hn::BitCast(D(), hn::And(pairs, hn::Set(plain, 0xFFFF0000U)))};
    }
  }

  /// Sums of neighbours, where there is an instruction that widens as it adds.
  static constexpr bool adds_pairs = widens_sums && HWY_TARGET == HWY_AVX2;
  static HWY_INLINE V load_pairs([[maybe_unused]] const E* from) {
#if HWY_TARGET == HWY_AVX2
    if constexpr (widens_sums) {
      const auto cells = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
      if constexpr (std::is_same_v<E, std::uint8_t>) return V{_mm256_maddubs_epi16(cells, _mm256_set1_epi8(1))};
      if constexpr (std::is_same_v<E, std::int8_t>) return V{_mm256_maddubs_epi16(_mm256_set1_epi8(1), cells)};
      if constexpr (std::is_same_v<E, std::int16_t>) return V{_mm256_madd_epi16(cells, _mm256_set1_epi16(1))};
      if constexpr (std::is_same_v<E, std::uint16_t>) {
        // Signed numbers are added: half the range less each.
        const auto lessened = _mm256_xor_si256(cells, _mm256_set1_epi16(static_cast<short>(0x8000)));
        return hn::Add(V{_mm256_madd_epi16(lessened, _mm256_set1_epi16(1))}, hn::Set(D(), 0x10000));
      }
    }
#endif
    return hn::Zero(D());
  }

  /// With `streams`, past the cache: only to where such vectors are aligned.
  static HWY_INLINE void store(V v, E* to, bool streams = false) {
    const auto narrow = narrowed(v);
    const hn::Rebind<Stored, D> d;
    Stored* at = reinterpret_cast<Stored*>(to);
    if (streams)
      hn::Stream(narrow, d, at);
    else
      hn::StoreU(narrow, d, at);
  }

  /// Two vectors side by side, where narrowed ones of both fill one.
  static constexpr bool stores_two = adds_pairs && sizeof(E) == 1;
  static HWY_INLINE void store_two([[maybe_unused]] V low, [[maybe_unused]] V high, [[maybe_unused]] E* to) {
#if HWY_TARGET == HWY_AVX2
    if constexpr (stores_two) {
      const auto packed =
          std::is_signed_v<E> ? _mm256_packs_epi16(low.raw, high.raw) : _mm256_packus_epi16(low.raw, high.raw);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permute4x64_epi64(packed, 0xD8));
    }
#endif
  }

  /// Of two zeros the first stays, as in the passes: the instructions give the second operand where both are equal.
  static HWY_INLINE V combine(V a, V b) {
    if constexpr (kind == Combine::sum)
      return hn::Add(a, b);
    else if constexpr (kind == Combine::max)
      return hn::Max(b, a);
    else
      return hn::Min(b, a);
  }
  /// What is noticed of elements, and of those of two vectors together: a sum of numbers is NaN if one of them is
  /// (infinities of both signs add up to one as well; that only costs time), and of integers all bits beyond the sign.
  static HWY_INLINE V noticed(V v) {
    if constexpr (sums_integers) return hn::Xor(v, hn::BroadcastSignBit(v));
    return v;
  }
  static HWY_INLINE V notice(V a, V b) {
    if constexpr (sums_integers) return hn::Or(a, b);
    return hn::Add(a, b);
  }
  /// True if there was something that must not be combined here.
  static HWY_INLINE bool is_unfit([[maybe_unused]] V seen) {
    if constexpr (!watches) {
      return false;
    } else if constexpr (sums_integers) {
      constexpr int fit_bits = sizeof(T) == 4 ? 23 : 44;  // sums of most_taps then stay below 2^30, and 2^51
      return !hn::AllTrue(D(), hn::Lt(seen, hn::Set(D(), T{1} << fit_bits)));
    } else {
      return !hn::AllFalse(D(), hn::IsNaN(seen));
    }
  }

  /// What changes no number; rows with NaNs, which a policy could ask to lose to it, do not come to an end here.
  static HWY_INLINE V identity() { return hn::Set(D(), Combiner<kind, Nan::propagate, T>::identity()); }
  /// The same, and no sign of a zero either: in place of what is left out, where padding along a row is +0.
  static HWY_INLINE V nothing() { return kind == Combine::sum ? hn::Set(D(), static_cast<T>(-0.0F)) : identity(); }

 private:
  using Stored = std::conditional_t<is_short, std::uint16_t, E>;

  /// Rounds to the nearest, ties to even, and keeps integers in their range. All NaNs of a sign are one.
  static HWY_INLINE auto narrowed(V v) {
    if constexpr (widens_sums) {
      return hn::DemoteTo(hn::Rebind<E, D>(), v);
    } else if constexpr (std::is_same_v<E, f16>) {
      const hn::Rebind<hwy::float16_t, D> narrow;
      if constexpr (kind == Combine::sum) {
        const V nan = hn::CopySign(hn::Set(D(), std::numeric_limits<T>::quiet_NaN()), v);
        v = hn::IfThenElse(hn::IsNaN(v), nan, v);
      }
      return hn::BitCast(hn::Rebind<std::uint16_t, D>(), hn::DemoteTo(narrow, v));
    } else if constexpr (std::is_same_v<E, bf16>) {
      const hn::Rebind<std::int32_t, D> wide;
      const auto bits = hn::BitCast(wide, v);
      auto rounded = bits;
      if constexpr (kind == Combine::sum) {
        const auto is_odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(wide, 1));
        rounded = hn::Add(bits, hn::Add(is_odd, hn::Set(wide, 0x7fff)));
        const V nan = hn::CopySign(hn::Set(D(), std::numeric_limits<T>::quiet_NaN()), v);
        rounded = hn::IfThenElse(hn::RebindMask(wide, hn::IsNaN(v)), hn::BitCast(wide, nan), rounded);
      }
      const hn::Rebind<std::uint32_t, D> plain;
      const auto upper = hn::BitCast(wide, hn::ShiftRight<16>(hn::BitCast(plain, rounded)));
      return hn::DemoteTo(hn::Rebind<std::uint16_t, D>(), upper);
    } else {
      return v;
    }
  }
};

/// Even and odd lanes of two vectors.
template <class V>
struct EvenOdd {
  V even, odd;
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE EvenOdd<V> even_odd(D d, V high, V low) {
#if HWY_TARGET == HWY_AVX2
  // Halves first, which takes one instruction each; what is then in its order within the halves is in order.
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const hn::ScalableTag<float> f;
    const auto first = hn::BitCast(f, hn::ConcatLowerLower(d, high, low)).raw;
    const auto second = hn::BitCast(f, hn::ConcatUpperUpper(d, high, low)).raw;
    return {hn::BitCast(d, hn::Vec256<float>{_mm256_shuffle_ps(first, second, 0x88)}),
            hn::BitCast(d, hn::Vec256<float>{_mm256_shuffle_ps(first, second, 0xDD)})};
  }
#endif
  return {hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low)};
}

/// What even and odd lanes of `low`, then of `high`, combine to: within each block of 16 bytes.
template <class C, class V = typename C::V>
HWY_INLINE V combined_in_blocks([[maybe_unused]] V high, V low) {
#if HWY_TARGET == HWY_AVX2
  if constexpr (sizeof(typename C::T) == 4) {
    const typename C::D d;
    const hn::ScalableTag<float> f;
    const auto first = hn::BitCast(f, low).raw, second = hn::BitCast(f, high).raw;
    return C::combine(hn::BitCast(d, hn::Vec256<float>{_mm256_shuffle_ps(first, second, 0x88)}),
                      hn::BitCast(d, hn::Vec256<float>{_mm256_shuffle_ps(first, second, 0xDD)}));
  }
#endif
  return low;
}

/// The upper half of `low`, then the lower half of `high`: half-way from one to the other. Nothing of use where vectors
/// are but one block long.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V between(D d, V high, V low) {
  return hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) == 16 ? low : hn::ConcatLowerUpper(d, high, low);
}
/// Lanes `by` and up of `low`, then the first lanes of `high`; `middle` is what is between them.
template <int by, class D, class V = hn::Vec<D>>
HWY_INLINE V slide(D d, V high, V middle, V low) {
  constexpr int bytes = by * static_cast<int>(sizeof(hn::TFromD<D>));
  if constexpr (by == 0)
    return low;
  else if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) == 16)
    return hn::CombineShiftRightBytes<bytes>(d, high, low);
  else if constexpr (bytes == 16)
    return middle;
  else if constexpr (bytes < 16)
    return hn::CombineShiftRightBytes<bytes>(d, middle, low);
  else
    return hn::CombineShiftRightBytes<bytes - 16>(d, high, middle);
}
template <int by, class D, class V = hn::Vec<D>>
HWY_INLINE V slide(D d, V high, V low) {
  return slide<by>(d, high, between(d, high, low), low);
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_CELLS_INL_H_
