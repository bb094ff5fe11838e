// Per-target code: the VJP of max and min from tap numbers, cell by cell: rows of cells. A cell gets the gradients of
// those outputs that see it under the tap they name. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_MATCHES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_MATCHES_INL_H_
#undef NDPOOL_MATCHES_INL_H_
#else
#define NDPOOL_MATCHES_INL_H_
#endif

#include "kernels/forward/rows-inl.h"
#include "kernels/vjp/sights.hpp"

// Arrays of vectors stay in registers only where their loops are unrolled.
#ifndef NDPOOL_UNROLLED
#define NDPOOL_UNROLLED _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Tap numbers as wide as gradients, so that both fit the same vectors; this one is no tap's.
template <class T>
using TapName = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
inline constexpr std::int32_t no_name = -1;

/// Sums of the gradients that match.
template <class T>
class Matches {
 public:
  using Name = TapName<T>;

  /// There is a vector of elements behind all that sights lead to.
  Matches(const T* gy, const Name* names) : gy_(gy), names_(names) {}

  /// Rows of cells that are seen alike: how many, and how far apart they and their outputs are.
  struct Run {
    Index count = 1, cells = 0, outputs = 0;
    Index gradients = 0;   ///< how far apart those of the outputs are, if not as the outputs' names
    bool streams = false;  ///< past the cache
  };

  /// cells[i] = what outputs i + sight.output give to it.
  void make(const Sights& sights, T* cells, Index length, const Run& run) const {
    switch (sights.count) {
      case 1: return every<1>(sights, cells, length, run);
      case 2: return every<2>(sights, cells, length, run);
      case 4: return every<4>(sights, cells, length, run);
      case 6: return every<6>(sights, cells, length, run);
      case 9: return every<9>(sights, cells, length, run);
      default: return every<0>(sights, cells, length, run);
    }
  }

  /// The same where windows step by two cells: cells[2 i] and cells[2 i + 1] are seen in two ways by outputs near i.
  HWY_NOINLINE void make_pairs(const Sights& even, const Sights& odd, T* cells, Index length, const Run& run) const;

  /// The same for pairs of rows, `pitch` apart, of windows of three by three cells: all in one sweep over the outputs.
  /// `lists` has the sights of both kinds of cells in both kinds of rows, `run` says where the gradients of rows are.
  /// False if windows are others.
  bool make_fours(const Sights (*lists)[SightClasses::most], T* cells, Index pitch, Index length, const Run& run) const;

  /// True if rows of cells without lanes may be written past the cache: they end where vectors do.
  static bool can_stream(const T* cells, Index length, const Run& run) {
    return reinterpret_cast<std::uintptr_t>(cells) % (lanes * sizeof(T)) == 0 && run.cells % lanes == 0 &&
           length % (2 * lanes) == 0;
  }

#if HWY_TARGET != HWY_SCALAR

