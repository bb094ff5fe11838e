// Per-target code: gradients of windows that lie side by side. A cell is in one window at most, so every output row
// writes input rows of its own, each cell once, zeros included. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_SEPARATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_SEPARATE_INL_H_
#undef NDPOOL_SEPARATE_INL_H_
#else
#define NDPOOL_SEPARATE_INL_H_
#endif

#include "kernels/vjp/shares-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Makes gx for rows of outputs whose windows are separate (`windows_are_separate`).
template <class T, class Shares>
class SeparateWindows {
 public:
  SeparateWindows(const Rows& rows, T* gx, const Shares& shares)
      : rows_(rows),
        axis_(rows.horizontal.window),
        inner_(rows.inner.extent),
        tap_rows_(rows.tap_count / axis_.kernel),
        streams_(leaves_cache(rows, sizeof(T))),
        gx_(gx),
        shares_(shares) {
    row_offsets_[0] = 0;
    Index known = 1;
    for (int v = rows.vertical_count - 1; v >= 0; --v) {
      const PooledAxis& vertical = rows.vertical[v];
      has_rest_ = has_rest_ || vertical.window.start(vertical.window.output) < vertical.window.input;
      for (Index i = known; i < known * vertical.window.kernel; ++i)
        row_offsets_[i] = row_offsets_[i - known] + vertical.stride.tangent_in;
      known *= vertical.window.kernel;
    }
  }
  ~SeparateWindows() {
    if (streams_) hwy::FlushStream();
  }

  /// False if an output named a cell of another window: then its gradient went nowhere.
  bool operator()(Index first_row, Index last_row) {
    bool fine = true;
    RowCursor cursor(rows_, first_row);
    const int last = rows_.vertical_count - 1;
    for (Index row = first_row; row < last_row;) {
      T* to = gx_ + cursor.offset().tangent_in;
      Index first_cell = 0, count = 1;
      for (int v = 0; v <= last; ++v) {
        const PooledAxis& vertical = rows_.vertical[v];
        const Index cell = vertical.window.start(cursor.vertical_position(v));
        to += cell * vertical.stride.tangent_in;
        first_cell += cell * vertical.cell_stride;
      }
      if (last >= 0)
        count = std::min(rows_.vertical[last].window.output - cursor.vertical_position(last), last_row - row);
      shares_.to_row(cursor, first_cell);
      fine &= make_rows(to, count);
      row += count;
      if (!has_rest_) {
        if (row < last_row) cursor.skip(count, row);
        continue;
      }
      for (Index i = 0; i < count; ++i, cursor.next())
        zero_rows_behind(0, cursor, gx_ + cursor.offset().tangent_in, false);
    }
    return fine;
  }

 private:
  /// All input rows under some rows of outputs that follow one another on the last vertical axis.
  bool make_rows(T* to, Index count) {
    const Index covered = axis_.output * axis_.kernel * inner_, length = axis_.input * inner_;
    const bool fine = make_cells(to, count);
    if (covered < length)
      for (Index row = 0; row < count; ++row, to += row_step())
        for (Index r = 0; r < tap_rows_; ++r)
          std::fill(to + row_offsets_[r] + covered, to + row_offsets_[r] + length, T(0));
    return fine;
  }
  /// From the input rows of a row of outputs to those of the next.
  Index row_step() const {
    if (rows_.vertical_count == 0) return 0;
    const PooledAxis& last = rows_.vertical[rows_.vertical_count - 1];
    return last.window.stride * last.stride.tangent_in;
  }

