// Per-target code: indices that a caller gives, as the names of taps by which cells are matched with gradients. No
// include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_NAMES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_NAMES_INL_H_
#undef NDPOOL_NAMES_INL_H_
#else
#define NDPOOL_NAMES_INL_H_
#endif

#include "kernels/vjp/index_check-inl.h"
#include "kernels/vjp/matched_planes-inl.h"

#include <optional>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Copies elements, or widens tap numbers.
template <class From, class To>
HWY_INLINE void copy_packed(const From* from, Index count, To* to) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<From, To> || (sizeof(From) == 1 && sizeof(To) == 4)) {
    const hn::ScalableTag<To> d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const auto copy = [&](Index at) HWY_ATTR {
      if constexpr (std::is_same_v<From, To>)
        hn::StoreU(hn::LoadU(d, from + at), d, to + at);
      else
        hn::StoreU(hn::PromoteTo(d, hn::LoadU(hn::Rebind<From, decltype(d)>(), from + at)), d, to + at);
    };
    Index i = 0;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      copy(i);
      copy(i + lanes);
    }
    if (i + lanes <= count) copy(i);
    if (count >= lanes) copy(count - lanes);
    if (count >= lanes) return;
  }
#endif
  for (Index i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
}

/// Copies outputs of a row to where they are packed. Tap numbers are widened: none is all ones, which is no tap's
/// number in any size.
template <class From, class To>
HWY_INLINE void copy_outputs(const From* from, Index step, Index lane_step, Index outputs, Index lanes, To* to) {
  if (step == lanes && (lanes == 1 || lane_step == 1)) return copy_packed(from, outputs * lanes, to);
  for (Index output = 0; output < outputs; ++output)
    for (Index lane = 0; lane < lanes; ++lane)
      to[output * lanes + lane] = static_cast<To>(from[output * step + lane * lane_step]);
}

/// Flat indices of outputs without lanes, which were all found to name a cell of the plane, as numbers of taps.
template <class T>
class FlatNames {
 public:
  using Name = TapName<T>;

  /// True if a flat index has one tap, and one that cannot have it is noticed; and if a scatter, which needs no taps,
  /// takes longer than to find them.
  static bool fit(const Rows& rows) {
    const Axis& axis = rows.horizontal.window;
    if (rows.inner.extent != 1 || axis.stride == 1) return false;
    // Where rows are shorter than windows, a tap behind a row could be taken for one in the next.
    bool fine = !axis.adaptive && (axis.dilation == 1 || axis.kernel == 1) && axis.kernel <= axis.input &&
                rows.tap_count / axis.kernel <= most_tap_rows && plane_cells(rows) < Index{1} << 28;
    // Padding before the first axis has no cells; that of the others would be cells of other rows.
    for (int v = 0; v < rows.vertical_count && fine; ++v) {
      const Axis& window = rows.vertical[v].window;
      fine = !window.adaptive && window.lo + window.span(1) <= Index{1} << 20;
      if (fine && v > 0) fine = window.full_outputs().begin == 0 && window.full_outputs().end == window.output;
    }
    return fine;
  }

  explicit FlatNames(const Rows& rows)
      : rows_(rows),
        axis_(rows.horizontal.window),
        full_(axis_.full_outputs()),
        tap_rows_(static_cast<int>(rows.tap_count / axis_.kernel)) {
    Index offsets[most_tap_rows] = {0};
    Index known = 1;
    for (int v = rows.vertical_count - 1; v >= 0; --v) {
      const PooledAxis& vertical = rows.vertical[v];
      for (Index i = known; i < known * vertical.window.kernel; ++i)
        offsets[i] = offsets[i - known] + vertical.window.dilation * vertical.cell_stride;
      known *= vertical.window.kernel;
    }
    for (int r = 1; r < tap_rows_; ++r) {
      before_[r] = static_cast<Name>(offsets[r] - 1);
      gap_[r] = static_cast<Name>(offsets[r] - offsets[r - 1]);
    }
  }

