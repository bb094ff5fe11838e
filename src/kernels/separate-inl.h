// Per-target code: gradients of windows that lie side by side. A cell is in one window at most, so every output row
// writes input rows of its own, each cell once, zeros included. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_SEPARATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_SEPARATE_INL_H_
#undef NDPOOL_SEPARATE_INL_H_
#else
#define NDPOOL_SEPARATE_INL_H_
#endif

#include "kernels/planes-inl.h"
#include "kernels/separate.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Gradients that go to the tap that an output names: by tap numbers, or by flat indices that were all found to name a
/// cell of the plane.
template <class T, class I>
class NamedShares {
  using Name = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

 public:
  static constexpr bool is_flat = std::is_signed_v<I>;

  NamedShares(const Rows& rows, const T* gy, const I* names)
      : gy_(gy), names_(names), step_(is_flat && rows.inner.extent == 1 ? rows.horizontal.window.stride : 0) {
    if (rows.vertical_count > 0) {
      const PooledAxis& last = rows.vertical[rows.vertical_count - 1];
      row_step_ = {.out = last.stride.out, .tangent_out = last.stride.tangent_out};
      cell_step_ = last.window.stride * last.cell_stride;
    }
    Index offsets[most_separate_taps];
    const TapOffsets taps(rows, offsets,
                          [](const PooledAxis& axis) { return is_flat ? axis.cell_stride : axis.tap_stride; });
    for (Index tap = 0; tap < rows.tap_count; ++tap) tap_names_[tap] = static_cast<Name>(taps[tap]);
  }

  /// To a row whose first window begins at a flat index.
  void to_row(const RowCursor& cursor, Index first_cell) {
    row_gy_ = gy_ + cursor.offset().tangent_out;
    row_names_ = names_ + cursor.offset().out;
    first_cell_ = first_cell;
  }
  void next_row() {
    row_gy_ += row_step_.tangent_out;
    row_names_ += row_step_.out;
    first_cell_ += cell_step_;
  }

#if HWY_TARGET != HWY_SCALAR
  /// Some outputs, from an element of the row on; `cell` is where the window of the first begins in the row.
  template <class D>
  class Vector {
   public:
    using Names = hn::Vec<hn::RebindToSigned<D>>;
    HWY_INLINE Vector(D d, const NamedShares& shares, Index element, Index cell)
        // Gradients are added to 0, so that a negative zero is +0 on every path.
        : gy_(hn::Add(hn::Zero(d), hn::LoadU(d, shares.row_gy_ + element))),
          name_(load(shares.row_names_ + element)),
          left_(hn::Zero(d)),
          tap_names_(shares.tap_names_) {
      if constexpr (is_flat) {
        const hn::RebindToSigned<D> wide;
        left_ = hn::VecFromMask(d, hn::RebindMask(d, hn::Gt(name_, hn::Set(wide, Name(-1)))));
        const auto steps = hn::Mul(hn::Iota(wide, 0), hn::Set(wide, static_cast<Name>(shares.step_)));
        name_ = hn::Sub(name_, hn::Add(hn::Set(wide, static_cast<Name>(shares.first_cell_ + cell)), steps));
      }
    }

    HWY_INLINE hn::Vec<D> of_tap(Index tap) {
      const hn::RebindToSigned<D> wide;
      const auto is_named = hn::RebindMask(D(), hn::Eq(name_, hn::Set(wide, tap_names_[tap])));
      if constexpr (is_flat) left_ = hn::AndNot(hn::VecFromMask(D(), is_named), left_);
      return hn::IfThenElseZero(is_named, gy_);
    }
    /// After all taps: outputs that named none of them, but a cell of another window.
    HWY_INLINE hn::Vec<D> strays() const { return left_; }

   private:
    static HWY_INLINE Names load(const I* from) {
      const hn::RebindToSigned<D> wide;
      if constexpr (!is_flat && sizeof(T) == 8) {
        const hn::Rebind<std::int32_t, D> middle;
        return hn::PromoteTo(wide, hn::PromoteTo(middle, hn::LoadU(hn::Rebind<I, D>(), from)));
      } else if constexpr (!is_flat) {
        return hn::PromoteTo(wide, hn::LoadU(hn::Rebind<I, D>(), from));
      } else if constexpr (sizeof(T) == 8) {
        return hn::LoadU(wide, from);
      } else {
        // The lower halves are enough: planes that come here have fewer cells.
        const auto* halves = reinterpret_cast<const std::int32_t*>(from);
        return hn::ConcatEven(wide, hn::LoadU(wide, halves + hn::Lanes(wide)), hn::LoadU(wide, halves));
      }
    }

    hn::Vec<D> gy_;
    Names name_;
    hn::Vec<D> left_;
    const Name* tap_names_;
  };
#endif

  /// The same for one output.
  class One {
   public:
    One(const NamedShares& shares, Index element, Index cell)
        : gy_(T(0) + shares.row_gy_[element]),
          name_(static_cast<Index>(shares.row_names_[element])),
          is_left_(is_flat && name_ >= 0),
          tap_names_(shares.tap_names_) {
      if (is_flat) name_ -= shares.first_cell_ + cell;
    }
    T of_tap(Index tap) {
      if (name_ != tap_names_[tap]) return T(0);
      is_left_ = false;
      return gy_;
    }
    bool strays() const { return is_left_; }

   private:
    T gy_;
    Index name_;
    bool is_left_;
    const Name* tap_names_;
  };

