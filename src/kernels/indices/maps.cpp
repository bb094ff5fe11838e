#include "kernels/indices/maps.hpp"

#include "kernels/indices/blocks.hpp"
#include "kernels/indices/targets.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <new>

namespace ndpool::indices {

namespace {

/// What a thread keeps of a block; the cells of a tile, or which of them were taken, are behind it.
template <class Offset>
struct BlockScratch {
  Offset offsets[max_block], marks[max_block];
  Offset base[max_block], mark_base[max_block], window[max_block];
  std::int64_t index_at[max_block], value_at[max_block];
  alignas(64) char indices[8 * max_block];
  alignas(64) char values[8 * max_block];
  alignas(64) float wide[max_block];
};

/// Runs one tile.
template <class Offset>
class TileRun {
 public:
  TileRun(const MapJob& job, Index tile, void* scratch)
      : job_(job),
        layout_(job.layout),
        scratch_(*static_cast<BlockScratch<Offset>*>(scratch)),
        behind_(static_cast<char*>(scratch) + sizeof(BlockScratch<Offset>)),
        loops_(index_loops()),
        element_(element_of(job.form)),
        size_(size_of_kind(job.kind)),
        index_size_(index_sizes[static_cast<int>(job.form)]) {
    if (is_by_cells(job.map))
      cell_tile(layout_, tile, job.all_outputs, box_);
    else
      output_tile(layout_, tile, box_);
    for (int d = 0; d < layout_.count; ++d) {
      index_strides_.coefficient[d] = layout_.dim(d).index_stride;
      value_strides_.coefficient[d] = layout_.dim(d).value_stride;
    }
  }

  static std::size_t bytes(const Layout& layout, IndexMap map, std::size_t cell_bytes) {
    const int axes = layout.pooled_end - layout.pooled_begin;
    return sizeof(BlockScratch<Offset>) +
           (map == IndexMap::check ? check_bytes(axes) : static_cast<std::size_t>(layout.max_tile_cells) * cell_bytes);
  }

  bool run() {
    switch (job_.map) {
      case IndexMap::check: return check();
      case IndexMap::take: return take();
      case IndexMap::add:
      case IndexMap::put: return scatter();
      case IndexMap::zero: return zero();
      case IndexMap::take_last: return take_last();
    }
    return true;
  }

 private:
  const OffsetLoops<Offset>& loops() const {
    if constexpr (sizeof(Offset) == 4)
      return loops_.narrow;
    else
      return loops_.wide;
  }
  bool is_slab() const { return layout_.by_cells.slab > 0; }

  // ---- blocks of indices and values
  const void* load_indices(const BlockWalk& walk) {
    return load_block(walk, index_at_, index_strides_, job_.indices, index_size_, scratch_.indices);
  }
  const void* load_values(const BlockWalk& walk) {
    return load_block(walk, value_at_, value_strides_, job_.values, size_, scratch_.values);
  }
  /// Where the values of a block go, or a block of scratch if they are not packed.
  void* values_of(const BlockWalk& walk) const {
    if (!walk.is_packed(value_strides_)) return const_cast<char*>(scratch_.values);
    return static_cast<char*>(job_.values) + walk.first(value_strides_) * size_;
  }
  void store_values(const BlockWalk& walk) {
    if (walk.is_packed(value_strides_)) return;
    char* to = static_cast<char*>(job_.values) + walk.first(value_strides_) * size_;
    const std::int64_t* offsets = value_at_.of(walk, value_strides_);
    with_size(size_, [&]<class Bits>(Bits) {
      const Bits* from = reinterpret_cast<const Bits*>(scratch_.values);
      Bits* elements = reinterpret_cast<Bits*>(to);
      for (Index i = 0; i < walk.count(); ++i) elements[offsets[i]] = from[i];
    });
  }

  // ---- from indices to offsets
  /// Flat indices of slabs are watched: one outside of its window might be another slab's.
  void watch_windows() {
    const Dim& dim = layout_.dim(layout_.slab_dim);
    window_.of_pooled = Measure::By::start;
    std::fill_n(window_.coefficient, layout_.count, Index{0});
    window_.coefficient[layout_.slab_dim] = dim.flat_weight;
    const Index span = dim.window.adaptive ? std::max<Index>(1, dim.window.kernel - 1) : dim.window.span(1);
    window_before_ = layout_.slack * dim.flat_weight;
    window_length_ = (span + 2 * layout_.slack) * dim.flat_weight;
    watches_ = true;
  }
  /// True if there were strays.
  bool decode(const BlockWalk& walk, const void* indices, const Decoder& decoder, BlockWalk::Table<Offset>& base,
              Offset* offsets) {
    Decoding<Offset> job{};
    job.indices = indices;
    job.count = walk.count();
    job.base = base.of(walk, decoder.base);
    job.constant = static_cast<Offset>(walk.first(decoder.base) - decoder.origin);
    if (watches_) {
      job.window = windows_.of(walk, window_);
      job.first_window = static_cast<Offset>(walk.first(window_) - window_before_);
      job.window_length = static_cast<Offset>(window_length_);
    }
    job.factor = static_cast<Offset>(decoder.factor);
    job.limit = static_cast<Offset>(std::min<Index>(decoder.limit, std::numeric_limits<Offset>::max()));
    job.terms = decoder.terms;
    job.term_count = decoder.term_count;
    job.offsets = offsets;
    return loops().decode[element_](job);
  }

