// Per-target code: the VJP of max and min from tap numbers, cell by cell. A cell gets the gradients of those outputs
// that see it under the tap they name. No include guard of the usual kind: see rows-inl.h.
//
// Lanes of a cell are seen alike: by outputs at the same distances, under the same taps. So whole vectors of lanes are
// made at once, each written once, in order, zeros included.
#if defined(NDPOOL_MATCHES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_MATCHES_INL_H_
#undef NDPOOL_MATCHES_INL_H_
#else
#define NDPOOL_MATCHES_INL_H_
#endif

#include "kernels/planes-inl.h"

#include <ndpool/spec/scalar.hpp>

// Arrays of vectors stay in registers only where their loops are unrolled.
#ifndef NDPOOL_UNROLLED
#define NDPOOL_UNROLLED _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// One way in which cells are seen: by the output this far away, under this tap.
struct Sight {
  Index output;
  Index tap;
};

/// Sights of one cell; more of them than this are better scattered.
inline constexpr int most_sights = 16;

struct Sights {
  int count = 0;
  Sight of[most_sights];
};

/// How the cells of a windowed axis are seen, by their remainder modulo the stride: cell c by the outputs
/// c / stride + sight.output. In increasing order of the outputs, which is the order of the spec.
struct SightClasses {
  static constexpr Index most = 4;
  Sights of[most];
  Index nearest = 0, span = 0;  ///< the least sight.output, and from there to the greatest
  Index steps = 0;              ///< c / stride is below it

  static bool fit(const Axis& axis) { return !axis.adaptive && axis.stride <= most && largest(axis) <= most_sights; }
  /// Most sights of a class. Taps of a dilated window may all fall into one.
  static Index largest(const Axis& axis) {
    return axis.dilation == 1 ? (axis.kernel + axis.stride - 1) / axis.stride : axis.kernel;
  }

  void find(const Axis& axis) {
    steps = (axis.input + axis.stride - 1) / axis.stride;
    nearest = std::numeric_limits<Index>::max();
    Index farthest = std::numeric_limits<Index>::min();
    for (Index c = 0; c < axis.stride; ++c)
      for (Index tap = axis.kernel - 1; tap >= 0; --tap) {
        const Index distance = c + axis.lo - tap * axis.dilation;
        if (distance % axis.stride != 0) continue;
        of[c].of[of[c].count++] = {distance / axis.stride, tap};
        nearest = std::min(nearest, distance / axis.stride);
        farthest = std::max(farthest, distance / axis.stride);
      }
    span = farthest - nearest;
  }
};

/// Sums of the gradients that match, in the type that T is summed in.
template <class T>
class Matches {
 public:
  using Sum = spec::Accumulator<T>;

  /// There is a vector of elements behind all that sights lead to.
  Matches(const T* gy, const std::uint8_t* taps) : gy_(gy), taps_(taps) {}

  /// Rows of cells that are seen alike: how many, and how far apart they and their outputs are.
  struct Run {
    Index count = 1, cells = 0, outputs = 0;
  };

  /// cells[i] = what outputs i + sight.output give to it.
  HWY_INLINE void make(const Sights& sights, T* cells, Index length, const Run& run) const {
    switch (sights.count) {
      case 1: return every<1>(sights, cells, length, run);
      case 2: return every<2>(sights, cells, length, run);
      case 4: return every<4>(sights, cells, length, run);
      case 6: return every<6>(sights, cells, length, run);
      case 9: return every<9>(sights, cells, length, run);
      default: return every<0>(sights, cells, length, run);
    }
  }

  HWY_INLINE T one(const Sights& sights, Index at) const {
    Sum sum(0);
    for (int s = 0; s < sights.count; ++s) {
      const Sight& sight = sights.of[s];
      if (taps_[at + sight.output] == sight.tap) sum += static_cast<Sum>(gy_[at + sight.output]);
    }
    return spec::narrow<T>(sum);
  }

 private:
#if HWY_TARGET != HWY_SCALAR
  static constexpr bool has_vectors = std::is_same_v<T, Sum>;
#else
  static constexpr bool has_vectors = false;
#endif

