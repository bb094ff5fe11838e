// Per-target code: channels-first rows of large windows that step cell by cell. What a window costs hardly grows with
// it: rows are combined a few vectors of columns at a time, which keeps what they share in the first-level cache, and
// then the columns of some rows by doubling. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_LARGE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_LARGE_INL_H_
#undef NDPOOL_LARGE_INL_H_
#else
#define NDPOOL_LARGE_INL_H_
#endif

#include "kernels/forward/columns-inl.h"
#include "kernels/forward/large.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

template <class C>
class LargeWindows {
 public:
  using E = typename C::Element;
  using D = typename C::D;
  using V = typename C::V;
  static constexpr Index lanes = C::lanes;

  static bool can_make(const Rows& rows) { return C::is_common && lanes == LargeTile::lanes && is_large(rows); }

  LargeWindows(const Rows& rows, void* scratch)
      : axis_(rows.horizontal.window),
        k_(axis_.kernel),
        step_(rows.loop_count > 0 ? rows.loops[0].stride : Strides{}),
        tile_(rows),
        // Padding as the passes have it, so that zeros have the same sign: tiles of tall windows are padded with
        // zeros, and elsewhere rows outside the plane are left out.
        padding_row_(C::kind != Combine::sum || is_tall(rows) ? C::identity() : hn::Set(D(), E(-0.0F))) {
    if (rows.vertical_count > 0) {
      vertical_ = rows.vertical[0].window;
      row_step_ = rows.vertical[0].stride;
    } else {
      vertical_.input = vertical_.output = 1;
    }
    columns_ = reinterpret_cast<E*>(static_cast<char*>(scratch) + (fold_scratch_bytes(rows) + 63) / 64 * 64);
    blocks_ = columns_ + tile_.rows * tile_.pitch;
    rests_ = blocks_ + tile_.together * tile_.pitch;
    shared_ = rests_ + tile_.together * tile_.pitch;
  }

  /// As FusedWide::make.
  template <class Finish>
  bool make(Index first_row, Index count, Index planes, const E* in, E* out, bool stream, const Finish& finish) const {
    const bool streams = stream && rows_stream<C>(axis_, out, row_step_.out, step_.out) && tile_.outputs % lanes == 0;
    Seen seen{make_stack<C, wide>([](int) NDPOOL_HOT { return hn::Zero(D()); })};
    for (Index next = 0; next < axis_.output; next += tile_.outputs) {
      const Index begin = std::min(next, axis_.output - lanes);  // the last strip may make some outputs again
      const Index outputs = std::min(tile_.outputs, axis_.output - begin), first = axis_.start(begin);
      const Index from = std::max<Index>(first, 0), to = std::min(first + outputs + k_ - 1, axis_.input);
      // Cells are written where vectors are aligned, and read from wherever the first window begins.
      const Index margin = (from - first + lanes - 1) / lanes * lanes, start = margin - (from - first);
      for (Index r = 0; r < std::min(count, tile_.rows); ++r) {
        E* row = columns_ + r * tile_.pitch;
        std::fill(row, row + margin, identity());
        std::fill(row + margin + (to - from), row + tile_.pitch, identity());
      }
      for (Index plane = 0; plane < planes; ++plane)
        for (Index done = 0; done < count; done += tile_.rows) {
          const Index some = std::min(tile_.rows, count - done);
          const E* plane_in = in + plane * step_.in + from;
          read_ahead(plane_in, to - from, vertical_.start(first_row + done), some, seen);
          for_columns(to - from,
                      [&]<int W>(Index c) { across<W>(plane_in + c, first_row + done, some, columns_ + margin + c); });
          E* rows_out = out + plane * step_.out + done * row_step_.out + begin;
          for (Index r = 0; r < some; r += tile_.together)
            along(columns_ + r * tile_.pitch + start, std::min(tile_.together, some - r), rows_out + r * row_step_.out,
                  begin, outputs, done + r, streams, finish);
        }
    }
    V all = seen.of[0];
    repeat<wide - 1>([&](int w) NDPOOL_HOT { all = hn::Add(all, seen.of[w + 1]); });
    return !C::is_unfit(all);
  }

 private:
  static constexpr int wide = LargeTile::vectors;
  struct Blocks;
  using Seen = Stack<C, wide>;

