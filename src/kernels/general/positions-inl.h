// Per-target code: extremes with their positions. An element is the key of a value above the inverted position of its
// cell, so that a plain maximum finds the first extreme in row-major order. Boxes of cells are lifted to such elements
// before they are folded, and results become values and indices afterwards.
#if defined(NDPOOL_GENERAL_POSITIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_GENERAL_POSITIONS_INL_H_
#undef NDPOOL_GENERAL_POSITIONS_INL_H_
#else
#define NDPOOL_GENERAL_POSITIONS_INL_H_
#endif

#include "kernels/general/elements-inl.h"
#include "kernels/general/job.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace general {

/// Unsigned numbers in the order of values. NaN is first or last by the policy; both zeros have one key.
template <class Bits>
struct Keys {
  static constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  static constexpr Bits all = static_cast<Bits>(~Bits{0});

  static NDPOOL_ALWAYS_INLINE Bits of_integer(Bits bits, Bits flip) { return static_cast<Bits>(bits ^ flip); }
  static NDPOOL_ALWAYS_INLINE Bits of_float(Bits bits, Bits flip, Bits infinity, Bits nan_key) {
    const auto magnitude = static_cast<Bits>(bits & ~sign);
    const auto ordered = static_cast<Bits>((bits & sign) != 0 ? sign - magnitude : sign + magnitude);
    return magnitude > infinity ? nan_key : static_cast<Bits>(ordered ^ flip);
  }
  static NDPOOL_ALWAYS_INLINE Bits integer_of(Bits key, Bits flip) { return static_cast<Bits>(key ^ flip); }
  static NDPOOL_ALWAYS_INLINE Bits float_of(Bits key, Bits flip, Bits nan, Bits nan_key) {
    const auto ordered = static_cast<Bits>(key ^ flip);
    const auto bits = static_cast<Bits>((ordered & sign) != 0 ? ordered - sign : (sign - ordered) | sign);
    return key == nan_key ? nan : bits;
  }
};

/// What the keys of a pool are made with.
template <class Bits>
struct KeyRule {
  explicit KeyRule(const Finish& f)
      : flip(static_cast<Bits>(f.flip)),
        infinity(static_cast<Bits>(f.infinity)),
        nan(static_cast<Bits>(f.infinity | f.quiet_bit)),
        nan_key(f.ignores_nan ? Bits{0} : Keys<Bits>::all),
        is_float(f.infinity != 0) {}
  Bits flip, infinity, nan, nan_key;
  bool is_float;
  /// The value of a window without a cell: the lowest number, or the highest for a minimum.
  Bits empty() const {
    if (!is_float) return Keys<Bits>::integer_of(0, flip);
    return flip != 0 ? infinity : static_cast<Bits>(infinity | Keys<Bits>::sign);
  }
};

#if HWY_TARGET != HWY_SCALAR
/// The same for vectors of the unsigned tag `d`. `zeros` collects where a negative zero was.
template <class Bits, class D, class V = hn::Vec<D>>
HWY_INLINE V keys_of(D d, V bits, const KeyRule<Bits>& rule, V& zeros) {
  if (!rule.is_float) return hn::Xor(bits, hn::Set(d, rule.flip));
  if constexpr (sizeof(Bits) == 1) {
    return bits;
  } else {
    const hn::RebindToSigned<D> s;
    const auto raw = hn::BitCast(s, bits);
    const auto negative = hn::BroadcastSignBit(raw);
    const auto magnitude = hn::BitCast(s, hn::AndNot(hn::Set(d, Keys<Bits>::sign), bits));
    zeros = hn::Or(zeros, hn::VecFromMask(d, hn::Eq(bits, hn::Set(d, Keys<Bits>::sign))));
    const auto signed_key = hn::Sub(hn::Xor(magnitude, negative), negative);
    const auto key = hn::Xor(hn::BitCast(d, signed_key), hn::Set(d, static_cast<Bits>(rule.flip ^ Keys<Bits>::sign)));
    const auto infinity = hn::Set(s, static_cast<std::make_signed_t<Bits>>(rule.infinity));
    return hn::IfThenElse(hn::RebindMask(d, hn::Gt(magnitude, infinity)), hn::Set(d, rule.nan_key), key);
  }
}
template <class Bits, class D, class V = hn::Vec<D>>
HWY_INLINE V values_of(D d, V keys, const KeyRule<Bits>& rule) {
  if (!rule.is_float) return hn::Xor(keys, hn::Set(d, rule.flip));
  if constexpr (sizeof(Bits) == 1) {
    return keys;
  } else {
    const hn::RebindToSigned<D> s;
    const auto ordered = hn::BitCast(s, hn::Xor(keys, hn::Set(d, static_cast<Bits>(rule.flip ^ Keys<Bits>::sign))));
    const auto negative = hn::BroadcastSignBit(ordered);
    const auto magnitude = hn::BitCast(d, hn::Sub(hn::Xor(ordered, negative), negative));
    const auto bits = hn::Or(magnitude, hn::And(hn::BitCast(d, negative), hn::Set(d, Keys<Bits>::sign)));
    return hn::IfThenElse(hn::Eq(keys, hn::Set(d, rule.nan_key)), hn::Set(d, rule.nan), bits);
  }
}
#endif

