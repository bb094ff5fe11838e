// Random problems of a given size for the benchmark, in the grammar of its cases. The words come from the generator of
// the tests where sizes do not matter.
#pragma once

#include "cases.hpp"

#include <cstdint>

namespace ndpool::bench {

/// Problem `number` of a seed: an input of about `bytes`, which also fits with one more element on its last axis.
/// The same arguments give the same problem.
Case draw_case(std::uint64_t seed, Index number, Index bytes);

}  // namespace ndpool::bench