  /// To some outputs of a row.
  void to_row(const Index* positions, Index first) {
    start_ = axis_.start(first);
    for (int v = 0; v < rows_.vertical_count; ++v)
      start_ += rows_.vertical[v].window.start(positions[v]) * rows_.vertical[v].cell_stride;
  }
  /// Their names, and to the same outputs of the next row. Indices of outputs are `step` apart.
  void next(Index first, Index outputs, const Index* from, Index step, Name* to) {
    if (step == 1)
      convert(from, outputs, start_, axis_.stride, to);
    else
      for (Index output = 0; output < outputs; ++output)
        convert(from + output * step, 1, start_ + output * axis_.stride, 0, to + output);
    for (Index output = first; output < std::min(full_.begin, first + outputs); ++output)
      look_at_edge(output, to[output - first]);
    for (Index output = std::max(full_.end, first); output < first + outputs; ++output)
      look_at_edge(output, to[output - first]);
    if (rows_.vertical_count == 0) return;
    const PooledAxis& last = rows_.vertical[rows_.vertical_count - 1];
    start_ += last.window.stride * last.cell_stride;
  }

  /// Whether an index named a cell of another window; forgets it.
  bool saw_strays() { return std::exchange(saw_strays_, false); }

 private:
  static constexpr Index most_tap_rows = 16;

  /// Indices of windows that begin at a cell, each `step` cells from the last.
  void convert(const Index* from, Index count, Index start, Index step, Name* to) {
    Index i = 0;
#if HWY_TARGET != HWY_SCALAR
    if (count >= static_cast<Index>(hn::Lanes(hn::ScalableTag<Name>()))) {
      if (tap_rows_ == 3)
        convert_vectors<3>(from, count, start, step, to);
      else
        convert_vectors<0>(from, count, start, step, to);
      i = count;
    }
#endif
    for (; i < count; ++i) to[i] = name_of(from[i], start + i * step);
  }

#if HWY_TARGET != HWY_SCALAR
  /// `R` is the number of input rows of a window, or 0 for any.
  template <int R>
  HWY_NOINLINE void convert_vectors(const Index* from, Index count, Index start, Index step, Name* to) {
    const hn::ScalableTag<Name> d;
    using V = hn::Vec<decltype(d)>;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    const int tap_rows = R > 0 ? R : tap_rows_;
    const V starts =
        hn::Add(hn::Set(d, static_cast<Name>(start)), hn::Mul(hn::Iota(d, 0), hn::Set(d, static_cast<Name>(step))));
    const V kernel = hn::Set(d, static_cast<Name>(axis_.kernel)), none = hn::Set(d, Name{no_name});
    Name before[R > 0 ? R : most_tap_rows], gap[R > 0 ? R : most_tap_rows];
    std::copy_n(before_, tap_rows, before);  // of this loop alone, so that they can live in registers
    std::copy_n(gap_, tap_rows, gap);
    V strays = hn::Zero(d);
    for (Index next = 0; next < count; next += lanes) {
      const Index first = std::min(next, count - lanes);
      const V index = load(d, from + first);
      const V distance = hn::Sub(index, hn::Add(starts, hn::Set(d, static_cast<Name>(first * step))));
      V column = distance, tap = distance;
      NDPOOL_UNROLLED
      for (int r = 1; r < tap_rows; ++r) {
        const V is_past = hn::VecFromMask(d, hn::Gt(distance, hn::Set(d, before[r])));
        column = hn::Sub(column, hn::And(is_past, hn::Set(d, gap[r])));
        tap = hn::Sub(tap, hn::And(is_past, hn::Sub(hn::Set(d, gap[r]), kernel)));
      }
      const V is_none = hn::VecFromMask(d, hn::Eq(index, none));
      const V is_in = hn::And(hn::VecFromMask(d, hn::Gt(column, none)), hn::VecFromMask(d, hn::Gt(kernel, column)));
      strays = hn::Or(strays, hn::AndNot(hn::Or(is_in, is_none), none));
      hn::StoreU(hn::Or(tap, is_none), d, to + first);  // all ones, where there is none
    }
    if (!hn::AllTrue(d, hn::Eq(strays, hn::Zero(d)))) saw_strays_ = true;
  }

  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const Index* from) {
    if constexpr (sizeof(Name) == 8) {
      return hn::LoadU(d, from);
    } else {
      // The lower halves are enough: planes that come here have fewer cells.
      const auto* halves = reinterpret_cast<const std::int32_t*>(from);
      return hn::ConcatEven(d, hn::LoadU(d, halves + hn::Lanes(d)), hn::LoadU(d, halves));
    }
  }