/// Key and position in one integer. `position_bits` are those of the position.
template <class Bits, class Packed, int position_bits>
struct PackedPosition : ElementBase<Bits, Packed> {
  using Base = ElementBase<Bits, Packed>;
  using typename Base::D;
  using typename Base::V;
  using Result = Packed;
  using Unsigned = std::make_unsigned_t<Packed>;
  static constexpr bool has_positions = true;
  /// Signed integers are compared where the target has no unsigned maximum.
  static constexpr Unsigned offset = std::is_signed_v<Packed> ? Unsigned{1} << (8 * sizeof(Packed) - 1) : 0;
  static constexpr Unsigned mask = (Unsigned{1} << position_bits) - 1;

  static Packed identity(const Finish&) { return static_cast<Packed>(offset); }
  static HWY_INLINE V combine(V a, V b) { return hn::Max(a, b); }
  static HWY_INLINE void store(V v, Packed* to, Index, const Finish&) { hn::StoreU(v, D(), to); }

  static NDPOOL_ALWAYS_INLINE Packed pack(Bits key, Unsigned inverted) {
    return static_cast<Packed>((static_cast<Unsigned>(key) << position_bits | inverted) ^ offset);
  }
  static NDPOOL_ALWAYS_INLINE Bits key_of(Packed one) {
    return static_cast<Bits>((static_cast<Unsigned>(one) ^ offset) >> position_bits);
  }
  static NDPOOL_ALWAYS_INLINE Index position_of(Packed one) {
    return static_cast<Index>(mask - ((static_cast<Unsigned>(one) ^ offset) & mask));
  }
  /// Of positions below 2^31.
  static NDPOOL_ALWAYS_INLINE std::int32_t near_position_of(Packed one) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(mask) - static_cast<std::uint32_t>(one & mask));
  }
  static NDPOOL_ALWAYS_INLINE Unsigned inverted(Index position) { return mask - static_cast<Unsigned>(position); }

#if HWY_TARGET != HWY_SCALAR
  static constexpr bool has_vectors = true;
  using U = hn::RebindToUnsigned<D>;
  using Narrow = hn::Rebind<Bits, D>;
  using Keys = hn::Vec<Narrow>;
  static HWY_INLINE V packed(Keys keys, hn::Vec<U> inverted) {
    const U u;
    return hn::BitCast(D(), hn::Xor(hn::Or(hn::ShiftLeft<position_bits>(widened(keys)), inverted), hn::Set(u, offset)));
  }
  static HWY_INLINE Keys keys_of_packed(V v) {
    const U u;
    const auto key = hn::ShiftRight<position_bits>(hn::Xor(hn::BitCast(u, v), hn::Set(u, offset)));
    return hn::TruncateTo(Narrow(), key);
  }

 private:
  static HWY_INLINE hn::Vec<U> widened(Keys keys) {
    const hn::Rebind<std::uint32_t, D> half;
    if constexpr (sizeof(Packed) == 8 && sizeof(Bits) < 4)
      return hn::PromoteTo(U(), hn::PromoteTo(half, keys));
    else
      return hn::PromoteTo(U(), keys);
  }
