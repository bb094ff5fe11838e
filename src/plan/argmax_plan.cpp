#include "plan/argmax_plan.hpp"

#include "plan/implementations.hpp"
#include "plan/index_runs.hpp"
#include "plan/map_runs.hpp"
#include "plan/tiles.hpp"

namespace ndpool {

namespace {

/// Outputs whose positions stay in the second-level cache.
constexpr Index max_outputs = Index{1} << 15;

Index outputs_of(const Rows& rows, int first_loop) {
  Index outputs = rows.horizontal.window.output * rows.inner.extent;
  for (int v = 0; v < rows.vertical_count; ++v) outputs *= rows.vertical[v].window.output;
  for (int i = first_loop; i < rows.loop_count; ++i) outputs *= rows.loops[i].extent;
  return outputs;
}

/// Gives an array of output shape packed strides, planes and lanes included.
void pack(Rows& rows, Index Strides::*array) {
  Index stride = 1;
  const auto take = [&](Strides& strides, Index extent) {
    strides.*array = stride;
    stride *= extent;
  };
  take(rows.inner.stride, rows.inner.extent);
  take(rows.horizontal.stride, rows.horizontal.window.output);
  for (int v = rows.vertical_count - 1; v >= 0; --v) take(rows.vertical[v].stride, rows.vertical[v].window.output);
  for (int i = rows.loop_count - 1; i >= 0; --i) take(rows.loops[i].stride, rows.loops[i].extent);
}

/// The share of a run that one of its parts is.
struct PartOfRun {
  const ProgressCallback& whole;
  double before, share;
  static bool keep_going(void* context, double done) {
    const auto& part = *static_cast<const PartOfRun*>(context);
    return part.whole.keep_going(part.whole.context, part.before + part.share * done);
  }
  ProgressCallback watch() {
    return whole.keep_going == nullptr ? ProgressCallback{} : ProgressCallback{keep_going, this};
  }
};

}  // namespace

std::unique_ptr<const ArgmaxPlan> ArgmaxPlan::make(ScalarKind kind, const KernelChoice& choice, const Rows& rows,
                                                   MapKind map) {
  std::unique_ptr<ArgmaxPlan> plan(new ArgmaxPlan);
  plan->kind_ = kind;
  plan->map_ = map;
  int first = 0;
  while (first < rows.loop_count && outputs_of(rows, first + 1) > max_outputs)
    plan->slices_.push_back(rows.loops[first++]);
  Rows slice = rows;
  slice.loop_count = rows.loop_count - first;
  for (int i = first; i < rows.loop_count; ++i) slice.loops[i - first] = rows.loops[i];
  if (slice.loop_count > 0) {
    LoopAxis& loop = slice.loops[0];
    plan->step_ = std::clamp<Index>(max_outputs / std::max<Index>(1, outputs_of(slice, 1)), 1, loop.extent);
    plan->slices_.push_back(loop);
    loop.extent = plan->step_;
  }
  for (const LoopAxis& loop : plan->slices_) plan->slice_count_ *= loop.extent;
  if (!plan->slices_.empty()) {
    const Index last = plan->slices_.back().extent;
    plan->slice_count_ = plan->slice_count_ / last * ((last + plan->step_ - 1) / plan->step_);
  }
  slice.row_count = outputs_of(slice, 0) / slice.horizontal.window.output / slice.inner.extent;
  plan->outputs_ = outputs_of(slice, 0);
  Rows of_positions = slice, of_gradients = slice;
  pack(of_positions, &Strides::tangent_out);
  pack(of_gradients, &Strides::out);
  plan->positions_ = GeneralPlan::make_argmax(kind, choice, of_positions);
  if (plan->positions_ == nullptr) return nullptr;
  plan->layout_ = indices::make_layout(of_gradients, false);
  return plan;
}

std::size_t ArgmaxPlan::scratch_bytes() const {
  const auto map = map_ == MapKind::jvp ? indices::IndexMap::take : indices::IndexMap::add;
  return std::max(positions_->scratch_bytes(), indices::scratch_bytes(layout_, map, kind_));
}

Index ArgmaxPlan::tile_count() const { return slice_count_ * positions_->layout().tile_count; }

bool ArgmaxPlan::run(const MapArrays& arrays, const ProgressCallback& watch) const {
  auto* const positions =
      static_cast<Index*>(thread_scratch<ScratchUse::positions>(static_cast<std::size_t>(outputs_) * sizeof(Index)));
  if (positions == nullptr) throw std::bad_alloc();
  const auto size = static_cast<Index>(size_of(kind_));
  const auto moved = [size](const void* array, Index by) {
    return static_cast<char*>(const_cast<void*>(array)) + by * size;
  };
  for (Index number = 0; number < slice_count_; ++number) {
    Strides at;
    Index rest = number;
    for (std::size_t i = slices_.size(); i-- > 0;) {
      const LoopAxis& loop = slices_[i];
      const bool is_last = i + 1 == slices_.size();
      const Index places = is_last ? (loop.extent + step_ - 1) / step_ : loop.extent;
      // The last slice overlaps the one before, which writes the same numbers, so that all are alike.
      const Index place = is_last ? std::min(rest % places * step_, loop.extent - step_) : rest % places;
      rest /= places;
      at.in += place * loop.stride.in;
      at.tangent_in += place * loop.stride.tangent_in;
      at.tangent_out += place * loop.stride.tangent_out;
    }
    const double share = 1 / static_cast<double>(2 * slice_count_);
    PartOfRun first{watch, static_cast<double>(2 * number) * share, share}, second{watch, first.before + share, share};
    if (!positions_->run_argmax(moved(arrays.in, at.in), nullptr, positions, IndexKind::flat, first.watch()))
      return false;
    const indices::MapJob job{.layout = layout_,
                              .map = map_ == MapKind::jvp ? indices::IndexMap::take : indices::IndexMap::add,
                              .form = indices::Form::flat64,
                              .kind = kind_,
                              .indices = positions,
                              .cells = moved(arrays.tangent_in, at.tangent_in),
                              .values = moved(arrays.tangent_out, at.tangent_out)};
    if (!run_index_map(job, second.watch())) return false;
  }
  return true;
}

}  // namespace ndpool
