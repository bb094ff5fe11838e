// What the maps by indices read and write: elements by their size, blocks of arrays of output shape, boxes of cells.
#pragma once

#include "kernels/indices/blocks.hpp"

#include "kernels/kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace ndpool::indices {

inline constexpr std::size_t scalar_sizes[] = {
#define NDPOOL_ROW(name, type) sizeof(type),
    NDPOOL_ALL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
};
inline Index size_of_kind(ScalarKind kind) { return static_cast<Index>(scalar_sizes[static_cast<int>(kind)]); }
inline bool is_half(ScalarKind kind) { return kind == ScalarKind::kind_f16 || kind == ScalarKind::kind_bf16; }
inline int half_of(ScalarKind kind) { return kind == ScalarKind::kind_f16 ? 0 : 1; }
inline constexpr Index index_sizes[] = {1, 2, 4, 8, 4};

/// Copies elements of 1, 2, 4 or 8 bytes as numbers of that size.
template <class Use>
void with_size(Index size, const Use& use) {
  switch (size) {
    case 1: return use(std::uint8_t{});
    case 2: return use(std::uint16_t{});
    case 4: return use(std::uint32_t{});
    default: return use(std::uint64_t{});
  }
}
inline int log2_of(Index size) { return std::countr_zero(static_cast<std::uint64_t>(size)); }

/// Elements of a block, one behind the other: where they are, or gathered into `room`.
inline const void* load_block(const BlockWalk& walk, BlockWalk::Table<std::int64_t>& at, const Measure& strides,
                              const void* array, Index size, void* room) {
  const char* from = static_cast<const char*>(array) + walk.first(strides) * size;
  if (walk.is_packed(strides)) return from;
  const std::int64_t* offsets = at.of(walk, strides);
  with_size(size, [&]<class Bits>(Bits) {
    const Bits* elements = reinterpret_cast<const Bits*>(from);
    Bits* to = static_cast<Bits*>(room);
    for (Index i = 0; i < walk.count(); ++i) to[i] = elements[offsets[i]];
  });
  return room;
}
/// The cells of a box in an array, or packed in scratch.
struct Target {
  Index stride[max_dims];
  Index origin = 0;  ///< the lowest element of the box in memory
  Index cells = 1;   ///< of the box

  Target(const Layout& layout, const Box& box, bool is_packed) {
    for (int d = layout.count - 1; d >= 0; --d) {
      const Index extent = box.cells[d].end - box.cells[d].begin;
      stride[d] = is_packed ? cells : layout.dim(d).cell_stride;
      origin += box.cells[d].begin * stride[d] + (stride[d] < 0 ? (extent - 1) * stride[d] : 0);
      cells *= extent;
    }
  }
};

/// How indices lead into a target: what outputs add, and what is made of the number.
struct Decoder {
  Measure base;
  Term terms[max_dims];
  int term_count = 0;
  Index factor = 0, origin = 0;
  Index limit = std::numeric_limits<Index>::max();  ///< offsets from here on are in no cell of the box

  void make(const Layout& layout, const Box& box, Form form, const Target& target, bool is_slab) {
    const bool flat = is_flat(form);
    base.of_pooled = Measure::By::start;
    for (int d = 0; d < layout.count; ++d) base.coefficient[d] = flat && layout.dim(d).is_pooled ? 0 : target.stride[d];
    // Positions on the axes are quotients by their weights; those that leave rests of the next are taken together. In a
    // part of an array (part.hpp) weights are larger than the cells behind them.
    Index inner_weight = 1, inner_step = 0;
    for (int d = layout.pooled_end - 1; d >= layout.pooled_begin; --d) {
      const Dim& dim = layout.dim(d);
      const Index extent = flat ? dim.cells : dim.window.kernel;
      if (extent == 1) continue;
      const Index step = target.stride[d] * (flat ? 1 : dim.window.dilation),
                  weight = flat ? dim.flat_weight : dim.tap_weight;
      const Index coefficient = step - inner_step * (weight / inner_weight);
      if (weight == 1)
        factor = step;
      else if (coefficient != 0)
        terms[term_count++] = {weight, coefficient};
      inner_weight = weight;
      inner_step = step;
    }
    origin = target.origin;
    if (is_slab) {
      const Index slab = box.cells[layout.slab_dim].end - box.cells[layout.slab_dim].begin;
      limit = slab * std::abs(target.stride[layout.slab_dim]);
    }
  }
};

