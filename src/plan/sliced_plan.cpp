#include "plan/sliced_plan.hpp"

#include "kernels/table.hpp"
#include "plan/map_runs.hpp"
#include "plan/tiles.hpp"

#include <atomic>
#include <cmath>

namespace ndpool {

using analytic::SliceMap;
using analytic::SliceTypes;

SlicedPlan::Piece SlicedPlan::Cut::piece(Index number) const {
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

namespace {

/// The kernels of the instruction set in use. Asking Highway is slow, so the last answer is kept.
template <class Family, const Family* (*kernels_for)(std::int64_t)>
const Family& family_in_use() {
  static std::atomic<const Family*> last = nullptr;
  static std::atomic<std::int64_t> last_target = 0;
  const std::int64_t target = kernels().target;
  if (last_target.load(std::memory_order_acquire) != target) {
    last.store(kernels_for(target), std::memory_order_relaxed);
    last_target.store(target, std::memory_order_release);
  }
  return *last.load(std::memory_order_relaxed);
}
const analytic::SliceKernels& slice_kernels() {
  return family_in_use<analytic::SliceKernels, analytic::slice_kernels_for>();
}
const ties::TieKernels& tie_kernels() { return family_in_use<ties::TieKernels, ties::tie_kernels_for>(); }
const mixed::ConversionKernels& conversion_kernels() {
  return family_in_use<mixed::ConversionKernels, mixed::conversions_for>();
}

}  // namespace

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

SlicedPlan::Place SlicedPlan::place_of(Index number) const {
  Place place;
  Index kind = 0, kinds = 1;
  for (std::size_t i = cuts_.size(); i-- > 0;) {
    const Cut& cut = cuts_[i];
    const Piece piece = cut.piece(number % cut.count);
    number /= cut.count;
    place.at.in += piece.cells.begin * cut.stride.in;
    place.at.tangent_in += piece.cells.begin * cut.stride.tangent_in;
    place.owned += piece.owned.begin * cut.stride.tangent_in;
    place.at.out += piece.outputs.begin * cut.stride.out;
    place.at.tangent_out += piece.outputs.begin * cut.stride.tangent_out;
    kind += piece.kind * kinds;
    kinds *= cut.kinds;
  }
  place.slice = slices_[static_cast<std::size_t>(kind)].get();
  return place;
}

void SlicedPlan::convert_slice(Index number, const MapArrays& arrays, char* scratch) const {
  const auto [slice, at, owned] = place_of(number);
  const mixed::ConversionKernels& convert = conversion_kernels();
  const auto work = static_cast<std::size_t>(work_), kind = static_cast<std::size_t>(kind_),
             result = static_cast<std::size_t>(result_);
  const auto* const in = static_cast<const char*>(arrays.in) + at.in * static_cast<Index>(size_of(kind_));
  auto* const out = static_cast<char*>(arrays.out) + at.out * static_cast<Index>(size_of(result_));
  char* const results = scratch + analytic::slice_box_bytes(slice->cells);
  const void* numbers = results;
  if (folds_input_) {
    slice->sums->run_all(in, results, scratch + box_bytes_);
    char* const converted = results + analytic::slice_box_bytes(slice->outputs);
    numbers = convert.load[kind][work](slice->copy(analytic::SliceArray::tangent_out), results, converted);
  } else {
    const void* const cells = convert.load[kind][work](slice->copy(analytic::SliceArray::in), in, scratch);
    slice->sums->run_all(cells, results, scratch + box_bytes_);
  }
  const Rounding rounding = choice_.averages ? choice_.average.rounding : Rounding::half_even;
  convert.store[work][result](slice->copy(analytic::SliceArray::out), numbers, out, rounding);
}

analytic::SliceKernel SlicedPlan::kernel() const {
  if (use_ == Use::ties) return tie_kernels().of[static_cast<int>(kind_)];
  const analytic::SliceFamilies& families = slice_kernels().of[static_cast<int>(kind_)];
  if (choice_.combine == Combine::smooth_max) return families.smooth_max[static_cast<int>(types_)];
  return std::isinf(choice_.parameter) ? families.magnitudes : families.lp[static_cast<int>(types_)];
}

void SlicedPlan::run_slice(Index number, const MapArrays& arrays, char* scratch, analytic::SliceState& state) const {
  const auto [slice, at, owned] = place_of(number);
  const auto size = static_cast<Index>(size_of(kind_));
  const auto moved = [size](void* array, Index by) {
    return array == nullptr ? nullptr : static_cast<char*>(array) + by * size;
  };
  kernel()({*slice, choice_, map_, moved(const_cast<void*>(arrays.in), at.in), moved(arrays.out, at.out),
            moved(arrays.tangent_in, map_ == SliceMap::vjp ? owned : at.tangent_in),
            moved(arrays.tangent_out, at.tangent_out), scratch, scratch + box_bytes_, state});
}

bool SlicedPlan::run(const MapArrays& arrays, const ProgressCallback& watch) const {
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
    for (Index number = begin; number < end; ++number)
      use_ == Use::mixed ? convert_slice(number, arrays, static_cast<char*>(scratch))
                         : run_slice(number, arrays, static_cast<char*>(scratch), state);
  });
}

}  // namespace ndpool