  static E identity() { return Combiner<C::kind, Nan::propagate, E>::identity(); }
  static HWY_INLINE V combine(V a, V b) { return C::combine(a, b); }

  /// Calls f.operator()<vectors>(column) for at least a vector of columns, of which the last begins where it still
  /// fits.
  template <class F>
  static void for_columns(Index count, const F& f) {
    Index c = 0;
    if constexpr (C::kind != Combine::sum)
      for (; c + wide * lanes <= count; c += wide * lanes) f.template operator()<wide>(c);
    for (; c < count; c += lanes) f.template operator()<1>(std::min(c, count - lanes));
  }

  // ---- across ----

  /// Brings the input of some rows into the second-level cache, in the order of memory, because hardware does not see
  /// what comes when rows are read in pieces; and looks for NaNs on the way.
  HWY_NOINLINE void read_ahead(const E* in, Index length, Index top, Index count, Seen& all_seen) const {
    Seen seen = all_seen;
    const Index end = std::min(top + count + vertical_.kernel - 1, vertical_.input);
    for (Index row = std::max<Index>(top, 0); row < end; ++row) {
      const E* from = in + row * row_step_.in;
      Index i = 0;
      for (; i + wide * lanes <= length; i += wide * lanes)
        repeat<wide>([&](int w) NDPOOL_HOT { seen.of[w] = hn::Add(seen.of[w], C::load(from + i + w * lanes)); });
      for (; i < length; i += lanes) seen.of[0] = hn::Add(seen.of[0], C::load(from + std::min(i, length - lanes)));
    }
    all_seen = seen;
  }

  template <int W>
  void across(const E* in, Index position, Index count, E* to) const {
    if constexpr (C::kind == Combine::sum)
      sums(in, vertical_.start(position), count, to);
    else
      extremes<W>(in, vertical_.start(position), count, to);
  }

  /// In blocks of as many windows as a window has rows: the rows from each to the end of the block, then those from
  /// there on to the end of each. A window is one of both, so three combines make it.
  template <int W>
  HWY_NOINLINE void extremes(const E* in, Index top, Index count, E* to) const {
    const Index k = vertical_.kernel, height = vertical_.input, step = row_step_.in, pitch = tile_.pitch;
    E* const to_end = shared_;
    const auto read = [&](Index row) NDPOOL_HOT {
      return make_stack<C, W>([&](int w) NDPOOL_HOT { return C::load(in + row * step + w * lanes); });
    };
    for (; count > 0; count -= k, top += k, to += k * pitch) {
      Stack<C, W> v = make_stack<C, W>([](int) NDPOOL_HOT { return C::identity(); });
      for (Index i = k - 1; i >= 0; --i) {
        if (top + i >= 0 && top + i < height) {
          const Stack<C, W> cells = read(top + i);
          repeat<W>([&](int w) NDPOOL_HOT { v.of[w] = combine(cells.of[w], v.of[w]); });
        }
        repeat<W>([&](int w) NDPOOL_HOT { C::store(v.of[w], to_end + (i * W + w) * lanes); });
      }
      v = make_stack<C, W>([](int) NDPOOL_HOT { return C::identity(); });
      for (Index i = 0; i < std::min(k, count); ++i) {
        if (const Index row = top + k + i - 1; i > 0 && row < height) {
          const Stack<C, W> cells = read(row);
          repeat<W>([&](int w) NDPOOL_HOT { v.of[w] = combine(v.of[w], cells.of[w]); });
        }
        repeat<W>([&](int w) NDPOOL_HOT {
          C::store(combine(C::load(to_end + (i * W + w) * lanes), v.of[w]), to + i * pitch + w * lanes);
        });
      }
    }
  }