#else
  static constexpr bool has_vectors = false;
#endif
};

/// The same for numbers of 64 bits, as a pair.
struct PositionPair {
  std::uint64_t key, inverted;
};
struct PairedPosition {
  using Stored = std::uint64_t;
  using Work = PositionPair;
  using Result = PositionPair;
  using Unsigned = std::uint64_t;
  using V = PositionPair;
  static constexpr Index lanes = 1;
  static constexpr bool is_sum = false, stores_fused = true, finishes_rows = false, lifts_nothing = false,
                        has_positions = true;
  static constexpr bool has_vectors = false;

  static Work identity(const Finish&) { return {0, 0}; }
  static NDPOOL_ALWAYS_INLINE V load(const Work* from) { return *from; }
  static NDPOOL_ALWAYS_INLINE void put(const V& v, Work* to) { *to = v; }
  static NDPOOL_ALWAYS_INLINE V splat(const Work& one) { return one; }
  static NDPOOL_ALWAYS_INLINE V combine(const V& a, const V& b) {
    const bool later = b.key > a.key || (b.key == a.key && b.inverted > a.inverted);
    return {later ? b.key : a.key, later ? b.inverted : a.inverted};
  }
  static NDPOOL_ALWAYS_INLINE void store(const V& v, Work* to, Index, const Finish&) { *to = v; }

  static NDPOOL_ALWAYS_INLINE Work pack(std::uint64_t key, std::uint64_t inverted) { return {key, inverted}; }
  static NDPOOL_ALWAYS_INLINE std::uint64_t key_of(const Work& one) { return one.key; }
  static NDPOOL_ALWAYS_INLINE Index position_of(const Work& one) { return static_cast<Index>(~one.inverted); }
  static NDPOOL_ALWAYS_INLINE std::int32_t near_position_of(const Work& one) {
    return static_cast<std::int32_t>(~one.inverted);
  }
  static NDPOOL_ALWAYS_INLINE Unsigned inverted(Index position) { return ~static_cast<Unsigned>(position); }
};

/// One axis of a tile's box.
struct BoxAxis {
  Index cells, in_stride, cell_stride;
};

/// Lifts boxes of cells.
template <class E>
class PositionLift {
 public:
  using Bits = typename E::Stored;
  using Work = typename E::Work;
  using Unsigned = typename E::Unsigned;

  PositionLift(const Layout& layout, char* scratch, const Finish& finish)
      : rule_(finish),
        along_(reinterpret_cast<Unsigned*>(scratch + layout.along_at)),
        capacity_(layout.along_capacity) {}

  /// Makes a packed box of `lanes` elements per cell from the one that begins at `from`.
  /// Position 0 is `from_first` cells, as flat indices count, before that.
  void operator()(const Bits* from, const BoxAxis* axes, int rank, Index lanes, Index from_first, Work* to) {
    // Axes whose cells follow one another in memory are one run, as far as there is room for its positions.
    int top = rank;
    Index run = lanes;
    while (top > 0 && (axes[top - 1].cells == 1 || axes[top - 1].in_stride == run) &&
           run * axes[top - 1].cells <= capacity_)
      run *= axes[--top].cells;
    BoxAxis along[max_rank + 1];
    int along_rank = 0;
    Index cut = 1;  // cells of the axis before the run that are in it
    if (top > 0 && axes[top - 1].in_stride == run && 2 * run <= capacity_) {
      cut = capacity_ / run;
      along[along_rank++] = {cut, run, axes[top - 1].cell_stride};
    }
    for (int a = top; a < rank; ++a)  // axes of one cell move no position
      if (axes[a].cells > 1 || along_rank > 0) along[along_rank++] = axes[a];
    place_along(along, along_rank, lanes, run * cut);
    Index position[max_rank + 1] = {};
    for (;;) {
      Index offset = 0, cell = from_first;
      for (int a = 0; a < top; ++a) {
        offset += position[a] * axes[a].in_stride;
        cell += position[a] * axes[a].cell_stride;
      }
      const Index length = top > 0 ? std::min(cut, axes[top - 1].cells - position[top - 1]) * run : run;
      lift_run(from + offset, E::inverted(cell), to, length);
      to += length;
      int a = top - 1;
      if (a >= 0) position[a] += cut - 1;
      for (; a >= 0 && ++position[a] >= axes[a].cells; --a) position[a] = 0;
      if (a < 0) return;
    }
  }