  bool make_cells(T* to, Index count) {
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<T> d;
    const hn::Half<decltype(d)> half;
    const Index neighbours = inner_ > 1 ? inner_ : axis_.output;
    if (neighbours >= static_cast<Index>(hn::Lanes(d)))
      return inner_ > 1 ? make_lanes_of(d, to, count) : make_outputs(d, to, count);
    if constexpr (hn::MaxLanes(decltype(d)()) == 8)
      if (inner_ == 1 && axis_.kernel == 2 && neighbours >= static_cast<Index>(hn::Lanes(half)))
        return tap_rows_ == 2 ? make_outputs_of<2, 2, true>(d, to, count) : make_outputs_of<2, 0, true>(d, to, count);
    if constexpr (hn::MaxLanes(decltype(half)()) >= 4)
      if (neighbours >= static_cast<Index>(hn::Lanes(half)))
        return inner_ > 1 ? make_lanes(half, to, count) : make_outputs(half, to, count);
#endif
    bool fine = true;
    for (Index row = 0; row < count; ++row, to += row_step(), shares_.next_row())
      for (Index output = 0; output < axis_.output; ++output)
        for (Index lane = 0; lane < inner_; ++lane) {
          typename Shares::One one(shares_, output * inner_ + lane, output * axis_.kernel);
          for (Index r = 0, tap = 0; r < tap_rows_; ++r)
            for (Index t = 0; t < axis_.kernel; ++t, ++tap)
              to[row_offsets_[r] + (output * axis_.kernel + t) * inner_ + lane] = one.of_tap(tap);
          fine = fine && !one.strays();
        }
    return fine;
  }

#if HWY_TARGET != HWY_SCALAR
  template <class D>
  bool make_lanes_of(D d, T* to, Index count) {
    return axis_.kernel == 2 && tap_rows_ == 2 ? make_lanes<2>(d, to, count) : make_lanes(d, to, count);
  }
  /// Windows of `size` columns and rows, or of any with 0.
  template <int size = 0, class D>
  HWY_NOINLINE bool make_lanes(D d, T* to, Index count) {
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const Index kernel = size > 0 ? size : axis_.kernel, tap_rows = size > 0 ? size : tap_rows_;
    const Index inner = inner_, outputs = axis_.output;
    Index row_offsets[size > 0 ? size : most_separate_taps];
    std::copy_n(row_offsets_, tap_rows, row_offsets);
    Shares shares = shares_;  // what the loops need is theirs alone, so that it can live in registers
    auto strays = hn::Zero(d);
    for (Index row = 0, output = 0; row < count;) {
      for (Index next = 0; next < inner; next += lanes) {
        const Index lane = std::min(next, inner - lanes);  // the last vector may make some cells again
        typename Shares::template Vector<D> vector(d, shares, output * inner + lane, output * kernel);
        T* const cells = to + output * kernel * inner + lane;
        const auto make = [&](Index r) HWY_ATTR {
          for (Index t = 0; t < kernel; ++t)
            hn::StoreU(vector.of_tap(r * kernel + t), d, cells + row_offsets[r] + t * inner);
        };
        if constexpr (size == 2) {
          make(0);
          make(1);
        } else {
          for (Index r = 0; r < tap_rows; ++r) make(r);
        }
        strays = hn::Or(strays, vector.strays());
      }
      if (++output < outputs) continue;
      output = 0;
      ++row;
      to += row_step();
      shares.next_row();
    }
    return are_none(d, strays);
  }

