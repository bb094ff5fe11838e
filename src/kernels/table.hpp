// What the per-target code gives to the plan: kernels for every instruction set, from one list of scalars.
#pragma once

#include "rows.hpp"

#include <ndpool/kernels.hpp>

#include <cstddef>
#include <vector>

namespace ndpool {

/// Some rows of one pool. `in` is the array of input shape, `out` the one of output shape.
struct Job {
  const Rows& rows;
  const KernelChoice& choice;
  const void* in;
  void* out;
  Index first_row;
  Index last_row;
  void* scratch;
};

using Kernel = void (*)(const Job&);

/// The forward kernels of one instruction set.
struct ForwardKernels {
  std::int64_t target = 0;
  Kernel of[scalar_kinds][combine_kinds] = {};
};

/// All kernels of one instruction set.
struct KernelTable {
  std::int64_t target = 0;
  const ForwardKernels* forward = nullptr;
};

/// Adds the kernels that were compiled for a target and that this machine can run, each family from its own file.
void add_forward_kernels(std::vector<KernelTable>& tables);

/// Enters one family of kernels into the table of its target, if this machine has the target.
template <class Getter, class Family>
void add_to_table(std::vector<KernelTable>& tables, Getter& compiled, const Family* KernelTable::*member) {
  const Family* family = compiled();
  for (KernelTable& table : tables)
    if (table.target == family->target) table.*member = family;
}

/// The kernels of the instruction set in use.
const KernelTable& kernels();

}  // namespace ndpool