  template <int N>
  HWY_NOINLINE void every(const Sights& sights, T* cells, Index length, const Run run) const {
    const T* gy = gy_;
    const std::uint8_t* taps = taps_;
#if HWY_TARGET != HWY_SCALAR
    if constexpr (has_vectors) {
      const auto wanted = watch<N>(sights);
      for (Index row = 0; row < run.count; ++row, cells += run.cells, gy += run.outputs, taps += run.outputs) {
        if (length < lanes) {
          T some[lanes];
          hn::StoreU(wanted.at(gy, taps, 0), D(), some);
          std::copy(some, some + length, cells);
          continue;
        }
        Index i = 0;
        for (; i + lanes <= length; i += lanes) hn::StoreU(wanted.at(gy, taps, i), D(), cells + i);
        if (i < length) hn::StoreU(wanted.at(gy, taps, length - lanes), D(), cells + length - lanes);
      }
      return;
    }
#endif
    for (Index row = 0; row < run.count; ++row, cells += run.cells, gy += run.outputs, taps += run.outputs)
      for (Index i = 0; i < length; ++i) cells[i] = Matches(gy, taps).one(sights, i);
  }

#if HWY_TARGET != HWY_SCALAR
  // Short floats have no vectors here; the tag must still exist.
  using D = hn::ScalableTag<std::conditional_t<has_vectors, T, float>>;
  using V = hn::Vec<D>;
  using DTap = hn::RebindToSigned<D>;
  static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));

  /// Tap numbers of some outputs, as wide as their gradients.
  static HWY_INLINE hn::Vec<DTap> load_taps(const std::uint8_t* from) {
    const auto narrow_taps = hn::LoadU(hn::Rebind<std::uint8_t, D>(), from);
    if constexpr (sizeof(T) == 8)
      return hn::PromoteTo(DTap(), hn::PromoteTo(hn::Rebind<std::int32_t, D>(), narrow_taps));
    else
      return hn::PromoteTo(hn::Rebind<std::int32_t, D>(), narrow_taps);
  }

  static HWY_INLINE V match(const T* gy, const std::uint8_t* taps, Index at, hn::Vec<DTap> tap) {
    const auto named = hn::Eq(load_taps(taps + at), tap);
    return hn::IfThenElseZero(hn::RebindMask(D(), named), hn::LoadU(D(), gy + at));
  }

  /// `N` sights in registers.
  template <int N, class = void>
  struct Watched {
    Index output[N];
    hn::Vec<DTap> tap[N];
    HWY_INLINE V at(const T* gy, const std::uint8_t* taps, Index i) const {
      // Gradients are added to 0, so that a sum of negative zeros is +0 on every path.
      V sum = hn::Add(hn::Zero(D()), match(gy, taps, i + output[0], tap[0]));
      NDPOOL_UNROLLED
      for (int s = 1; s < N; ++s) sum = hn::Add(sum, match(gy, taps, i + output[s], tap[s]));
      return sum;
    }
  };
  /// Any number of sights.
  template <class Unused>
  struct Watched<0, Unused> {
    const Sights& sights;
    HWY_INLINE V at(const T* gy, const std::uint8_t* taps, Index i) const {
      V sum = hn::Zero(D());
      for (int s = 0; s < sights.count; ++s)
        sum = hn::Add(sum, match(gy, taps, i + sights.of[s].output, tap_vector(sights.of[s])));
      return sum;
    }
  };
  static HWY_INLINE hn::Vec<DTap> tap_vector(const Sight& sight) {
    return hn::Set(DTap(), static_cast<hn::TFromD<DTap>>(sight.tap));
  }

  template <int N>
  static HWY_INLINE Watched<N> watch(const Sights& sights) {
    if constexpr (N == 0) {
      return {sights};
    } else {
      Watched<N> watched;
      NDPOOL_UNROLLED
      for (int s = 0; s < N; ++s) {
        watched.output[s] = sights.of[s].output;
        watched.tap[s] = tap_vector(sights.of[s]);
      }
      return watched;
    }
  }
#endif

  const T* gy_;
  const std::uint8_t* taps_;
};

/// Makes whole planes of gx.
///
/// Gradients and taps are first copied, a band of rows at a time, with taps that match nothing all around. So all cells
/// of a class are alike.
template <class T>
class MatchedPlanes {
 public:
  /// True if planes may be made this way, and sooner than by a scatter. The object must agree.
  static bool may_make(const Rows& rows) {
    const Axis& axis = rows.horizontal.window;
    if (rows.tap_count > 0xFF || match_row_bytes(rows) == 0 || !SightClasses::fit(axis)) return false;
    // Vectors are made of lanes behind the axis, or of all lanes along it.
    if (rows.inner.extent == 1 || (rows.inner.extent < 4 && axis.stride > 1)) return false;
    Index sights = SightClasses::largest(axis);
    for (int v = 0; v < rows.vertical_count; ++v) {
      if (!SightClasses::fit(rows.vertical[v].window)) return false;
      sights *= SightClasses::largest(rows.vertical[v].window);
      if (sights > most_sights) return false;
    }
    return true;
  }
  explicit operator bool() const { return layout_.band_steps > 0; }

