// A pool prepared for the general engine: its layout, its element, and how its tiles are run.
#pragma once

#include "kernels/general/table.hpp"

namespace ndpool {

class GeneralPlan {
 public:
  /// Null if the engine does not serve this: no element for the sums, a tile that would need
  /// too much scratch or read too much between two calls of the progress callback, or more than 2^24 divisors that
  /// differ.
  static std::unique_ptr<const GeneralPlan> make(ScalarKind kind, const KernelChoice& choice, const Rows& rows,
                                                 general::Direction direction = general::Direction::forward);

  /// The same for sums beside extremes (ties/pair.hpp); arrays hold pairs.
  static std::unique_ptr<const GeneralPlan> make_ties(bool is_double, const Rows& rows, general::Direction direction);

  /// The same for max and min with the positions of their extremes.
  static std::unique_ptr<const GeneralPlan> make_argmax(ScalarKind kind, const KernelChoice& choice, const Rows& rows);

  /// Writes the indices of the extremes, and their values unless `out` is null. False if `watch` stopped it.
  bool run_argmax(const void* in, void* out, void* indices, IndexKind index_kind, const ProgressCallback& watch) const;

  /// Reads `in`, writes `out`. False if `watch` stopped it.
  bool run(const void* in, void* out, const ProgressCallback& watch) const;

  /// The same on the calling thread, with scratch_bytes() of the caller's.
  void run_all(const void* in, void* out, void* scratch) const;

  std::size_t scratch_bytes() const { return layout_->bytes; }
  const general::Layout& layout() const { return *layout_; }

 private:
  GeneralPlan(const general::ElementChoice& element, std::unique_ptr<const general::Layout> layout)
      : element_(element), layout_(std::move(layout)) {}

  general::ElementChoice element_;
  std::unique_ptr<const general::Layout> layout_;
};

}  // namespace ndpool