#endif

  Name name_of(Index index, Index start) {
    if (index == no_index<Index>) return no_name;
    Index column = index - start;
    int row = 0;
    for (; row + 1 < tap_rows_ && index - start > before_[row + 1]; ++row) column -= gap_[row + 1];
    if (column < 0 || column >= axis_.kernel) saw_strays_ = true;
    return static_cast<Name>(row * axis_.kernel + column);
  }

  /// The window of an output that reaches over an end of its row: what would be a tap there is a cell of another row.
  void look_at_edge(Index output, Name name) {
    if (name == no_name) return;
    const auto tap = static_cast<std::uint32_t>(name) % static_cast<std::uint32_t>(axis_.kernel);
    const Index cell = axis_.start(output) + static_cast<Index>(tap);
    if (cell < 0 || cell >= axis_.input) saw_strays_ = true;
  }

  const Rows& rows_;
  const Axis& axis_;
  const Range full_;  ///< outputs whose windows are in the row
  const int tap_rows_;
  Index start_ = 0;             ///< of the first window of a row
  Name before_[most_tap_rows];  ///< one less than where an input row of a window begins, relative to the first tap
  Name gap_[most_tap_rows];     ///< from the row before
  bool saw_strays_ = false;
};

/// Calls f with an index of the job's kind.
template <class F>
HWY_INLINE void with_index(const IndexJob& job, const F& f) {
  switch (job.index_kind) {
    case IndexKind::u8: return f(std::uint8_t{});
    case IndexKind::u16: return f(std::uint16_t{});
    case IndexKind::u32: return f(std::uint32_t{});
    case IndexKind::flat: return f(Index{});
  }
}

/// Brings rows of gradients, and of the names of their taps, to where cells are matched with them. Kinds of indices are
/// told apart here, so that the rest is compiled once for all of them.
template <class T>
class NamedRows {
 public:
  static bool fit(const IndexJob& job) { return job.index_kind != IndexKind::flat || FlatNames<T>::fit(job.rows); }

  explicit NamedRows(const IndexJob& job) : job_(job), rows_(job.rows) {
    if (job.index_kind == IndexKind::flat) flat_.emplace(rows_);
  }

  void to_plane(const Strides& at) { at_ = at; }

  /// As planes ask for it.
  typename MatchedPlanes<T>::Load load() {
    return {this, [](void* self, const Index* positions, Index count, Index first, Index outputs, T* gy,
                     TapName<T>* names, Index pitch) {
              static_cast<NamedRows*>(self)->load_rows(positions, count, first, outputs, gy, names, pitch);
            }};
  }

  /// Whether an index of the plane named a cell of another window: it is then no tap's.
  bool saw_strays() { return flat_ && flat_->saw_strays(); }

 private:
  /// Some outputs of rows that follow one another on the last vertical axis; without gradients where `gy` is null.
  void load_rows(const Index* positions, Index count, Index first, Index outputs, T* gy, TapName<T>* names,
                 Index pitch) {
    const Strides along = rows_.horizontal.stride, behind = rows_.inner.stride;
    Strides from{.out = at_.out + first * along.out, .tangent_out = at_.tangent_out + first * along.tangent_out}, step;
    for (int v = 0; v < rows_.vertical_count; ++v) {
      step = rows_.vertical[v].stride;
      from.out += positions[v] * step.out;
      from.tangent_out += positions[v] * step.tangent_out;
    }
    const Index lanes = rows_.inner.extent;
    for (Index row = 0; row < count && gy != nullptr; ++row)
      copy_outputs(static_cast<const T*>(job_.like_out) + from.tangent_out + row * step.tangent_out, along.tangent_out,
                   behind.tangent_out, outputs, lanes, gy + row * pitch);
    if (flat_) flat_->to_row(positions, first);
    with_index(job_, [&]<class I>(I) HWY_ATTR {
      const I* indices = static_cast<const I*>(job_.indices) + from.out;
      for (Index row = 0; row < count; ++row, indices += step.out, names += pitch)
        if constexpr (std::is_signed_v<I>)
          flat_->next(first, outputs, indices, along.out, names);
        else
          copy_outputs(indices, along.out, behind.out, outputs, lanes, names);
    });
  }

  const IndexJob& job_;
  const Rows& rows_;
  std::optional<FlatNames<T>> flat_;  ///< for flat indices
  Strides at_;
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_NAMES_INL_H_
