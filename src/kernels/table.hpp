// What the per-target code gives to the plan: kernels for every instruction set, from one list of scalars.
#pragma once

#include "plan/rows.hpp"

#include "kernels/kernels.hpp"

#include <cstddef>
#include <vector>

namespace ndpool {

namespace indices {
struct IndexLoops;
}

/// Some rows of one pool. `in` is the array of input shape, `out` the one of output shape.
struct Job {
  const Rows& rows;
  const KernelChoice& choice;
  const void* in;
  void* out;
  Index first_row;
  Index last_row;
  void* scratch;
  const PackedPlanes* packed;  ///< if not null, the rows are whole planes that are to be packed so
};

using Kernel = void (*)(const Job&);

/// The forward kernels of one scalar.
struct CombineKernels {
  Kernel of[combine_kinds] = {};
};

/// The forward kernels of one instruction set and some scalars, null for the others: they take the compiler so long
/// that they are in three files.
struct ForwardKernels {
  std::int64_t target = 0;
  CombineKernels of[scalar_kinds] = {};
};

/// What is made of the winners of max and min.
enum class WinnerUse : unsigned char {
  indices,  ///< `out` gets the values, unless it is null, `tangent_out` the indices, flat or compact
  jvp,      ///< `tangent_out` gets the tangent of each winner
  vjp,      ///< `tangent_in` gets the gradients of all outputs a cell has won; rows must be whole planes
};

/// Some rows of one pool with a second pair of arrays: indices, tangents or gradients.
struct TangentJob {
  const Rows& rows;
  const KernelChoice& choice;
  WinnerUse use;
  IndexKind index_kind;
  const void* in;
  void* out;
  void* tangent_in;
  void* tangent_out;
  Index first_row;
  Index last_row;
  void* scratch;
};

using TangentKernel = void (*)(const TangentJob&);

/// Kernels of max and min, by their winners.
struct WinnerKernels {
  std::int64_t target = 0;
  TangentKernel of[scalar_kinds][2] = {};
};

/// VJP of sum and average; null for integers.
struct SpreadKernels {
  std::int64_t target = 0;
  TangentKernel of[scalar_kinds] = {};
};

/// Some rows of outputs, whole planes of disjoint windows, with indices of the strides `out`.
struct DisjointJob {
  const Rows& rows;
  const void* indices;
  const void* gy;
  void* gx;
  Index first_row;
  Index last_row;
};

/// For f32 and f64, by tap numbers of a byte and by flat indices. Kernels answer false if a flat index names no cell of
/// its window.
struct DisjointKernels {
  std::int64_t target = 0;
  bool (*of[2][2])(const DisjointJob&) = {};
};

/// One plane of an array of short floats, and the same packed as floats.
struct WidenJob {
  const Rows& rows;
  Index Strides::*array;  ///< whose strides are meant
  bool has_input_shape;
  void* narrow;
  float* wide;
  bool back;  ///< to the short floats
};

using WidenKernel = void (*)(const WidenJob&);

/// Null for all but short floats.
struct WidenKernels {
  std::int64_t target = 0;
  WidenKernel of[scalar_kinds] = {};
};

/// All kernels of one instruction set.
struct KernelTable {
  std::int64_t target = 0;
  const ForwardKernels* forward_float = nullptr;
  const ForwardKernels* forward_short = nullptr;
  const ForwardKernels* forward_integer = nullptr;
  const WinnerKernels* winners = nullptr;
  const SpreadKernels* spread = nullptr;
  const indices::IndexLoops* indices = nullptr;
  const DisjointKernels* disjoint = nullptr;
  const WidenKernels* widen = nullptr;

  Kernel forward(ScalarKind kind, Combine combine) const {
    const int scalar = static_cast<int>(kind), which = static_cast<int>(combine);
    for (const ForwardKernels* some : {forward_float, forward_short, forward_integer})
      if (const Kernel kernel = some->of[scalar].of[which]; kernel != nullptr) return kernel;
    return nullptr;
  }
};

/// Adds the kernels that were compiled for a target and that this machine can run, each family from its own file.
void add_forward_float_kernels(std::vector<KernelTable>& tables);
void add_forward_short_kernels(std::vector<KernelTable>& tables);
void add_forward_integer_kernels(std::vector<KernelTable>& tables);
void add_winner_kernels(std::vector<KernelTable>& tables);
void add_spread_kernels(std::vector<KernelTable>& tables);
void add_index_kernels(std::vector<KernelTable>& tables);
void add_disjoint_kernels(std::vector<KernelTable>& tables);
void add_widen_kernels(std::vector<KernelTable>& tables);

/// Enters one family of kernels into the table of its target, if this machine has the target.
template <class Getter, class Family>
void add_to_table(std::vector<KernelTable>& tables, Getter& compiled, const Family* KernelTable::*member) {
  const Family* family = compiled();
  for (KernelTable& table : tables)
    if (table.target == family->target) table.*member = family;
}

/// Of what every target's getter answers, that of a target. One that these kernels are not compiled for has those of
/// the next: Highway numbers better targets lower.
template <class Family, class Getters>
const Family* best_for(const Getters& compiled, std::int64_t target) {
  const Family* best = nullptr;
  for (const auto& getter : compiled) {
    if (getter == nullptr) continue;
    const Family* const family = (*getter)();
    if (family->target >= target && (best == nullptr || family->target < best->target)) best = family;
  }
  return best;
}

/// Defines `getter`, which answers one target's kernels: a row for every scalar, by the file's own NDPOOL_ROW.
#define NDPOOL_KERNEL_TABLE(Family, getter)                                       \
  const Family* getter() {                                                        \
    static constexpr Family kernels = {HWY_TARGET, {NDPOOL_SCALARS(NDPOOL_ROW)}}; \
    return &kernels;                                                              \
  }

/// Defines `adder`, which enters what every target's `getter` answers as `member`: for the end of a file of kernels.
#define NDPOOL_EXPORT_KERNELS(getter, adder, member)                                  \
  HWY_EXPORT(getter);                                                                 \
  void adder(std::vector<KernelTable>& tables) {                                      \
    for (const auto& compiled : HWY_DISPATCH_TABLE(getter))                           \
      if (compiled != nullptr) add_to_table(tables, *compiled, &KernelTable::member); \
  }

/// The kernels of the instruction set in use.
const KernelTable& kernels();

}  // namespace ndpool
