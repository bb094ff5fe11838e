// Few large windows, such as one global pool of one plane: cut along an axis into pieces that threads share, whose
// results are pooled again. A piece is a power of two of taps, so that sums are added in the order of the stated tree.
#pragma once

#include "plan/general_plan.hpp"

namespace ndpool {

class SplitPlan {
 public:
  /// Null if `whole`, the engine's plan of the same values if it has one, has work for threads, or if pieces would have
  /// results of their own that are rounded: sums of short floats and of integers.
  static std::unique_ptr<const SplitPlan> make(ScalarKind kind, const KernelChoice& choice, const Rows& rows,
                                               const GeneralPlan* whole);

  /// False if `watch` stopped it.
  bool run(const void* in, void* out, const ProgressCallback& watch) const;

  /// Of each thread; the calling thread also keeps the results of the pieces.
  std::size_t scratch_bytes() const { return std::max(pieces_->scratch_bytes(), rest_->scratch_bytes()); }
  Index tile_count() const { return pieces_->layout().tile_count; }

 private:
  std::unique_ptr<const GeneralPlan> pieces_, rest_;
  std::size_t bytes_ = 0;  ///< of the pieces' results
};

}  // namespace ndpool