  // ---- the maps
  bool check() {
    const bool flat = is_flat(job_.form);
    const Index last = (flat ? layout_.cell_count : layout_.tap_count) - 1;
    if (!flat) make_check_tables();
    BlockWalk walk(layout_, box_);
    while (walk.next()) {
      const void* indices = load_indices(walk);
      if (!loops_.are_within[element_](indices, walk.count(), last)) return false;
      if (!flat && !taps_are_real(walk, indices)) return false;
    }
    return true;
  }
  /// Of one axis: where windows begin, and where bins end.
  struct TapTables {
    BlockWalk::Table<Offset> start, end;
  };
  TapTables* tap_tables() const { return reinterpret_cast<TapTables*>(behind_); }
  void make_check_tables() {
    const int axes = layout_.pooled_end - layout_.pooled_begin;
    auto* room =
        reinterpret_cast<Offset*>(behind_ + (static_cast<std::size_t>(axes) * sizeof(TapTables) + 63) / 64 * 64);
    for (int a = 0; a < axes; ++a, room += 2 * max_block) new (tap_tables() + a) TapTables{{room}, {room + max_block}};
  }
  /// Windows that reach over an end of an axis have fewer taps, and so have most bins.
  bool taps_are_real(const BlockWalk& walk, const void* indices) {
    for (int d = layout_.pooled_begin; d < layout_.pooled_end; ++d) {
      const Dim& dim = layout_.dim(d);
      const Range positions = walk.positions(d), full = dim.window.adaptive ? Range{} : dim.window.full_outputs();
      if (positions.begin >= full.begin && positions.end <= full.end) continue;
      Measure starts, ends;
      starts.of_pooled = Measure::By::start;
      ends.of_pooled = Measure::By::bin_length;
      std::fill_n(starts.coefficient, layout_.count, Index{0});
      std::fill_n(ends.coefficient, layout_.count, Index{0});
      (dim.window.adaptive ? ends : starts).coefficient[d] = 1;
      TapTables& tables = tap_tables()[d - layout_.pooled_begin];
      const Index end = dim.window.adaptive ? walk.first(ends) : dim.cells;
      const AxisCheck<Offset> job = {.indices = indices,
                                     .count = walk.count(),
                                     .divisor = dim.tap_weight,
                                     .kernel = dim.window.kernel,
                                     .dilation = dim.window.dilation,
                                     .start = tables.start.of(walk, starts),
                                     .end = tables.end.of(walk, ends),
                                     .start_of_all = static_cast<Offset>(walk.first(starts)),
                                     .end_of_all = static_cast<Offset>(end)};
      if (!loops().taps_are_real[element_](job)) return false;
    }
    return true;
  }
  static std::size_t check_bytes(int axes) {
    return static_cast<std::size_t>(axes) * (sizeof(TapTables) + 2 * max_block * sizeof(Offset)) + 64;
  }

  bool take() {
    const Target target(layout_, box_, false);
    decoder_.make(layout_, box_, job_.form, target, false);
    const char* cells = static_cast<const char*>(job_.cells) + target.origin * size_;
    BlockWalk walk(layout_, box_);
    while (walk.next()) {
      decode(walk, load_indices(walk), decoder_, base_, scratch_.offsets);
      loops().take[log2_of(size_)](scratch_.offsets, walk.count(), cells, values_of(walk));
      store_values(walk);
    }
    return true;
  }

  bool zero() {
    BlockWalk walk(layout_, box_);
    std::memset(scratch_.values, 0, sizeof(scratch_.values));
    while (walk.next()) {
      if (walk.is_packed(value_strides_))
        std::memset(values_of(walk), 0, static_cast<std::size_t>(walk.count() * size_));
      else
        store_values(walk);
    }
    return true;
  }