  /// `scratch` has room for a row of cells and for a band.
  MatchedPlanes(const Rows& rows, T* gx, void* scratch, bool stream)
      : rows_(rows),
        axis_(rows.horizontal.window),
        inner_(rows.inner.extent),
        layout_(rows),
        gx_(gx),
        row_(static_cast<T*>(scratch)),
        band_gy_(reinterpret_cast<T*>(static_cast<char*>(scratch) + match_row_bytes(rows))),
        band_taps_(reinterpret_cast<std::uint8_t*>(band_gy_ + layout_.elements)),
        packed_(tangent_in_is_packed(rows)),
        stream_(stream) {}

  /// The plane at an offset in gx, from rows that `load(vertical positions, gradients, taps)` copies or finds.
  template <class Load>
  void make(Index plane, const Load& load) {
    const Index steps = rows_.vertical_count > 0 ? layout_.across[0].steps : 1;
    for (Index begin = 0; begin < steps; begin += layout_.band_steps) {
      const Index end = std::min(begin + layout_.band_steps, steps);
      Index positions[max_rank + 1] = {};
      load_rows(0, begin, end, 0, true, positions, load);
      make_steps(plane, begin, end);
    }
  }

 private:
  /// How a band lies in scratch.
  struct Layout {
    explicit Layout(const Rows& rows) {
      along.find(rows.horizontal.window);
      Index size = 0;
      if (__builtin_mul_overflow(along.steps + along.span, rows.inner.extent, &size)) return;
      for (int v = rows.vertical_count - 1; v >= 0; --v) {
        pitch[v] = size;
        across[v].find(rows.vertical[v].window);
        if (v > 0 && __builtin_mul_overflow(size, across[v].steps + across[v].span, &size)) return;
      }
      constexpr Index beyond = 64;  // what vectors may read
      const Index room = static_cast<Index>(match_band_bytes / (sizeof(T) + 1)) - beyond;
      band_steps = rows.vertical_count == 0 ? (size <= room ? 1 : 0) : room / size - across[0].span;
      elements = (room + beyond) / 64 * 64;
    }
    SightClasses along, across[max_rank];
    Index pitch[max_rank + 1] = {};
    Index band_steps = 0;
    Index elements = 0;
  };

  template <class Load>
  void load_rows(int axis, Index begin, Index end, Index base, bool exists, Index* positions, const Load& load) {
    if (axis == rows_.vertical_count) {
      std::uint8_t* taps = band_taps_ + base;
      T* gy = band_gy_ + base;
      const Index width = layout_.along.steps + layout_.along.span;
      const Index first = std::clamp<Index>(-layout_.along.nearest, 0, width);
      const Index last = std::clamp<Index>(axis_.output - layout_.along.nearest, first, width);
      if (!exists) return static_cast<void>(std::fill(taps, taps + width * inner_, std::uint8_t{0xFF}));
      std::fill(taps, taps + first * inner_, std::uint8_t{0xFF});
      std::fill(taps + last * inner_, taps + width * inner_, std::uint8_t{0xFF});
      return load(positions, first + layout_.along.nearest, last - first, gy + first * inner_, taps + first * inner_);
    }
    const SightClasses& across = layout_.across[axis];
    for (Index i = 0; i < end - begin + across.span; ++i) {
      positions[axis] = begin + i + across.nearest;
      const bool is_output = positions[axis] >= 0 && positions[axis] < rows_.vertical[axis].window.output;
      const Index next_steps = axis + 1 < rows_.vertical_count ? layout_.across[axis + 1].steps : 0;
      load_rows(axis + 1, 0, next_steps, base + i * layout_.pitch[axis], exists && is_output, positions, load);
    }
  }

  void make_steps(Index plane, Index begin, Index end) {
    Sights none;
    none.count = 1;
    none.of[0] = {0, 0};
    if (rows_.vertical_count > 0) return rows_below(0, none, begin, end, 0, plane);
    Sights lists[SightClasses::most];
    combine_with_row(none, lists);
    make_rows(lists, 0, plane, {});
  }