  static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(hn::ScalableTag<T>()));

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using DName = hn::RebindToSigned<D>;
  using VName = hn::Vec<DName>;

  static HWY_INLINE VName name_of(const Sight& sight) { return hn::Set(DName(), static_cast<Name>(sight.tap)); }
  static HWY_INLINE V match(const T* gy, const Name* names, Index at, VName name) {
    const auto named = hn::Eq(hn::LoadU(DName(), names + at), name);
    return hn::IfThenElseZero(hn::RebindMask(D(), named), hn::LoadU(D(), gy + at));
  }

  /// `N` sights in registers.
  template <int N, class = void>
  struct Watched {
    Index output[N];
    VName name[N];
    HWY_INLINE explicit Watched(const Sights& sights) {
      NDPOOL_UNROLLED
      for (int s = 0; s < N; ++s) {
        output[s] = sights.of[s].output;
        name[s] = name_of(sights.of[s]);
      }
    }
    HWY_INLINE V at(const T* gy, const Name* names, Index i) const {
      // Gradients are added to 0, so that a sum of negative zeros is +0 on every path.
      V sum = hn::Add(hn::Zero(D()), match(gy, names, i + output[0], name[0]));
      NDPOOL_UNROLLED
      for (int s = 1; s < N; ++s) sum = hn::Add(sum, match(gy, names, i + output[s], name[s]));
      return sum;
    }
  };
  /// Any number of sights.
  template <class Unused>
  struct Watched<0, Unused> {
    const Sights& sights;
    HWY_INLINE explicit Watched(const Sights& all) : sights(all) {}
    HWY_INLINE V at(const T* gy, const Name* names, Index i) const {
      V sum = hn::Zero(D());
      for (int s = 0; s < sights.count; ++s)
        sum = hn::Add(sum, match(gy, names, i + sights.of[s].output, name_of(sights.of[s])));
      return sum;
    }
  };

  static HWY_INLINE void store(V v, T* to, bool streams) {
    if (streams)
      hn::Stream(v, D(), to);
    else
      hn::StoreU(v, D(), to);
  }

  template <int N>
  HWY_NOINLINE void every(const Sights& sights, T* cells, Index length, const Run run) const {
    const Watched<N> watched(sights);
    const T* gy = gy_;
    const Name* names = names_;
    for (Index row = 0; row < run.count; ++row, cells += run.cells, gy += run.outputs, names += run.outputs) {
      if (length < lanes) {
        T some[lanes];
        hn::StoreU(watched.at(gy, names, 0), D(), some);
        std::copy(some, some + length, cells);
        continue;
      }
      Index i = 0;
      for (; i + lanes <= length; i += lanes) store(watched.at(gy, names, i), cells + i, run.streams);
      if (i < length) hn::StoreU(watched.at(gy, names, length - lanes), D(), cells + length - lanes);
    }
  }

  /// Both kinds of cells in turn, to memory.
  static HWY_INLINE void store_pairs(V even, V odd, T* to, bool streams) {
    const D d;
    V low = hn::InterleaveLower(d, even, odd), high = hn::InterleaveUpper(d, even, odd);
    if constexpr (lanes * sizeof(T) > 16) {  // vectors are interleaved in blocks of 16 bytes
      const V lower = low;
      low = hn::ConcatLowerLower(d, high, lower);
      high = hn::ConcatUpperUpper(d, high, lower);
    }
    store(low, to, streams);
    store(high, to + lanes, streams);
  }

  /// Where in a row the pairs of the next vector of outputs are made: the last may make some again. Where it cannot,
  /// the `rest` of the row is shorter.
  struct Place {
    Index at, rest;
    HWY_INLINE Place(Index next, Index length) : at(next), rest(0) {
      if (next + 2 * lanes <= length) return;
      if (length % 2 == 0 && length >= 2 * lanes)
        at = length - 2 * lanes;
      else
        rest = length - next;
    }
  };

  /// What outputs at two places of two rows give to the cells between them. Along either axis, some cells are seen from
  /// both places, and the others from the one that is `near`.
  template <int near>
  struct Four {
    VName name[9];  ///< by the kinds of the row and of the cell (near first), then by output
    HWY_INLINE Four(const Sights& near_near, const Sights& near_far, const Sights& far_near, const Sights& far_far) {
      name[0] = name_of(near_near.of[0]);
      NDPOOL_UNROLLED
      for (int s = 0; s < 2; ++s) {
        name[1 + s] = name_of(near_far.of[s]);
        name[3 + s] = name_of(far_near.of[s]);
      }
      NDPOOL_UNROLLED
      for (int s = 0; s < 4; ++s) name[5 + s] = name_of(far_far.of[s]);
    }

    struct Output {
      V gy;
      VName name;
      // Gradients are added to 0, so that a sum of negative zeros is +0 on every path.
      HWY_INLINE Output(const T* from, const Name* names)
          : gy(hn::Add(hn::Zero(D()), hn::LoadU(D(), from))), name(hn::LoadU(DName(), names)) {}
      HWY_INLINE V if_named(VName other) const {
        return hn::IfThenElseZero(hn::RebindMask(D(), hn::Eq(name, other)), gy);
      }
    };
    /// `to` and `to_odd` are where the cells of both rows go.
    HWY_INLINE void make(const T* gy, Index gy_pitch, const Name* names, Index pitch, T* to, T* to_odd,
                         bool streams) const {
      const T* const next_gy = gy + gy_pitch;
      const Name* const next = names + pitch;
      const Output a(gy, names), b(gy + 1, names + 1), c(next_gy, next), e(next_gy + 1, next + 1);
      const Output &first = near == 0 ? a : c, &second = near == 0 ? b : e, &below = near == 0 ? c : e;
      const V near_near = (near == 0 ? a : e).if_named(name[0]);
      const V near_far = hn::Add(first.if_named(name[1]), second.if_named(name[2]));
      const V far_near = hn::Add((near == 0 ? a : b).if_named(name[3]), below.if_named(name[4]));
      const V far_far =
          hn::Add(hn::Add(hn::Add(a.if_named(name[5]), b.if_named(name[6])), c.if_named(name[7])), e.if_named(name[8]));
      if constexpr (near == 0) {
        store_pairs(near_near, near_far, to, streams);
        store_pairs(far_near, far_far, to_odd, streams);
      } else {
        store_pairs(far_far, far_near, to, streams);
        store_pairs(near_far, near_near, to_odd, streams);
      }
    }
  };

  template <int near>
  HWY_NOINLINE void every_four(const Sights (*lists)[SightClasses::most], T* cells, Index pitch, Index length,
                               const Run run) const {
    constexpr int far = 1 - near;
    const Four<near> four(lists[near][near], lists[near][far], lists[far][near], lists[far][far]);
    const T* gy = gy_ + lists[far][far].of[0].output;
    const Name* names = names_ + lists[far][far].of[0].output;
    const Index gy_pitch = run.gradients;
    for (Index row = 0; row < run.count; ++row, cells += run.cells, gy += gy_pitch, names += run.outputs) {
      T* const below = cells + pitch;
      Index i = 0;
      if (run.streams)
        for (; 2 * (i + lanes) <= length; i += lanes)
          four.make(gy + i, gy_pitch, names + i, run.outputs, cells + 2 * i, below + 2 * i, true);
      for (; 2 * (i + lanes) <= length; i += lanes)
        four.make(gy + i, gy_pitch, names + i, run.outputs, cells + 2 * i, below + 2 * i, false);
      if (2 * i == length) continue;
      const Place place(2 * i, length);
      i = place.at / 2;
      T some[2][2 * lanes];
      T* const to = place.rest > 0 ? some[0] : cells + place.at;
      T* const to_odd = place.rest > 0 ? some[1] : below + place.at;
      four.make(gy + i, gy_pitch, names + i, run.outputs, to, to_odd, false);
      if (place.rest == 0) continue;
      std::copy(to, to + place.rest, cells + place.at);
      std::copy(to_odd, to_odd + place.rest, below + place.at);
    }
  }