  /// Sums of 16-bit floats are floats until they leave the tile. So are slabs that are not apart in the array.
  bool scatter() {
    const bool halves = job_.map == IndexMap::add && is_half(job_.kind);
    const bool is_packed = halves || (is_slab() && !layout_.is_nested);
    const Index size = halves ? 4 : size_;
    const Target target(layout_, box_, is_packed), array(layout_, box_, false);
    char* const cells = is_packed ? behind_ : static_cast<char*>(job_.cells) + target.origin * size_;
    decoder_.make(layout_, box_, job_.form, target, is_slab());
    if (is_slab() && is_flat(job_.form) && !job_.all_outputs) watch_windows();
    if (is_packed)
      std::memset(cells, 0, static_cast<std::size_t>(target.cells * size));
    else
      zero_cells(layout_, box_, array, job_.cells, size_);
    BlockWalk walk(layout_, box_);
    while (walk.next()) {
      if (decode(walk, load_indices(walk), decoder_, base_, scratch_.offsets)) return false;
      const void* values = load_values(walk);
      if (halves) {
        loops_.widen[half_of(job_.kind)](values, walk.count(), scratch_.wide);
        values = scratch_.wide;
      }
      if (job_.map == IndexMap::put)
        loops().put[log2_of(size)](scratch_.offsets, walk.count(), values, cells);
      else if (size == 4)
        loops().add_f32[is_slab()](scratch_.offsets, walk.count(), static_cast<const float*>(values),
                                   reinterpret_cast<float*>(cells));
      else
        loops().add_f64[is_slab()](scratch_.offsets, walk.count(), static_cast<const double*>(values),
                                   reinterpret_cast<double*>(cells));
    }
    if (is_packed) copy_out(layout_, box_, array, cells, job_.kind, halves, job_.cells, scratch_.values);
    return true;
  }

  /// Backwards, so that the first value that comes to a cell is the one that `put` leaves there.
  bool take_last() {
    const Target packed(layout_, box_, true), array(layout_, box_, false);
    Decoder to_marks;
    to_marks.make(layout_, box_, job_.form, packed, is_slab());
    decoder_.make(layout_, box_, job_.form, array, false);
    if (is_slab() && !job_.all_outputs) watch_windows();
    auto* const is_taken = reinterpret_cast<std::uint8_t*>(behind_);
    std::memset(is_taken, 0, static_cast<std::size_t>(packed.cells));
    BlockWalk::Table<Offset> mark_base{scratch_.mark_base};
    BlockWalk walk(layout_, box_, true);
    while (walk.next()) {
      const void* indices = load_indices(walk);
      if (decode(walk, indices, to_marks, mark_base, scratch_.marks)) return false;
      watches_ = false;
      decode(walk, indices, decoder_, base_, scratch_.offsets);
      watches_ = window_length_ > 0;
      const std::int64_t* at = value_at_.of(walk, value_strides_);
      with_size(size_, [&]<class Bits>(Bits) {
        const Bits* cells = static_cast<const Bits*>(job_.cells) + array.origin;
        Bits* values = static_cast<Bits*>(job_.values) + walk.first(value_strides_);
        for (Index i = walk.count() - 1; i >= 0; --i) {
          const Offset mark = scratch_.marks[i];
          if (mark < 0 || is_taken[mark] != 0) continue;
          is_taken[mark] = 1;
          values[at[i]] = cells[scratch_.offsets[i]];
        }
      });
    }
    return true;
  }

  const MapJob& job_;
  const Layout& layout_;
  BlockScratch<Offset>& scratch_;
  char* const behind_;
  const IndexLoops& loops_;
  const int element_;
  const Index size_, index_size_;
  Box box_;
  Measure index_strides_, value_strides_, window_;
  Decoder decoder_;
  Index window_before_ = 0, window_length_ = 0;
  bool watches_ = false;
  BlockWalk::Table<std::int64_t> index_at_{scratch_.index_at}, value_at_{scratch_.value_at};
  BlockWalk::Table<Offset> base_{scratch_.base}, windows_{scratch_.window};
};

}  // namespace

bool run_tile(const MapJob& job, Index tile, void* scratch) {
  if (job.layout.is_narrow) return TileRun<std::int32_t>(job, tile, scratch).run();
  return TileRun<std::int64_t>(job, tile, scratch).run();
}

std::size_t scratch_bytes(const Layout& layout, IndexMap map, ScalarKind kind) {
  const bool is_packed =
      (map == IndexMap::add || map == IndexMap::put) && layout.by_cells.slab > 0 && !layout.is_nested;
  std::size_t cell_bytes = is_packed ? static_cast<std::size_t>(size_of_kind(kind)) : 0;
  if (map == IndexMap::take_last) cell_bytes = 1;
  if (map == IndexMap::add && is_half(kind)) cell_bytes = sizeof(float);
  if (layout.is_narrow) return TileRun<std::int32_t>::bytes(layout, map, cell_bytes);
  return TileRun<std::int64_t>::bytes(layout, map, cell_bytes);
}

}  // namespace ndpool::indices