  /// The rows of a vector of columns as the columns of a row: blocks of eight rows from every row on, and of as many as
  /// eight leave over, then larger ones.
  HWY_INLINE void sums(const E* in, Index top, Index count, E* to) const {
    const Index k = vertical_.kernel, rows = count + k - 1, room = (rows + 2 * lanes) * lanes;
    E *const blocks = shared_ + lanes * lanes, *const rests = blocks + room;
    with_count<0>(k % lanes, [&]<int few>() { first_sums<few>(in, top, rows, blocks, rests); });
    const Blocks all = larger_blocks(k, lanes, rows * lanes, 1, {blocks, rests, 0, k % lanes > 0});
    with_count<1>(all.count, [&]<int N>() { last_sums<N>(all, count, to); });
  }
  template <int few>
  HWY_NOINLINE void first_sums(const E* in, Index top, Index rows, E* blocks, E* rests) const {
    const Index height = vertical_.input, step = row_step_.in;
    alignas(64) E padding[lanes];
    C::store(padding_row_, padding);
    // What ends at each of the last rows and of the next four.
    V one[5], two[6], four[8];
    repeat<1>([&](int i) NDPOOL_HOT { one[i] = padding_row_; });
    repeat<2>([&](int i) NDPOOL_HOT { two[i] = padding_row_; });
    repeat<4>([&](int i) NDPOOL_HOT { four[i] = padding_row_; });
    for (Index r = 0; r < rows; r += 4) {
      repeat<4>([&](int i) NDPOOL_HOT {
        const Index row = top + r + i;
        const E* from = row >= 0 && row < height ? in + row * step : padding;
        const V x = one[i + 1] = C::load(from);
        two[i + 2] = combine(one[i], x);
        four[i + 4] = combine(two[i], two[i + 2]);
        C::store(combine(four[i], four[i + 4]), blocks + (r + i - 7) * lanes);
        V rest = x;
        if constexpr (few % 4 == 2) rest = two[i + 2];
        if constexpr (few % 4 == 3) rest = combine(two[i + 1], x);
        if constexpr (few == 4) rest = four[i + 4];
        if constexpr (few > 4) rest = combine(four[i + 8 - few], rest);
        if constexpr (few > 0) C::store(rest, rests + (r + i - few + 1) * lanes);
      });
      one[0] = one[4];
      repeat<2>([&](int i) NDPOOL_HOT { two[i] = two[i + 4]; });
      repeat<4>([&](int i) NDPOOL_HOT { four[i] = four[i + 4]; });
    }
  }
  template <int N>
  HWY_NOINLINE void last_sums(const Blocks& given, Index count, E* to) const {
    const Blocks all = given;
    const Index pitch = tile_.pitch;
    for (Index r = 0; r < count; ++r) C::store(all.template fold<N>(r * lanes), to + r * pitch);
  }

  // ---- blocks ----

  /// Blocks of `size` taps from every place on. The last block of a window is elsewhere: in sums it is what whole
  /// blocks leave over, and extremes may overlap.
  struct Blocks {
    E *blocks, *rests;
    Index count;
    bool has_rest;
    Index size = 0;
    const E* last = nullptr;

    /// A window of N blocks, combined with the spec's split.
    template <int N>
    HWY_INLINE V fold(Index i) const {
      const auto leaf = [&](int n) NDPOOL_HOT { return C::load(n + 1 < N ? blocks + n * size + i : last + i); };
      return fold_split<0, N>(leaf, [](V a, V b) NDPOOL_HOT { return combine(a, b); });
    }
  };
  static constexpr int most_blocks = 8;

  /// Makes blocks of eight taps, which are `step` elements apart, so large that a window has few of them; in some rows.
  Blocks larger_blocks(Index taps, Index step, Index length, Index rows, Blocks all) const {
    Index size = lanes;
    const bool overlaps = C::kind != Combine::sum && taps >= lanes;
    for (; taps > most_blocks * size; size *= 2) {
      for (Index r = 0; r < rows; ++r) {
        E *const blocks = all.blocks + r * tile_.pitch, *const rests = all.rests + r * tile_.pitch;
        if (!overlaps && (taps & size)) gather(size * step, length, blocks, rests, all.has_rest);
        double_blocks(size * step, length, blocks);
      }
      all.has_rest = all.has_rest || (taps & size);
    }
    all.count = (taps + size - 1) / size;
    all.size = size * step;
    if (overlaps)
      all.last = all.blocks + (taps - size) * step;
    else
      all.last = (all.has_rest ? all.rests : all.blocks) + (all.count - 1) * size * step;
    return all;
  }
  /// Blocks twice as large, as far as there are any.
  static HWY_NOINLINE void double_blocks(Index size, Index length, E* blocks) {
    for (Index i = 0; i + size < length; i += lanes)
      C::store(combine(C::load(blocks + i), C::load(blocks + i + size)), blocks + i);
  }
  /// What smaller blocks leave over, with a block in front of it.
  static HWY_NOINLINE void gather(Index size, Index length, const E* blocks, E* rests, bool has_rest) {
    for (Index i = 0; i + size < length; i += lanes) {
      const V block = C::load(blocks + i);
      C::store(has_rest ? combine(block, C::load(rests + i + size)) : block, rests + i);
    }
  }