  /// True if some cell since the last reset was a negative zero, whose sign keys do not have.
  bool saw_negative_zero() const { return saw_negative_zero_; }
  void reset() { saw_negative_zero_ = false; }
  void assume_negative_zero() { saw_negative_zero_ = true; }

 private:
  /// Positions within a run, relative to its first cell. Shorter runs of the same axes begin alike.
  void place_along(const BoxAxis* axes, int count, Index lanes, Index run) {
    bool is_known = count == count_ && lanes == lanes_ && run <= run_;
    for (int a = 0; a < count; ++a)
      is_known = is_known && (a == 0 || axes[a].cells == cells_[a]) && axes[a].cell_stride == steps_[a];
    if (is_known) return;
    count_ = count;
    lanes_ = lanes;
    run_ = run;
    for (int a = 0; a < count; ++a) cells_[a] = axes[a].cells, steps_[a] = axes[a].cell_stride;
    Index filled = lanes;
    std::fill_n(along_, lanes, Unsigned{0});
    for (int a = count - 1; a >= 0; --a) {
      for (Index c = 1; c < axes[a].cells; ++c) {
        const auto by = static_cast<Unsigned>(c * axes[a].cell_stride);
        if (filled == 1)
          along_[c] = by;
        else
          for (Index i = 0; i < filled; ++i) along_[c * filled + i] = along_[i] + by;
      }
      filled *= axes[a].cells;
    }
  }
  HWY_NOINLINE void lift_run(const Bits* HWY_RESTRICT from, Unsigned inverted, Work* HWY_RESTRICT to, Index n) {
    Index i = 0;
#if HWY_TARGET != HWY_SCALAR
    if constexpr (E::has_vectors) {
      if (n >= E::lanes) {
        const typename E::Narrow narrow;
        auto zeros = hn::Zero(narrow);
        const KeyRule<Bits> rule = rule_;
        const auto lift = [&](Index at) NDPOOL_ALWAYS_INLINE {
          const auto keys = keys_of(narrow, hn::LoadU(narrow, from + at), rule, zeros);
          const typename E::U u;
          E::put(E::packed(keys, hn::Sub(hn::Set(u, inverted), hn::LoadU(u, along_ + at))), to + at);
        };
        for (; i + E::lanes <= n; i += E::lanes) lift(i);
        if (i < n) lift(n - E::lanes);
        if (!hn::AllFalse(narrow, hn::Ne(zeros, hn::Zero(narrow)))) saw_negative_zero_ = true;
        return;
      }
    }
#endif
    for (; i < n; ++i) {
      saw_negative_zero_ |= rule_.is_float && from[i] == Keys<Bits>::sign;
      const Bits key = rule_.is_float ? Keys<Bits>::of_float(from[i], rule_.flip, rule_.infinity, rule_.nan_key)
                                      : Keys<Bits>::of_integer(from[i], rule_.flip);
      to[i] = E::pack(key, inverted - along_[i]);
    }
  }

  const KeyRule<Bits> rule_;
  Unsigned* along_;
  const Index capacity_;
  bool saw_negative_zero_ = false;
  int count_ = -1;
  Index lanes_ = 0, run_ = 0;
  Index cells_[max_rank + 1], steps_[max_rank + 1];
};

}  // namespace general
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_GENERAL_POSITIONS_INL_H_