 private:
  const T* gy_;
  const I* names_;
  const Index step_;  ///< between the windows of neighbouring elements, in flat indices
  Strides row_step_;
  Index cell_step_ = 0;
  const T* row_gy_ = nullptr;
  const I* row_names_ = nullptr;
  Index first_cell_ = 0;
  Name tap_names_[most_separate_taps];  ///< of taps, relative to the first of a window
};

/// Gradients of sums and averages: every tap gets the same.
template <class T>
class EqualShares {
 public:
  EqualShares(const Rows& rows, const T* gy, T divisor) : gy_(gy), divisor_(divisor) {
    if (rows.vertical_count > 0) row_step_ = rows.vertical[rows.vertical_count - 1].stride.tangent_out;
  }

  void to_row(const RowCursor& cursor, Index) { row_gy_ = gy_ + cursor.offset().tangent_out; }
  void next_row() { row_gy_ += row_step_; }

#if HWY_TARGET != HWY_SCALAR
  template <class D>
  class Vector {
   public:
    HWY_INLINE Vector(D d, const EqualShares& shares, Index element, Index)
        : share_(hn::Div(hn::LoadU(d, shares.row_gy_ + element), hn::Set(d, shares.divisor_))) {}
    HWY_INLINE hn::Vec<D> of_tap(Index) const { return share_; }
    HWY_INLINE hn::Vec<D> strays() const { return hn::Zero(D()); }

   private:
    hn::Vec<D> share_;
  };
#endif
  class One {
   public:
    One(const EqualShares& shares, Index element, Index) : share_(shares.row_gy_[element] / shares.divisor_) {}
    T of_tap(Index) const { return share_; }
    bool strays() const { return false; }

   private:
    T share_;
  };

 private:
  const T* gy_;
  const T divisor_;
  Index row_step_ = 0;
  const T* row_gy_ = nullptr;
};

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
      for (Index i = 0; i < count; ++i, cursor.next())
        if (has_rest_) zero_rows_behind(0, cursor, gx_ + cursor.offset().tangent_in, false);
      row += count;
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
      return inner_ > 1 ? make_lanes(d, to, count) : make_outputs(d, to, count);
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
  HWY_NOINLINE bool make_lanes(D d, T* to, Index count) {
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const Index kernel = axis_.kernel, inner = inner_, outputs = axis_.output, tap_rows = tap_rows_;
    Shares shares = shares_;  // what the loops need is theirs alone, so that it can live in registers
    auto strays = hn::Zero(d);
    for (Index row = 0, output = 0; row < count;) {
      for (Index next = 0; next < inner; next += lanes) {
        const Index lane = std::min(next, inner - lanes);  // the last vector may make some cells again
        typename Shares::template Vector<D> vector(d, shares, output * inner + lane, output * kernel);
        T* const cells = to + output * kernel * inner + lane;
        for (Index r = 0, tap = 0; r < tap_rows; ++r)
          for (Index t = 0; t < kernel; ++t, ++tap)
            hn::StoreU(vector.of_tap(tap), d, cells + row_offsets_[r] + t * inner);
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
  /// `rows` is the number of input rows under an output, or 0 for any.
  template <int kernel, int rows = 0, class D>
  HWY_NOINLINE bool make_outputs_of(D d, T* to, Index count) {
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const Index outputs = axis_.output, tap_rows = rows > 0 ? rows : tap_rows_;
    const Index step = row_step();
    Shares shares = shares_;  // what the loops need is theirs alone, so that it can live in registers
    Index row_offsets[rows > 0 ? rows : most_separate_taps];
    std::copy_n(row_offsets_, tap_rows, row_offsets);
    bool streams = kernel == 2 && streams_ && outputs % lanes == 0;
    for (Index r = 0; r < tap_rows; ++r)
      streams = streams && reinterpret_cast<std::uintptr_t>(to + row_offsets[r]) % (lanes * sizeof(T)) == 0;
    streams = streams && step % lanes == 0;
    auto strays = hn::Zero(d);
    for (Index row = 0; row < count; ++row, to += step, shares.next_row())
      for (Index next = 0; next < outputs; next += lanes) {
        const Index output = std::min(next, outputs - lanes);  // the last vector may make some cells again
        typename Shares::template Vector<D> vector(d, shares, output, output * kernel);
        T* const cells = to + output * kernel;
        const auto make = [&](Index r) HWY_ATTR {
          const Index tap = r * kernel;
          T* const at = cells + row_offsets[r];
          const auto first = vector.of_tap(tap);
          if constexpr (kernel == 1) {
            hn::StoreU(first, d, at);
          } else if constexpr (kernel == 2) {
            const auto second = vector.of_tap(tap + 1);
            store(hn::InterleaveLower(d, first, second), hn::InterleaveUpper(d, first, second), d, at, streams);
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

  /// Blocks of 16 bytes that come alternately from both.
  template <class D, class V>
  static HWY_INLINE void store(V even, V odd, D d, T* to, bool streams) {
    auto first = even, second = odd;
    if constexpr (hn::MaxLanes(D()) * sizeof(T) > 16) {
      first = hn::ConcatLowerLower(d, odd, even);
      second = hn::ConcatUpperUpper(d, odd, even);
    }
    if (streams) {
      hn::Stream(first, d, to);
      hn::Stream(second, d, to + hn::Lanes(d));
    } else {
      hn::StoreU(first, d, to);
      hn::StoreU(second, d, to + hn::Lanes(d));
    }
  }

  template <class D>
  static bool are_none(D d, hn::Vec<D> strays) {
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
