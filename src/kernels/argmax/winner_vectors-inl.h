// Per-target code: vectors of winners in registers: the best of some taps, and how they are written. No include guard
// of the usual kind: see rows-inl.h.
#if defined(NDPOOL_WINNER_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_WINNER_VECTORS_INL_H_
#undef NDPOOL_WINNER_VECTORS_INL_H_
#else
#define NDPOOL_WINNER_VECTORS_INL_H_
#endif

#include "kernels/argmax/winners-inl.h"

#include <cstring>

#include "kernels/simd/nan_flag.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Even and odd lanes of two vectors. Where lanes leave their blocks of 16 bytes by an instruction of its own, they
/// stay in them, and are in another order until `in_order` is asked for. It turns either order into the other.
template <class T>
struct Blocks {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
#if HWY_TARGET == HWY_AVX2
  static constexpr bool reorder = true;
  static HWY_INLINE V even(V high, V low) {
    if constexpr (sizeof(T) == 8) return hn::InterleaveLower(D(), low, high);
    if constexpr (sizeof(T) == 4) return shuffle<0x88>(high, low);
  }
  static HWY_INLINE V odd(V high, V low) {
    if constexpr (sizeof(T) == 8) return hn::InterleaveUpper(D(), low, high);
    if constexpr (sizeof(T) == 4) return shuffle<0xDD>(high, low);
  }
  static HWY_INLINE V in_order(V v) {
    const hn::ScalableTag<std::uint64_t> d;
    return hn::BitCast(D(), hn::Vec<decltype(d)>{_mm256_permute4x64_epi64(hn::BitCast(d, v).raw, 0xD8)});
  }

 private:
  template <int lanes>
  static HWY_INLINE V shuffle(V high, V low) {
    const hn::ScalableTag<float> d;
    const auto shuffled = _mm256_shuffle_ps(hn::BitCast(d, low).raw, hn::BitCast(d, high).raw, lanes);
    return hn::BitCast(D(), hn::Vec<decltype(d)>{shuffled});
  }
#else
  static constexpr bool reorder = false;
  static HWY_INLINE V even(V high, V low) { return hn::ConcatEven(D(), high, low); }
  static HWY_INLINE V odd(V high, V low) { return hn::ConcatOdd(D(), high, low); }
  static HWY_INLINE V in_order(V v) { return v; }
#endif
};

/// Winners of neighbouring outputs, each with its number or its tangent.
template <class T, WinnerUse use>
struct WinnerVectors {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using Bits = typename Order<T>::Bits;
  using Number = TapOf<T>;
  static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
  static constexpr bool carries_numbers = use == WinnerUse::indices;
  using Carried = std::conditional_t<carries_numbers, Number, T>;
  using DCarried = hn::ScalableTag<Carried>;
  using VCarried = hn::Vec<DCarried>;

  /// Comparisons, which each element takes part in, raise a flag where one is NaN; elsewhere NaNs are watched for.
  static constexpr bool flags_nans = std::is_floating_point_v<T> && NDPOOL_HAS_NAN_FLAG && HWY_TARGET == HWY_AVX2;
  static constexpr bool watches = std::is_floating_point_v<T> && !flags_nans;
  using Flag = FlagIf<flags_nans>;

  static constexpr Index most_taps = 64;
  /// The input rows of a window, in row-major order of their taps: where they are, and what they carry: rows of
  /// tangents, or what they add to the number of a winner. Numbers are those of taps, or of cells relative to tap 0.
  struct Window {
    const T* row[most_taps];
    std::conditional_t<carries_numbers, Number, const T*> carried[most_taps];
    int count = 0;
  };

  /// Some rows that follow one another: where the next is, and where its windows begin in a plane.
  struct Run {
    Index count, in_step = 0, tangent_step = 0, out_step = 0, second_step = 0, cell_step = 0;
    T* out;            ///< null if nobody asks for values
    char* second;      ///< indices or tangents
    Index first_cell;  ///< of tap 0 of the first window
    Numbering numbering;
    Bits flips;   ///< winners are the largest of the elements with these bits flipped
    Index asked;  ///< bytes of memory that are asked for ahead

    HWY_INLINE void next() {
      if (out != nullptr) out += out_step;
      second += second_step;
      first_cell += cell_step;
    }
  };

  static HWY_INLINE V identity() { return hn::Set(D(), Combiner<Combine::max, Nan::propagate, T>::identity()); }
  static HWY_INLINE VCarried number(Index n) { return hn::Set(DCarried(), static_cast<Carried>(n)); }

  /// The best of some taps that come in row-major order.
  struct Best {
    V value;
    VCarried carried;
    /// A later one has to be better.
    HWY_INLINE void take(V candidate, VCarried with) {
      const auto wins = greater(candidate, value);
      value = hn::Max(candidate, value);
      carried = hn::IfThenElse(hn::RebindMask(DCarried(), wins), with, carried);
    }
  };

