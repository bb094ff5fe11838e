// Per-target code: planes whose rows are no longer than two vectors, under 3x3 windows that step cell by cell. No
// include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_SHORT_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_SHORT_ROWS_INL_H_
#undef NDPOOL_SHORT_ROWS_INL_H_
#else
#define NDPOOL_SHORT_ROWS_INL_H_
#endif

#include "kernels/forward/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Makes planes that follow one another in both arrays, with as many outputs as cells. Of each row, the columns that
/// are needed are kept in registers while the plane is walked down.
template <class C>
class ShortRows {
 public:
  using E = typename C::Element;
  using D = typename C::D;
  using V = typename C::V;
  static constexpr Index lanes = C::lanes;

  static bool can_make(const Rows& rows) {
    if (!C::is_common || rows.vertical_count != 1 || rows.inner.extent != 1 || rows.loop_count > 1) return false;
    const Axis& along = rows.horizontal.window;
    const PooledAxis& across = rows.vertical[0];
    const Index cells = along.input * across.window.input;
    const auto is_packed = [&](Index Strides::*array) {
      return rows.horizontal.stride.*array == 1 && across.stride.*array == along.input &&
             (rows.loop_count == 0 || rows.loops[0].stride.*array == cells);
    };
    return keeps_size(along) && keeps_size(across.window) && along.input <= 2 * lanes && along.input > lanes / 2 &&
           across.window.input <= most_rows && is_packed(&Strides::in) && is_packed(&Strides::out);
  }

  explicit ShortRows(const Rows& rows) : width_(rows.horizontal.window.input), height_(rows.vertical[0].window.input) {}

  /// Planes from the one that begins at `offset` on; `in` and `out` are the whole arrays. `finish(vector, output)` is
  /// what is stored. False if there was a NaN: then what was written is not to be used.
  template <class Finish>
  bool make(Index offset, Index count, const E* in, E* out, const Finish& finish) const {
    const Index cells = width_ * height_, first = offset / cells, last = first + count - 1;
    V seen = hn::Zero(D());
    if (width_ > lanes) {
      make_two(in + first * cells, out + first * cells, count, finish, seen);
    } else {
      const auto make = [&](const E* from, E* to, Index planes) HWY_ATTR {
        if (width_ < lanes)
          make_one<false>(from, to, planes, finish, seen);
        else
          make_one<true>(from, to, planes, finish, seen);
      };
      make(in + first * cells, out + first * cells, count - 1);
      // Behind the last plane is what others write, and behind the array what nobody may read.
      E input[(most_rows + 1) * lanes], output[(most_rows + 1) * lanes];
      std::copy_n(in + last * cells, cells, input);
      std::fill_n(input + cells, lanes, E{});
      make(input, output, 1);
      std::copy_n(output, cells, out + last * cells);
    }
    return !C::is_unfit(seen);
  }

 private:
  static constexpr Index most_rows = 64;

  static bool keeps_size(const Axis& axis) {
    return !axis.adaptive && axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1 && axis.lo == 1 &&
           axis.output == axis.input;
  }

  /// Calls row(cells of N vectors of the row above, of this one, and of the one below) for all rows of some planes;
  /// load(from) answers the cells of a row. Outside a plane are cells that change nothing.
  template <int N, class Load, class Row>
  HWY_INLINE void for_each_row(const E* in, Index count, const Load& load, const Row& row) const {
    const Index width = width_, height = height_;
    const Stack<C, N> outside = make_stack<C, N>([](int) NDPOOL_HOT { return C::identity(); });
    for (Index plane = 0; plane < count; ++plane) {
      Stack<C, N> above = outside, middle = load(in);
      for (Index r = 1; r < height; ++r) {
        in += width;
        const Stack<C, N> below = load(in);
        row(above, middle, below);
        above = middle;
        middle = below;
      }
      in += width;
      row(above, middle, outside);
    }
  }

  /// Where lanes come from that are moved by so many places, those at one end to the other.
  static HWY_INLINE auto turned(Index by) {
    using Lane = hn::TFromD<hn::RebindToSigned<D>>;
    Lane from[lanes];
    for (Index i = 0; i < lanes; ++i) from[i] = static_cast<Lane>((i + lanes + by) % lanes);
    return hn::SetTableIndices(D(), from);
  }

  /// A row is one vector, whose last lanes hold the beginning of the next row; what is written there is overwritten by
  /// that. Unless `is_full`, there are such lanes, which hold what is outside while neighbours are combined.
  template <bool is_full, class Finish>
  HWY_NOINLINE void make_one(const E* in, E* out, Index count, const Finish& given_finish, V& all_seen) const {
    const D d;
    constexpr int last = static_cast<int>(lanes) - 1;
    const Finish finish = given_finish;  // what the loops need is theirs alone, so that it can live in registers
    const Index width = width_;
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(width));
    const auto to_right = turned(-1), to_left = turned(1);
    const V outside = C::identity();
    V seen = all_seen;
    const auto load = [](const E* from) NDPOOL_HOT { return Stack<C, 1>{{C::load(from)}}; };
    for_each_row<1>(in, count, load, [&](const auto& above, const auto& middle, const auto& below) NDPOOL_HOT {
      if constexpr (C::watches) seen = C::notice(seen, middle.of[0]);
      const V all = C::combine(C::combine(above.of[0], middle.of[0]), below.of[0]);
      const V column = hn::IfThenElse(inside, all, outside);
      V left, right;
      if constexpr (is_full) {
        left = slide<last>(d, column, outside);
        right = slide<1>(d, outside, column);
      } else {
        left = hn::TableLookupLanes(column, to_right);
        right = hn::TableLookupLanes(column, to_left);
      }
      C::store(finish(C::combine(C::combine(left, column), right), 0), out);
      out += width;
    });
    all_seen = seen;
  }

  /// A row is two vectors, of which the second ends where the row does. Their neighbours inside the row are columns of
  /// their own: moving lanes from one vector to the other would take longer.
  template <class Finish>
  HWY_NOINLINE void make_two(const E* in, E* out, Index count, const Finish& given_finish, V& all_seen) const {
    const D d;
    constexpr int last = static_cast<int>(lanes) - 1;
    const Finish finish = given_finish;
    const Index width = width_, second = width - lanes;
    const V outside = C::identity();
    V seen = all_seen;
    const auto load = [&](const E* from) NDPOOL_HOT {
      return Stack<C, 4>{{C::load(from), C::load(from + 1), C::load(from + second - 1), C::load(from + second)}};
    };
    for_each_row<4>(in, count, load, [&](const auto& above, const auto& middle, const auto& below) NDPOOL_HOT {
      if constexpr (C::watches) seen = C::notice(seen, C::notice(middle.of[0], middle.of[3]));
      const Stack<C, 4> columns = make_stack<C, 4>(
          [&](int i) NDPOOL_HOT { return C::combine(C::combine(above.of[i], middle.of[i]), below.of[i]); });
      const V left = slide<last>(d, columns.of[0], outside), right = slide<1>(d, outside, columns.of[3]);
      C::store(finish(C::combine(C::combine(left, columns.of[0]), columns.of[1]), 0), out);
      C::store(finish(C::combine(C::combine(columns.of[2], columns.of[3]), right), 0), out + second);
      out += width;
    });
    all_seen = seen;
  }

  const Index width_, height_;
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_SHORT_ROWS_INL_H_