/// Calls use(first element, how many, how far apart, how many came before) for runs of cells, in order of the box.
template <class Use>
void for_each_run(const Layout& layout, const Box& box, const Target& target, const Use& use) {
  const auto extent = [&](int d) { return box.cells[d].end - box.cells[d].begin; };
  int d = layout.count - 1;
  while (d > 0 && extent(d) == 1) --d;
  const Index step = target.stride[d];
  Index length = extent(d);
  while (d > 0 && (extent(d - 1) == 1 || target.stride[d - 1] == step * length)) length *= extent(--d);
  Index position[max_dims], at = 0, before = 0;
  for (int o = 0; o < layout.count; ++o) {
    position[o] = 0;
    at += box.cells[o].begin * target.stride[o];
  }
  for (;;) {
    use(at, length, step, before);
    before += length;
    int o = d - 1;
    for (; o >= 0; --o) {
      at += target.stride[o];
      if (++position[o] < extent(o)) break;
      at -= position[o] * target.stride[o];
      position[o] = 0;
    }
    if (o < 0) return;
  }
}

template <class T>
void fill_zeros(T* to, Index length, Index step) {
  if (step == 1) {
    std::memset(to, 0, static_cast<std::size_t>(length) * sizeof(T));
    return;
  }
  for (Index i = 0; i < length; ++i) to[i * step] = T(0);
}

/// Zeroes the cells of a box in an array.
inline void zero_cells(const Layout& layout, const Box& box, const Target& array, void* cells, Index size) {
  with_size(size, [&]<class Bits>(Bits) {
    for_each_run(layout, box, array, [&](Index at, Index length, Index step, Index) {
      fill_zeros(static_cast<Bits*>(cells) + at, length, step);
    });
  });
}

/// Writes neighbouring elements, which are floats to be rounded if `halves`, `step` apart; `room` holds a block.
inline void copy_row(const char* from, Index length, ScalarKind kind, bool halves, char* to, Index step, char* room) {
  const IndexLoops& loops = index_loops();
  const Index size = size_of_kind(kind);
  if (step == 1 && halves) return loops.round[half_of(kind)](reinterpret_cast<const float*>(from), length, to);
  if (step == 1) return static_cast<void>(std::memcpy(to, from, static_cast<std::size_t>(length * size)));
  with_size(size, [&]<class Bits>(Bits) {
    Bits* elements = reinterpret_cast<Bits*>(to);
    const Bits* bits = reinterpret_cast<const Bits*>(from);
    for (Index begin = 0; begin < length; begin += max_block) {
      const Index some = std::min(max_block, length - begin);
      if (halves) {
        loops.round[half_of(kind)](reinterpret_cast<const float*>(from) + begin, some, room);
        bits = reinterpret_cast<const Bits*>(room) - begin;
      }
      for (Index i = begin; i < begin + some; ++i) elements[i * step] = bits[i];
    }
  });
}

/// From packed cells of a box to the array.
inline void copy_out(const Layout& layout, const Box& box, const Target& array, const char* cells, ScalarKind kind,
                     bool halves, void* to, char* room) {
  const Index size = size_of_kind(kind), cell_size = halves ? 4 : size;
  for_each_run(layout, box, array, [&](Index at, Index length, Index step, Index before) {
    copy_row(cells + before * cell_size, length, kind, halves, static_cast<char*>(to) + at * size, step, room);
  });
}

}  // namespace ndpool::indices