  template <class D>
  bool make_outputs(D d, T* to, Index count) {
    switch (axis_.kernel) {
      case 1: return make_outputs_of<1>(d, to, count);
      case 2: return tap_rows_ == 2 ? make_outputs_of<2, 2>(d, to, count) : make_outputs_of<2>(d, to, count);
      case 3: return make_outputs_of<3>(d, to, count);
      default: return make_outputs_of<4>(d, to, count);
    }
  }
  /// `rows` is the number of input rows under an output, or 0 for any. Narrow rows are less than a vector of outputs,
  /// but at least half of one: both halves of a vector are made, and may overlap.
  template <int kernel, int rows = 0, bool is_narrow = false, class D>
  HWY_NOINLINE bool make_outputs_of(D d, T* to, Index count) {
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const Index outputs = axis_.output, tap_rows = rows > 0 ? rows : tap_rows_;
    const Index step = row_step();
    Shares shares = shares_;  // what the loops need is theirs alone, so that it can live in registers
    Index row_offsets[rows > 0 ? rows : most_separate_taps];
    std::copy_n(row_offsets_, tap_rows, row_offsets);
    const Index upper = is_narrow ? outputs - lanes / 2 : lanes / 2;
    bool streams = kernel == 2 && streams_ && outputs % lanes == 0;
    for (Index r = 0; r < tap_rows; ++r)
      streams = streams && reinterpret_cast<std::uintptr_t>(to + row_offsets[r]) % (lanes * sizeof(T)) == 0;
    streams = streams && step % lanes == 0;
    auto strays = hn::Zero(d);
    for (Index row = 0; row < count; ++row, to += step, shares.next_row())
      for (Index next = 0; next < outputs; next += lanes) {
        const Index output = is_narrow ? 0 : std::min(next, outputs - lanes);  // the last may make some cells again
        typename Shares::template Vector<D, is_narrow> vector(d, shares, output, output * kernel, upper);
        T* const cells = to + output * kernel;
        const auto make = [&](Index r) HWY_ATTR {
          const Index tap = r * kernel;
          T* const at = cells + row_offsets[r];
          const auto first = vector.of_tap(tap);
          if constexpr (kernel == 1) {
            hn::StoreU(first, d, at);
          } else if constexpr (kernel == 2) {
            const auto second = vector.of_tap(tap + 1);
            store(hn::InterleaveLower(d, first, second), hn::InterleaveUpper(d, first, second), d, at, kernel * upper,
                  streams);
          } else if constexpr (kernel == 3) {
            const auto second = vector.of_tap(tap + 1), third = vector.of_tap(tap + 2);
            hn::StoreInterleaved3(first, second, third, d, at);
          } else {
            const auto second = vector.of_tap(tap + 1), third = vector.of_tap(tap + 2), fourth = vector.of_tap(tap + 3);
            hn::StoreInterleaved4(first, second, third, fourth, d, at);
          }
        };
        if constexpr (rows == 2) {
          make(0);
          make(1);
        } else {
          for (Index r = 0; r < tap_rows; ++r) make(r);
        }
        strays = hn::Or(strays, vector.strays());
      }
    return are_none(d, strays);
  }

  /// Blocks of 16 bytes that come alternately from both; the second half of them goes `upper` elements behind.
  template <class D, class V>
  static HWY_INLINE void store(V even, V odd, D d, T* to, Index upper, bool streams) {
    auto first = even, second = odd;
    if constexpr (hn::MaxLanes(D()) * sizeof(T) > 16) {
      first = hn::ConcatLowerLower(d, odd, even);
      second = hn::ConcatUpperUpper(d, odd, even);
    }
    if (streams) {
      hn::Stream(first, d, to);
      hn::Stream(second, d, to + upper);
    } else {
      hn::StoreU(first, d, to);
      hn::StoreU(second, d, to + upper);
    }
  }

  template <class D>
  static bool are_none([[maybe_unused]] D d, hn::Vec<D> strays) {
    const hn::RebindToSigned<D> bits;
    return hn::AllTrue(bits, hn::Eq(hn::BitCast(bits, strays), hn::Zero(bits)));
  }
#endif

  /// Input rows behind the last window of an axis, below the block of a row of outputs.
  void zero_rows_behind(int axis, const RowCursor& cursor, T* to, bool is_behind) const {
    if (axis == rows_.vertical_count) {
      if (is_behind) std::fill_n(to, axis_.input * inner_, T(0));
      return;
    }
    const PooledAxis& vertical = rows_.vertical[axis];
    const Axis& window = vertical.window;
    const Index position = cursor.vertical_position(axis), begin = window.start(position);
    const Index end = position + 1 == window.output ? window.input : begin + window.stride;
    for (Index cell = begin; cell < end; ++cell)
      zero_rows_behind(axis + 1, cursor, to + cell * vertical.stride.tangent_in,
                       is_behind || cell >= begin + window.stride);
  }

  const Rows& rows_;
  const Axis& axis_;
  const Index inner_;
  const Index tap_rows_;
  const bool streams_;
  bool has_rest_ = false;  ///< there are input rows behind all windows
  T* gx_;
  Shares shares_;
  Index row_offsets_[most_separate_taps];  ///< input rows of a window, relative to the first
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_SEPARATE_INL_H_
