#include "plan/analytic_plan.hpp"

#include "kernels/table.hpp"
#include "plan/map_runs.hpp"
#include "plan/tiles.hpp"

#include <cmath>

namespace ndpool {

using analytic::SliceMap;
using analytic::SliceTypes;

AnalyticPlan::Piece AnalyticPlan::Cut::piece(Index number) const {
  if (!pieces.empty()) return pieces[static_cast<std::size_t>(number)];
  const Range range{number * chunk, std::min((number + 1) * chunk, extent)};
  return {range, range, range, range.end - range.begin == chunk ? 0 : 1};
}

/// Powers of numbers between -10 and 10 fit the range of their sums. Lp of large p multiplies the error of a logarithm.
SliceTypes analytic::slice_types_of(ScalarKind kind, const KernelChoice& choice) {
  const double parameter = std::abs(choice.parameter);
  if (kind == ScalarKind::kind_f64) return SliceTypes::doubles;
  if (choice.combine == Combine::smooth_max) return parameter <= 8 ? SliceTypes::floats : SliceTypes::wide_sums;
  return parameter <= 4 ? SliceTypes::floats : parameter <= 32 ? SliceTypes::wide_sums : SliceTypes::doubles;
}

void* analytic::careful_scratch(int which, std::size_t bytes) {
  constexpr int buffers = 8;
  struct Buffer {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };
  thread_local Buffer kept[buffers];
  Buffer& buffer = kept[which];
  constexpr std::size_t line = 64;
  if (buffer.size < bytes + line) {
    buffer.size = 0;
    buffer.bytes.reset(new char[bytes + line]);
    buffer.size = bytes + line;
  }
  void* start = buffer.bytes.get();
  std::size_t space = buffer.size;
  return std::align(line, bytes, start, space);
}

void AnalyticPlan::run_slice(Index number, const MapArrays& arrays, char* scratch, analytic::SliceState& state) const {
  Strides at;
  Index owned = 0;  // offset of the gradients that are written
  Index kind = 0, kinds = 1;
  for (std::size_t i = cuts_.size(); i-- > 0;) {
    const Cut& cut = cuts_[i];
    const Piece piece = cut.piece(number % cut.count);
    number /= cut.count;
    at.in += piece.cells.begin * cut.stride.in;
    at.tangent_in += piece.cells.begin * cut.stride.tangent_in;
    owned += piece.owned.begin * cut.stride.tangent_in;
    at.out += piece.outputs.begin * cut.stride.out;
    at.tangent_out += piece.outputs.begin * cut.stride.tangent_out;
    kind += piece.kind * kinds;
    kinds *= cut.kinds;
  }
  const auto size = static_cast<Index>(size_of(kind_));
  const auto moved = [size](void* array, Index by) { return array == nullptr ? nullptr : static_cast<char*>(array) + by * size; };
  const analytic::SliceFamilies& families = analytic::slice_kernels_for(kernels().target)->of[static_cast<int>(kind_)];
  const int types = static_cast<int>(types_);
  const analytic::SliceKernel kernel = choice_.combine == Combine::smooth_max ? families.smooth_max[types]
                                       : std::isinf(choice_.parameter)        ? families.magnitudes
                                                                              : families.lp[types];
  kernel({*slices_[static_cast<std::size_t>(kind)], choice_, map_, moved(const_cast<void*>(arrays.in), at.in),
          moved(arrays.out, at.out), moved(arrays.tangent_in, map_ == SliceMap::vjp ? owned : at.tangent_in),
          moved(arrays.tangent_out, at.tangent_out), scratch, scratch + box_bytes_, state});
}

bool AnalyticPlan::run(const MapArrays& arrays, const Watch& watch) const {
  if (slices_.front()->extremes != nullptr) {  // plans that run on all threads
    char* const scratch = static_cast<char*>(analytic::careful_scratch(0, scratch_bytes()));
    for (Index number = 0; number < slice_count_; ++number) {
      analytic::SliceState state;
      run_slice(number, arrays, scratch, state);
      const double done = static_cast<double>(number + 1) / static_cast<double>(slice_count_);
      if (watch.keep_going != nullptr && !watch.keep_going(watch.context, done)) return number + 1 == slice_count_;
    }
    return true;
  }
  return run_tiles({slice_count_, 1}, scratch_bytes(), watch, [&](Index begin, Index end, void* scratch) {
    analytic::SliceState state;
    for (Index number = begin; number < end; ++number) run_slice(number, arrays, static_cast<char*>(scratch), state);
  });
}

}  // namespace ndpool
