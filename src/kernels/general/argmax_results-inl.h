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

/// The outputs of a tile, of planes that are evenly apart.
template <class Bits>
struct ResultBox {
  const Bits* in;    ///< cell 0 of the first plane, at the first of the lanes
  Bits* values;      ///< of the first output; may be null
  char* indices;     ///< of the first output
  Index first_flat;  ///< flat index of the cell with position 0 of the box
  Index first_lane, lanes;
  bool has_negative_zeros;
  Index planes, in_step, value_step, index_step;
  Range outputs[max_rank];
  Index first_cell[max_rank];  ///< of the box
};

template <class E>
class ArgmaxResults {
 public:
  using Bits = typename E::Stored;
  using Work = typename E::Work;
  using Box = ResultBox<Bits>;

  ArgmaxResults(const Layout& layout, char* scratch, const Finish& finish, IndexKind kind)
      : layout_(layout),
        rule_(finish),
        kind_(kind),
        rank_(static_cast<int>(layout.axes.size())),
        origins_(reinterpret_cast<std::int32_t*>(scratch + layout.origins_at)) {}

  /// Writes the results that follow one another from `from` on.
  void operator()(const Work* from, const Box& box) {
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
  NDPOOL_ALWAYS_INLINE bool is_empty(const Work& one) const {
    return E::key_of(one) == 0 && E::position_of(one) == E::position_of(E::identity({}));
  }

  /// Rows along the last axis; several axes and planes at once where both arrays and the indices allow it.
  template <class I>
  void write(const Work* from, const Box& box) {
    constexpr bool is_flat = std::is_signed_v<I>;
    if (!is_flat) place_origins(box);
    int top = rank_ - 1;
    Index n = count(box, top) * box.lanes;
    const bool is_run =
        layout_.lane_out_stride == 1 && layout_.lane_index_stride == 1 && follows(top, box.lanes, count(box, top));
    if (is_run)
      while (top > 0 && follows(top - 1, n, count(box, top - 1))) n *= count(box, --top);
    Index planes = box.planes;
    if (is_run && is_flat && top == 0 && !box.has_negative_zeros && box.value_step == n && box.index_step == n)
      n *= planes, planes = 1;
    for (Index plane = 0; plane < planes; ++plane) {
      Index position[max_rank] = {}, output = 0;
      for (;;) {
        Index value_at = plane * box.value_step, index_at = plane * box.index_step;
        for (int a = 0; a < top; ++a) {
          value_at += position[a] * axis(a).out_stride;
          index_at += position[a] * axis(a).index_stride;
        }
        Row row = {from, n, plane, output};
        Bits* const values = box.values == nullptr ? nullptr : box.values + value_at;
        I* const indices = reinterpret_cast<I*>(box.indices) + index_at;
        if (is_run) {
          if (values != nullptr) write_values(row, values, box);
          write_indices(row, indices, box);
        } else {
          write_strided(row, values, indices, box);
        }
        from += n;
        output += n / box.lanes;
        int a = top - 1;
        for (; a >= 0 && ++position[a] == count(box, a); --a) position[a] = 0;
        if (a < 0) break;
      }
    }
  }
  bool follows(int a, Index run, Index outputs) const {
    return outputs == 1 || (axis(a).out_stride == run && axis(a).index_stride == run);
  }
  /// Results that follow one another, from a whole output on.
  struct Row {
    const Work* from;
    Index n;
    Index plane;
    Index output;  ///< number of the first within its plane and tile
  };
  /// A row whose elements are apart in one of the arrays: as many outputs at a time as fit, or lanes of one.
  template <class I>
  void write_strided(const Row& row, Bits* values, I* indices, const Box& box) const {
    constexpr Index chunk = 256;
    Bits of_values[chunk];
    I of_indices[chunk];
    const Index outputs = row.n / box.lanes, some = std::max<Index>(1, chunk / box.lanes);
    const AxisLayout& along = axis(rank_ - 1);
    for (Index o = 0; o < outputs; o += some)
      for (Index l = 0; l < box.lanes; l += chunk) {
        const Index lanes = std::min(chunk, box.lanes - l), rows = std::min(some, outputs - o);
        Box part = box;
        part.first_lane += l;
        part.lanes = lanes;
        part.in += l * layout_.lane_in_stride;
        const Row piece = {row.from + o * box.lanes + l, rows * lanes, row.plane, row.output + o};
        write_values(piece, of_values, part);
        write_indices(piece, of_indices, part);
        for (Index r = 0, i = 0; r < rows; ++r) {
          I* const to = indices + (o + r) * along.index_stride + l * layout_.lane_index_stride;
          for (Index k = 0; k < lanes; ++k) to[k * layout_.lane_index_stride] = of_indices[i + k];
          if (values != nullptr) {
            Bits* const at = values + (o + r) * along.out_stride + l * layout_.lane_out_stride;
            for (Index k = 0; k < lanes; ++k) at[k * layout_.lane_out_stride] = of_values[i + k];
          }
          i += lanes;
        }
      }
  }

  HWY_NOINLINE void write_values(const Row& row, Bits* to, const Box& box) const {
    const KeyRule<Bits> rule = rule_;
    const Work* const from = row.from;
    const Index n = row.n;
    decode_values(from, to, n, rule);
    if (layout_.has_empty_windows)
      for (Index i = 0; i < n; ++i)
        if (is_empty(from[i])) to[i] = rule.empty();
    if (!box.has_negative_zeros) return;
    for (Index i = 0; i < n; ++i)
      if (to[i] == 0 && !is_empty(from[i]))
        to[i] = box.in[row.plane * box.in_step + i % box.lanes * layout_.lane_in_stride +
                       offset_of(E::position_of(from[i]), box)];
  }
  static void decode_values(const Work* from, Bits* to, Index n, const KeyRule<Bits>& rule) {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (E::has_vectors) {
      if (n >= E::lanes) {
        const typename E::Narrow narrow;
        const auto decode = [&](Index at) NDPOOL_ALWAYS_INLINE {
          hn::StoreU(values_of(narrow, E::keys_of_packed(E::load(from + at)), rule), narrow, to + at);
        };
        Index i = 0;
        for (; i + E::lanes <= n; i += E::lanes) decode(i);
        if (i < n) decode(n - E::lanes);
        return;
      }
    }
#endif
    if (rule.is_float)
      for (Index i = 0; i < n; ++i) to[i] = Keys<Bits>::float_of(E::key_of(from[i]), rule.flip, rule.nan, rule.nan_key);
    else
      for (Index i = 0; i < n; ++i) to[i] = Keys<Bits>::integer_of(E::key_of(from[i]), rule.flip);
  }
  static void decode_positions(const Work* from, Index first, Index* to, Index n) {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (E::has_vectors) {
      const hn::ScalableTag<std::uint64_t> wide;
      const Index lanes = static_cast<Index>(hn::Lanes(wide));
      if (n >= lanes) {
        const auto decode = [&](Index at) NDPOOL_ALWAYS_INLINE {
          using Unsigned = typename E::Unsigned;
          const hn::Rebind<Unsigned, decltype(wide)> u;
          const auto packed = hn::LoadU(u, reinterpret_cast<const Unsigned*>(from + at));
          const auto mask = hn::Set(u, E::mask);
          const auto position = hn::Sub(mask, hn::And(packed, mask));
          const auto first_of_all = hn::Set(wide, static_cast<std::uint64_t>(first));
          auto* const results = reinterpret_cast<std::uint64_t*>(to + at);
          if constexpr (sizeof(Unsigned) == 8)
            hn::StoreU(hn::Add(position, first_of_all), wide, results);
          else
            hn::StoreU(hn::Add(hn::PromoteTo(wide, position), first_of_all), wide, results);
        };
        Index i = 0;
        for (; i + lanes <= n; i += lanes) decode(i);
        if (i < n) decode(n - lanes);
        return;
      }
    }
#endif
    for (Index i = 0; i < n; ++i) to[i] = first + E::position_of(from[i]);
  }
  /// Where the cell of a position lies in its plane; keys do not tell the zeros apart.
  Index offset_of(Index position, const Box& box) const {
    Index offset = 0;
    for (const int a : layout_.by_cell_stride) {
      offset += (box.first_cell[a] + position / axis(a).cell_stride) * axis(a).in_stride;
      position %= axis(a).cell_stride;
    }
    return offset;
  }

  template <class I>
  HWY_NOINLINE void write_indices(const Row& row, I* to, const Box& box) const {
    const Work* const from = row.from;
    const Index n = row.n;
    if constexpr (std::is_signed_v<I>) {
      decode_positions(from, box.first_flat, to, n);
      if (layout_.lane_cells > 1)
        for (Index i = 0; i < n; i += box.lanes) add_lane_cells(to + i, box);
    } else if (!layout_.taps_are_unique) {
      for (Index i = 0; i < n; ++i)
        to[i] = static_cast<I>(tap_at(E::position_of(from[i]), row.output + i / box.lanes, box));
    } else {
      write_taps(row, to, box.lanes);
    }
    if (!layout_.has_empty_windows) return;
    for (Index i = 0; i < n; ++i)
      if (is_empty(from[i])) to[i] = static_cast<I>(-1);
  }
  /// Adds the flat indices of the lanes of one output.
  void add_lane_cells(Index* to, const Box& box) const {
    const Index inner = layout_.lane_inner, cells = layout_.lane_cells, step = layout_.lane_cell_stride;
    Index cell = box.first_lane / inner % cells, at = box.first_lane % inner;
    for (Index i = 0; i < box.lanes; cell = 0) {
      if (inner == 1)
        for (; cell < cells && i < box.lanes; ++cell) to[i++] += cell * step;
      for (; cell < cells && i < box.lanes; ++cell, at = 0) {
        const Index end = std::min(box.lanes, i + inner - at), flat = cell * step;
        for (; i < end; ++i) to[i] += flat;
      }
    }
  }
  template <class I>
  void write_taps(const Row& row, I* to, Index lanes) const {
    constexpr Index chunk = 512;
    alignas(64) std::int32_t behind[chunk], taps[chunk];  // cells behind tap 0
    const std::int32_t* const origins = origins_ + row.output;
    for (Index at = 0; at < row.n; at += chunk) {
      const Index n = std::min(chunk, row.n - at);
      const Work* const from = row.from + at;
      if (lanes == 1) {
        for (Index i = 0; i < n; ++i) behind[i] = E::near_position_of(from[i]) - origins[at + i];
      } else {
        for (Index i = 0; i < n;) {
          const Index output = (at + i) / lanes, end = std::min(n, (output + 1) * lanes - at);
          const std::int32_t origin = origins[output];
          for (; i < end; ++i) behind[i] = E::near_position_of(from[i]) - origin;
        }
      }
      std::fill_n(taps, n, 0);
      for (const int a : layout_.by_cell_stride) take_taps(axis(a), behind, taps, n);
      for (Index i = 0; i < n; ++i) to[at + i] = static_cast<I>(taps[i]);
    }
  }
  /// Taps on one axis. A quotient by a float is at least half of its reciprocal from an integer, which is more than it
  /// is rounded by below 2^21.
  static void take_taps(const AxisLayout& axis, std::int32_t* behind, std::int32_t* taps, Index n) {
    if (axis.windows.max_taps() == 1) return;
    const auto step = static_cast<std::int32_t>(axis.windows.tap_step * axis.cell_stride);
    const auto weight = static_cast<std::int32_t>(axis.tap_stride);
    if (step == 1) {
      for (Index i = 0; i < n; ++i) taps[i] += behind[i] * weight;
      return;
    }
    const float reciprocal = 1.0F / static_cast<float>(step);
    for (Index i = 0; i < n; ++i) {
      const auto tap = static_cast<std::int32_t>((static_cast<float>(behind[i]) + 0.5F) * reciprocal);
      taps[i] += tap * weight;
      behind[i] -= tap * step;
    }
  }

  /// Position of tap 0 of every output of a plane; what planes and tiles alike have in common is made once.
  void place_origins(const Box& box) {
    if (!layout_.taps_are_unique) return;
    bool is_known = knows_origins_;
    for (int a = 0; a < rank_; ++a)
      is_known = is_known && box.outputs[a].begin == known_outputs_[a].begin &&
                 box.outputs[a].end == known_outputs_[a].end && box.first_cell[a] == known_cell_[a];
    if (is_known) return;
    knows_origins_ = true;
    for (int a = 0; a < rank_; ++a) known_outputs_[a] = box.outputs[a], known_cell_[a] = box.first_cell[a];
    Index n = 1;
    origins_[0] = 0;
    for (int a = rank_ - 1; a >= 0; --a) {  // backwards, so that each axis repeats what lies behind it
      const Windows& windows = axis(a).windows;
      for (Index o = count(box, a) - 1; o >= 0; --o) {
        const auto by = static_cast<std::int32_t>((windows.taps(box.outputs[a].begin + o).first - box.first_cell[a]) *
                                                  axis(a).cell_stride);
        for (Index i = 0; i < n; ++i) origins_[o * n + i] = origins_[i] + by;
      }
      n *= count(box, a);
    }
  }
  /// The tap on a cell, by its coordinates; slow.
  Index tap_at(Index position, Index output, const Box& box) const {
    Index at[max_rank];
    for (int a = rank_ - 1; a >= 0; --a) {
      at[a] = box.outputs[a].begin + output % count(box, a);
      output /= count(box, a);
    }
    Index tap = 0;
    for (const int a : layout_.by_cell_stride) {
      const Windows& windows = axis(a).windows;
      const Index cell = box.first_cell[a] + position / axis(a).cell_stride;
      position %= axis(a).cell_stride;
      tap += (cell - windows.taps(at[a]).first) / windows.tap_step * axis(a).tap_stride;
    }
    return tap;
  }

  const Layout& layout_;
  const KeyRule<Bits> rule_;
  const IndexKind kind_;
  const int rank_;
  std::int32_t* origins_;
  bool knows_origins_ = false;
  Range known_outputs_[max_rank];
  Index known_cell_[max_rank];
};

}  // namespace general
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_GENERAL_ARGMAX_RESULTS_INL_H_