  /// As hn::Gt, but a NaN raises the flag.
  static HWY_INLINE hn::Mask<D> greater(V a, V b) {
#if HWY_TARGET == HWY_AVX2
    if constexpr (std::is_same_v<T, float>) return hn::Mask<D>{_mm256_cmp_ps(a.raw, b.raw, _CMP_GT_OS)};
    if constexpr (std::is_same_v<T, double>) return hn::Mask<D>{_mm256_cmp_pd(a.raw, b.raw, _CMP_GT_OS)};
#endif
    return hn::Gt(a, b);
  }

  /// `flips` is false if no bit is to be flipped.
  template <bool flips>
  static HWY_INLINE V flip(V v, const Run& run) {
    if constexpr (flips) return hn::Xor(v, hn::BitCast(D(), hn::Set(hn::ScalableTag<Bits>(), run.flips)));
    return v;
  }

  /// Writes neighbouring outputs of a row from one on; each window begins `step` cells after the last. Those of the
  /// upper half of the vector begin at `upper`. With `in_blocks`, lanes are as `Blocks` gives them.
  template <bool flips, bool in_blocks>
  static HWY_INLINE void store(const Best& best, const Run& run, Index at, Index first_cell, Index step,
                               Index upper = lanes / 2) {
    if constexpr (carries_numbers) {
      if (run.out != nullptr) store_elements(ordered<in_blocks, T>(flip<flips>(best.value, run)), run.out + at, upper);
      if (run.numbering == Numbering::taps)
        return store_taps(ordered<in_blocks, Carried>(best.carried), reinterpret_cast<std::uint8_t*>(run.second) + at,
                          upper);
      const DCarried d;
      VCarried outputs = hn::Iota(d, 0);
      if (upper != lanes / 2)
        outputs = hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(lanes / 2)), outputs,
                                 hn::Add(outputs, number(upper - lanes / 2)));
      const VCarried starts = hn::Add(hn::Mul(ordered<in_blocks, Carried>(outputs), number(step)), number(first_cell));
      store_flat<in_blocks>(hn::Add(best.carried, starts), reinterpret_cast<std::int64_t*>(run.second) + at, upper);
    } else {
      store_elements(ordered<in_blocks, T>(best.carried), reinterpret_cast<T*>(run.second) + at, upper);
    }
  }

 private:
  template <bool in_blocks, class Lane>
  static HWY_INLINE hn::Vec<hn::ScalableTag<Lane>> ordered(hn::Vec<hn::ScalableTag<Lane>> v) {
    if constexpr (in_blocks) return Blocks<Lane>::in_order(v);
    return v;
  }
  static HWY_INLINE void store_elements(V v, T* to, Index upper) {
    const D d;
    const hn::Half<D> half;
    if (upper == lanes / 2) return hn::StoreU(v, d, to);
    hn::StoreU(hn::LowerHalf(half, v), half, to);
    hn::StoreU(hn::UpperHalf(half, v), half, to + upper);
  }
  /// Flat indices, which are no less than 0.
  template <bool in_blocks>
  static HWY_INLINE void store_flat(VCarried flat, std::int64_t* to, [[maybe_unused]] Index upper) {
    const hn::ScalableTag<std::int64_t> wide;
    if constexpr (sizeof(T) == 8) {
      hn::StoreU(in_blocks ? Blocks<Carried>::in_order(flat) : flat, DCarried(), to);
    } else if constexpr (in_blocks) {
      const DCarried d;
      hn::StoreU(hn::BitCast(wide, hn::InterleaveLower(d, flat, hn::Zero(d))), wide, to);
      hn::StoreU(hn::BitCast(wide, hn::InterleaveUpper(d, flat, hn::Zero(d))), wide, to + upper);
    } else {
      const hn::Half<DCarried> half;
      hn::StoreU(hn::PromoteTo(wide, hn::LowerHalf(half, flat)), wide, to);
      hn::StoreU(hn::PromoteTo(wide, hn::UpperHalf(half, flat)), wide, to + upper);
    }
  }
  static HWY_INLINE void store_taps(VCarried taps, std::uint8_t* to, Index upper) {
    const hn::Rebind<std::uint8_t, DCarried> narrow;
    const auto bytes = hn::TruncateTo(narrow, hn::BitCast(hn::RebindToUnsigned<DCarried>(), taps));
    if (upper == lanes / 2) return hn::StoreU(bytes, narrow, to);
    std::uint8_t both[lanes];
    hn::StoreU(bytes, narrow, both);
    std::memcpy(to, both, lanes / 2);
    std::memcpy(to + upper, both + lanes / 2, lanes / 2);
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_WINNER_VECTORS_INL_H_