#else

  static constexpr Index lanes = 1;

 private:
  T one(const Sights& sights, Index at) const {
    T sum(0);
    for (int s = 0; s < sights.count; ++s)
      if (names_[at + sights.of[s].output] == sights.of[s].tap) sum += gy_[at + sights.of[s].output];
    return sum;
  }
  template <int>
  void every(const Sights& sights, T* cells, Index length, const Run run) const {
    for (Index row = 0; row < run.count; ++row)
      for (Index i = 0; i < length; ++i) cells[row * run.cells + i] = one(sights, row * run.outputs + i);
  }

#endif

  const T* gy_;
  const Name* names_;
};

/// True if cells of one kind are seen by one output, and the others by two neighbours along both axes. The first are
/// the even ones if `near` is 0.
inline bool sees_fours(const Sights (*lists)[SightClasses::most], int near, Index pitch) {
  const int far = 1 - near;
  if (lists[near][near].count != 1 || lists[far][far].count != 4) return false;
  const Sight* of = lists[far][far].of;
  return of[1].output == of[0].output + 1 && of[2].output == of[0].output + pitch &&
         lists[near][near].of[0].output == of[near == 0 ? 0 : 3].output;
}

template <class T>
void Matches<T>::make_pairs(const Sights& even, const Sights& odd, T* cells, Index length, const Run& run) const {
#if HWY_TARGET != HWY_SCALAR
  const Watched<0> at_even(even), at_odd(odd);
  const T* gy = gy_;
  const Name* names = names_;
  for (Index row = 0; row < run.count; ++row, cells += run.cells, gy += run.outputs, names += run.outputs) {
    for (Index next = 0; next < length; next += 2 * lanes) {
      const Place place(next, length);
      const Index i = place.at / 2;
      T some[2 * lanes];
      T* const to = place.rest > 0 ? some : cells + place.at;
      store_pairs(at_even.at(gy, names, i), at_odd.at(gy, names, i), to, run.streams);
      if (place.rest > 0) std::copy(to, to + place.rest, cells + place.at);
    }
  }
#else
  for (Index row = 0; row < run.count; ++row)
    for (Index i = 0; i < length; ++i)
      cells[row * run.cells + i] = one(i % 2 == 0 ? even : odd, row * run.outputs + i / 2);
#endif
}

template <class T>
bool Matches<T>::make_fours([[maybe_unused]] const Sights (*lists)[SightClasses::most], [[maybe_unused]] T* cells,
                            [[maybe_unused]] Index pitch, [[maybe_unused]] Index length,
                            [[maybe_unused]] const Run& run) const {
#if HWY_TARGET != HWY_SCALAR
  const auto is_near = [&](int near) { return sees_fours(lists, near, run.outputs); };
  if (is_near(0)) {
    every_four<0>(lists, cells, pitch, length, run);
    return true;
  }
  if (is_near(1)) {
    every_four<1>(lists, cells, pitch, length, run);
    return true;
  }
#endif
  return false;
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_MATCHES_INL_H_
