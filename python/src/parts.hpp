// Parts of arrays: which cells some outputs of a pool read, and the pool of just these.
#pragma once

#include "describe.hpp"

namespace ndpool::python {

/// Adds the methods of Pool that answer for parts of an array.
void add_parts(nb::class_<Described>& pool);

/// Adds the methods of Pool for windows made of several parts.
void add_partial(nb::class_<Described>& pool);

/// Adds `shift_indices` and `local_indices`.
void add_part_indices(nb::module_& module);

/// Throws unless a range has an entry and is inside of 0 to `limit`.
void require_range(const Range& range, const char* name, Index limit);

/// A range for each axis of an array of `rank` axes: a sequence of pairs.
std::vector<Range> read_ranges(nb::handle object, const char* name, int rank);

/// The geometry of the outputs in `ranges`; each range must be one of the axis. The cells that it reads go to `cells`.
Geometry part_of(const Geometry& whole, const std::vector<Range>& outputs, std::vector<Range>& cells);

}  // namespace ndpool::python