  /// Walks over the input rows under some steps of an axis, with the output rows that see each of them.
  void rows_below(int axis, const Sights& above, Index begin, Index end, Index base, Index offset) {
    const PooledAxis& vertical = rows_.vertical[axis];
    const SightClasses& across = layout_.across[axis];
    const bool is_last = axis + 1 == rows_.vertical_count;
    Sights here[SightClasses::most];
    for (Index c = 0; c < vertical.window.stride && (axis > 0 || !knows_lists_); ++c) {
      here[c] = product(above, across.of[c], layout_.pitch[axis], across.nearest, vertical.tap_stride);
      if (is_last) combine_with_row(here[c], lists_[c]);
    }
    knows_lists_ = axis == 0 && is_last;  // all planes have the same
    const Index stride = vertical.window.stride, last = std::min(end * stride, vertical.window.input);
    for (Index c = 0; c < stride && is_last; ++c) {
      const Index first = begin * stride + c;
      if (first < last)
        make_rows(lists_[c], base, offset + first * vertical.stride.tangent_in,
                  {(last - first - 1) / stride + 1, stride * vertical.stride.tangent_in, layout_.pitch[axis]});
    }
    if (is_last) return;
    for (Index cell = begin * stride; cell < last; ++cell)
      rows_below(axis + 1, here[cell % stride], 0, layout_.across[axis + 1].steps,
                 base + (cell / stride - begin) * layout_.pitch[axis], offset + cell * vertical.stride.tangent_in);
  }

  void combine_with_row(const Sights& output_rows, Sights* lists) const {
    for (Index c = 0; c < axis_.stride; ++c)
      lists[c] = product(output_rows, layout_.along.of[c], inner_, layout_.along.nearest, 1);
  }

  /// Every sight of a class from every one before it.
  static Sights product(const Sights& before, const Sights& in_class, Index pitch, Index nearest, Index tap_stride) {
    Sights all;
    for (int b = 0; b < before.count; ++b)
      for (int s = 0; s < in_class.count; ++s)
        all.of[all.count++] = {before.of[b].output + (in_class.of[s].output - nearest) * pitch,
                               before.of[b].tap + in_class.of[s].tap * tap_stride};
    return all;
  }

  using Run = typename Matches<T>::Run;

  /// Input rows that are seen alike; `lists` has the sights of the classes along them.
  void make_rows(const Sights* lists, Index base, Index offset, const Run& run) {
    T* to = gx_ + offset;
    const auto lies_fine = [&](Index by) { return reinterpret_cast<std::uintptr_t>(to + by) % 32 == 0; };
    const bool streams = stream_ && packed_ && lies_fine(0) && lies_fine(run.cells);
    if (packed_ && !streams) return make_cells(lists, base, to, run);
    const Index length = axis_.input * inner_;
    for (Index row = 0; row < run.count; ++row, to += run.cells) {
      make_cells(lists, base + row * run.outputs, row_, {});
      if (streams) {
        copy_streaming(row_, to, length);
        continue;
      }
      for (Index pixel = 0; pixel < axis_.input; ++pixel)
        for (Index lane = 0; lane < inner_; ++lane)
          to[pixel * rows_.horizontal.stride.tangent_in + lane * rows_.inner.stride.tangent_in] =
              row_[pixel * inner_ + lane];
    }
  }

  void make_cells(const Sights* lists, Index base, T* cells, const Run& run) const {
    const Index length = axis_.input * inner_;
    const auto matches = [&](Index by) { return Matches<T>(band_gy_ + base + by, band_taps_ + base + by); };
    if (axis_.stride == 1) return matches(0).make(lists[0], cells, length, run);
    for (Index row = 0; row < run.count; ++row)
      for (Index pixel = 0; pixel < axis_.input; ++pixel)
        matches(row * run.outputs + pixel / axis_.stride * inner_)
            .make(lists[pixel % axis_.stride], cells + row * run.cells + pixel * inner_, inner_, {});
  }

  const Rows& rows_;
  const Axis& axis_;
  const Index inner_;
  const Layout layout_;
  T* gx_;
  T* row_;
  T* band_gy_;
  std::uint8_t* band_taps_;
  const bool packed_, stream_;
  bool knows_lists_ = false;
  Sights lists_[SightClasses::most][SightClasses::most];  ///< by classes of the last vertical axis and along the row
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_MATCHES_INL_H_