  // ---- along ----

  /// Some rows of columns, from where the first window begins. They wait for one another: what was just written cannot
  /// be read at other places without a stall.
  template <class Finish>
  void along(const E* columns, Index count, E* out, Index begin, Index outputs, Index first_row, bool streams,
             const Finish& finish) const {
    const Index vectors = (outputs + lanes - 1) / lanes + k_ / lanes, pitch = tile_.pitch;
    const Index few = C::kind != Combine::sum && k_ >= lanes ? 0 : k_ % lanes;
    for (Index r = 0; r < count; ++r)
      with_count<0>(few, [&]<int N>() {
        first_blocks<N>(columns + r * pitch, vectors, blocks_ + r * pitch, rests_ + r * pitch);
      });
    const Blocks all = larger_blocks(k_, 1, vectors * lanes, count, {blocks_, rests_, 0, few > 0});
    with_count<1>(all.count, [&]<int N>() { write<N>(all, count, out, begin, outputs, first_row, streams, finish); });
  }

  /// The blocks of a vector of taps at every place, and those of `few` taps.
  template <int few>
  static HWY_NOINLINE void first_blocks(const E* x, Index vectors, E* blocks, E* rests) {
    const D d;
    const auto both = [](V a, V b) NDPOOL_HOT { return combine(a, b); };
    const auto twos = [&](V high, V low) NDPOOL_HOT { return combine(low, slide<1>(d, high, low)); };
    const auto fours = [&](V high, V low) NDPOOL_HOT { return combine(low, slide<2>(d, high, low)); };
    V one = C::load(x + 2 * lanes), two, four;
    {
      const V zeroth = C::load(x), first = C::load(x + lanes);
      two = twos(one, first);
      four = fours(two, twos(first, zeroth));
    }
    for (Index i = 0; i < vectors * lanes; i += lanes) {
      const V next = C::load(x + i + 3 * lanes);
      const V next_two = twos(next, one), next_four = fours(next_two, two);
      C::store(combine(four, slide<4>(d, next_four, four)), blocks + i);
      const auto leaf = [&](int t) NDPOOL_HOT { return C::load(x + i + t); };
      if constexpr (few == 4) C::store(four, rests + i);
      if constexpr (few > 4) C::store(combine(four, fold_split<4, few - 4>(leaf, both)), rests + i);
      if constexpr (few > 0 && few < 4) C::store(fold_split<0, few>(leaf, both), rests + i);
      one = next, two = next_two, four = next_four;
    }
  }

  template <int N, class Finish>
  HWY_NOINLINE void write(const Blocks& given, Index count, E* out, Index begin, Index outputs, Index first_row,
                          bool streams, const Finish& given_finish) const {
    const Finish finish = given_finish;  // the loop's alone, so that it can live in registers
    Blocks all = given;
    for (Index r = 0; r < count; ++r, all.blocks += tile_.pitch, all.last += tile_.pitch, out += row_step_.out)
      for (Index next = 0; next < outputs; next += lanes) {
        const Index i = std::min(next, outputs - lanes);
        C::store(finish(all.template fold<N>(i), begin + i, first_row + r), out + i, streams);
      }
  }

  /// Calls f.operator()<count>(), for up to eight from N on.
  template <int N, class F>
  static void with_count(Index count, const F& f) {
    if (count == N) return f.template operator()<N>();
    if constexpr (N < 8) with_count<N + 1>(count, f);
  }

  const Axis& axis_;
  Axis vertical_;
  const Index k_;
  const Strides step_;  ///< from plane to plane
  Strides row_step_;
  const LargeTile tile_;
  const V padding_row_;
  E *columns_, *blocks_, *rests_, *shared_;
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_LARGE_INL_H_
