// Per-target code: what becomes of the packed results of a tile: values, and flat indices or tap numbers.
#if defined(NDPOOL_GENERAL_ARGMAX_RESULTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_GENERAL_ARGMAX_RESULTS_INL_H_
#undef NDPOOL_GENERAL_ARGMAX_RESULTS_INL_H_
#else
#define NDPOOL_GENERAL_ARGMAX_RESULTS_INL_H_
#endif

#include "kernels/general/positions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace general {

/// The outputs of a tile in one plane.
template <class Bits>
struct ResultBox {
  const Bits* in;  ///< cell 0 of the plane, at the first of the lanes
  Bits* values;    ///< of the first output; may be null
  char* indices;    ///< of the first output
  Index first_flat;               ///< flat index of the cell with position 0 of the box
  Index first_lane, lanes;
  bool has_negative_zeros;
  Range outputs[max_rank];
  Index first_cell[max_rank];  ///< of the box
};

template <class E>
class ArgmaxResults {
 public:
  using Bits = typename E::Stored;
  using Work = typename E::Work;
  using Box = ResultBox<Bits>;

  ArgmaxResults(const Layout& layout, const Finish& finish, IndexKind kind)
      : layout_(layout), rule_(finish), kind_(kind), rank_(static_cast<int>(layout.axes.size())) {}

  /// Writes the results that follow one another from `from` on.
  void operator()(const Work* from, const Box& box) const {
    switch (kind_) {
      case IndexKind::u8: return write<std::uint8_t>(from, box);
      case IndexKind::u16: return write<std::uint16_t>(from, box);
      case IndexKind::u32: return write<std::uint32_t>(from, box);
      case IndexKind::flat: return write<Index>(from, box);
    }
  }

 private:
  const AxisLayout& axis(int a) const { return layout_.axes[static_cast<std::size_t>(a)]; }
  static Index count(const Box& box, int a) { return box.outputs[a].end - box.outputs[a].begin; }
  bool is_empty(const Work& one) const {
    return layout_.has_empty_windows && E::key_of(one) == 0 && E::position_of(one) == E::position_of(E::identity({}));
  }

  /// Rows along the last axis; flat indices of several axes at once where both arrays allow it.
  template <class I>
  void write(const Work* from, const Box& box) const {
    int top = rank_ - 1;
    Index n = count(box, top) * box.lanes;
    const bool in_order = layout_.lane_out_stride == 1 && layout_.lane_index_stride == 1;
    bool is_run = in_order && follows(top, box.lanes, count(box, top));
    if (std::is_signed_v<I> && is_run)
      while (top > 0 && follows(top - 1, n, count(box, top - 1))) n *= count(box, --top);
    Index position[max_rank] = {};
    for (;;) {
      Index value_at = 0, index_at = 0;
      for (int a = 0; a < top; ++a) {
        value_at += position[a] * axis(a).out_stride;
        index_at += position[a] * axis(a).index_stride;
      }
      Bits* const values = box.values == nullptr ? nullptr : box.values + value_at;
      I* const indices = reinterpret_cast<I*>(box.indices) + index_at;
      if (is_run) {
        if (values != nullptr) write_values(from, n, values, box);
        write_indices(from, 0, n, indices, box, position);
      } else {
        write_strided(from, n, values, indices, box, position);
      }
      from += n;
      int a = top - 1;
      for (; a >= 0 && ++position[a] == count(box, a); --a) position[a] = 0;
      if (a < 0) return;
    }
  }
  bool follows(int a, Index run, Index outputs) const {
    return outputs == 1 || (axis(a).out_stride == run && axis(a).index_stride == run);
  }
  /// A row whose elements are apart in one of the arrays.
  template <class I>
  void write_strided(const Work* from, Index n, Bits* values, I* indices, const Box& box, const Index* position) const {
    constexpr Index chunk = 256;
    Bits of_values[chunk];
    I of_indices[chunk];
    for (Index at = 0; at < n; at += chunk) {
      const Index some = std::min(chunk, n - at);
      if (values != nullptr) write_values(from + at, some, of_values, box, at);
      write_indices(from + at, at, some, of_indices, box, position);
      for (Index i = 0; i < some; ++i) {
        const Index output = (at + i) / box.lanes, lane = (at + i) % box.lanes;
        const AxisLayout& row = axis(rank_ - 1);
        if (values != nullptr) values[output * row.out_stride + lane * layout_.lane_out_stride] = of_values[i];
        indices[output * row.index_stride + lane * layout_.lane_index_stride] = of_indices[i];
      }
    }
  }

