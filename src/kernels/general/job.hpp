// What the plan hands to the general engine.
#pragma once

#include "kernels/general/finish.hpp"
#include "kernels/general/layout.hpp"

namespace ndpool::general {

/// Some tiles of one pool.
struct GeneralJob {
  const Layout& layout;
  const Finish& finish;
  const void* in;
  void* out;
  Index first_tile, last_tile;
  void* scratch;
  void* indices = nullptr;  ///< of extremes with positions; then `out` may be null
  IndexKind index_kind = IndexKind::flat;
};

using GeneralKernel = void (*)(const GeneralJob&);

/// What an element is, and how it is finished: all that the engine knows of scalar and reducer.
struct GeneralElement {
  ElementTraits traits;
  Finish finish;
};

}  // namespace ndpool::general