  void write_values(const Work* from, Index n, Bits* to, const Box& box, Index at = 0) const {
    const KeyRule<Bits> rule = rule_;
    if (rule.is_float)
      for (Index i = 0; i < n; ++i) to[i] = Keys<Bits>::float_of(E::key_of(from[i]), rule.flip, rule.nan, rule.nan_key);
    else
      for (Index i = 0; i < n; ++i) to[i] = Keys<Bits>::integer_of(E::key_of(from[i]), rule.flip);
    if (layout_.has_empty_windows)
      for (Index i = 0; i < n; ++i)
        if (is_empty(from[i])) to[i] = rule.empty();
    if (!box.has_negative_zeros) return;
    for (Index i = 0; i < n; ++i)
      if (to[i] == 0 && !is_empty(from[i])) to[i] = cell_at(E::position_of(from[i]), (at + i) % box.lanes, box);
  }
  /// The number itself: keys do not tell the zeros apart.
  Bits cell_at(Index position, Index lane, const Box& box) const {
    Index offset = lane * layout_.lane_in_stride;
    for (const int a : layout_.by_cell_stride) {
      offset += (box.first_cell[a] + position / axis(a).cell_stride) * axis(a).in_stride;
      position %= axis(a).cell_stride;
    }
    return box.in[offset];
  }

  template <class I>
  void write_indices(const Work* from, Index at, Index n, I* to, const Box& box, const Index* position) const {
    if constexpr (std::is_signed_v<I>) {
      const Index first = box.first_flat;
      for (Index i = 0; i < n; ++i) to[i] = first + E::position_of(from[i]);
      if (layout_.lane_cells > 1)
        for (Index i = 0; i < n; ++i) to[i] += flat_of_lane(box.first_lane + (at + i) % box.lanes);
      if (!layout_.has_empty_windows) return;
      for (Index i = 0; i < n; ++i)
        if (is_empty(from[i])) to[i] = I(-1);
    } else {
      Index output[max_rank];
      for (int a = 0; a < rank_; ++a) output[a] = box.outputs[a].begin + position[a];
      Index lane = at % box.lanes;
      output[rank_ - 1] = box.outputs[rank_ - 1].begin + at / box.lanes;
      for (Index i = 0; i < n; ++output[rank_ - 1], lane = 0) {
        const Index end = std::min(n, i + box.lanes - lane);
        write_taps(from, i, end, to, box, output);
        i = end;
      }
    }
  }
  Index flat_of_lane(Index lane) const {
    return lane / layout_.lane_inner % layout_.lane_cells * layout_.lane_cell_stride;
  }
  /// Tap numbers of the lanes of one output.
  template <class I>
  void write_taps(const Work* from, Index begin, Index end, I* to, const Box& box, const Index* output) const {
    Index shift = 0;  // from positions to cells behind tap 0
    for (int a = 0; a < rank_; ++a)
      shift += (box.first_cell[a] - axis(a).windows.taps(output[a]).first) * axis(a).cell_stride;
    for (Index i = begin; i < end; ++i) {
      if (is_empty(from[i]))
        to[i] = static_cast<I>(-1);
      else if (!layout_.tap_table.empty())
        to[i] = static_cast<I>(layout_.tap_table[static_cast<std::size_t>(shift + E::position_of(from[i]))]);
      else
        to[i] = static_cast<I>(tap_at(E::position_of(from[i]), box, output));
    }
  }
  Index tap_at(Index position, const Box& box, const Index* output) const {
    Index tap = 0;
    for (const int a : layout_.by_cell_stride) {
      const Windows& windows = axis(a).windows;
      const Index cell = box.first_cell[a] + position / axis(a).cell_stride;
      position %= axis(a).cell_stride;
      tap += (cell - windows.taps(output[a]).first) / windows.tap_step * axis(a).tap_stride;
    }
    return tap;
  }

  const Layout& layout_;
  const KeyRule<Bits> rule_;
  const IndexKind kind_;
  const int rank_;
};

}  // namespace general
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_GENERAL_ARGMAX_RESULTS_INL_H_
