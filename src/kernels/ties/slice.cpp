// Derivatives of max and min with ties `all` and `split`, slice by slice, in a form whose cost does not grow with the
// window. A window folds pairs (value, tangent) and keeps the sum of the tangents beside its extreme. Backwards, a cell
// folds pairs (y, gradient) of the windows that see it and keeps those with the least extreme y: no window has one that
// is less extreme than the cell, so the sum is the cell's if that y is its value, and else nothing is. Compiled once
// for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ties/slice.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/analytic/copies-inl.h"
#include "kernels/general/positions-inl.h"
#include "kernels/table.hpp"
#include "kernels/ties/pair.hpp"
#include "kernels/ties/slice.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace ties {

using analytic::SliceArray;
using analytic::SliceJob;
using analytic::SliceMap;

template <class S>
class TieSlice {
 public:
  using T = std::conditional_t<std::is_same_v<S, double>, double, float>;
  using Pair = ndpool::ties::Pair<T>;
  using Key = typename Pair::Key;

  explicit TieSlice(const SliceJob& job)
      : job_(job), slice_(job.slice), splits_(job.choice.ties == Ties::split), rule_(finish_of(job.choice)) {
    char* memory = job.scratch;
    const auto take = [&memory](Index elements) {
      char* const start = memory;
      memory += analytic::slice_box_bytes(elements);
      return start;
    };
    numbers_ = reinterpret_cast<T*>(take(slice_.cells));
    tangents_ = reinterpret_cast<T*>(take(slice_.cells));
    of_cells_ = reinterpret_cast<Pair*>(take(2 * slice_.cells));
    of_outputs_ = reinterpret_cast<Pair*>(take(2 * slice_.outputs));
    counts_ = reinterpret_cast<Pair*>(take(2 * slice_.outputs));
    results_ = reinterpret_cast<T*>(take(slice_.outputs));
  }

  void operator()() {
    x_ = analytic::loaded<S>(slice_.copy(SliceArray::in), job_.in, numbers_);
    job_.map == SliceMap::jvp ? jvp() : vjp();
  }

 private:
  static general::Finish finish_of(const KernelChoice& choice) {
    general::Finish finish;
    finish.flip = choice.combine == Combine::min ? -1 : 0;
    finish.ignores_nan = choice.nan == Nan::ignore;
    finish.infinity = static_cast<std::int64_t>(std::bit_cast<Key>(std::numeric_limits<T>::infinity()));
    return finish;
  }
  NDPOOL_ALWAYS_INLINE Key key_of(T value) const {
    return general::Keys<Key>::of_float(std::bit_cast<Key>(value), rule_.flip, rule_.infinity, rule_.nan_key);
  }

  /// Folds the windows over pairs of the cells and `sum_of(cell)`.
  template <class Sum>
  HWY_NOINLINE void fold_windows(const Sum& sum_of, Pair* to) {
    const T* const x = x_;
    Pair* const pairs = of_cells_;
    for (Index i = 0; i < slice_.cells; ++i) pairs[i] = Pair::of(key_of(x[i]), sum_of(i));
    slice_.sums->run_all(pairs, to, job_.engine_scratch);
  }
  void count_ties() {
    fold_windows([](Index) NDPOOL_ALWAYS_INLINE { return T(1); }, counts_);
  }

  void jvp() {
    const T* const dx =
        analytic::loaded<S>(slice_.copy(SliceArray::tangent_in), static_cast<const void*>(job_.tangent_in), tangents_);
    if (splits_) count_ties();
    fold_windows([dx](Index i) NDPOOL_ALWAYS_INLINE { return dx[i]; }, of_outputs_);
    T* const dy = analytic::place_for<S>(slice_.copy(SliceArray::tangent_out), job_.tangent_out, results_);
    for (Index o = 0; o < slice_.outputs; ++o)
      dy[o] = splits_ ? share(of_outputs_[o].sum(), counts_[o].sum()) : of_outputs_[o].sum();
    analytic::store<S>(slice_.copy(SliceArray::tangent_out), dy, job_.tangent_out);
  }
  /// Windows without a cell have no ties.
  static NDPOOL_ALWAYS_INLINE T share(T sum, T ties) { return ties > 0 ? sum / ties : T(0); }

  HWY_NOINLINE void vjp() {
    const T* const gy =
        analytic::loaded<S>(slice_.copy(SliceArray::tangent_out), static_cast<const void*>(job_.tangent_out), results_);
    count_ties();
    for (Index o = 0; o < slice_.outputs; ++o)
      of_outputs_[o] = Pair::of(static_cast<Key>(~counts_[o].key()), splits_ ? share(gy[o], counts_[o].sum()) : gy[o]);
    slice_.transposed_sums->run_all(of_outputs_, of_cells_, job_.engine_scratch);
    T* const gx = analytic::place_for<S>(slice_.copy(SliceArray::gradient_in), job_.tangent_in, tangents_);
    const T* const x = x_;
    const Pair* const pairs = of_cells_;
    for (Index i = 0; i < slice_.cells; ++i)
      gx[i] = static_cast<Key>(~pairs[i].key()) == key_of(x[i]) ? pairs[i].sum() : T(0);
    analytic::store<S>(slice_.copy(SliceArray::gradient_in), gx, job_.tangent_in);
  }

  const SliceJob& job_;
  const analytic::Slice& slice_;
  const bool splits_;
  const general::KeyRule<Key> rule_;
  T *numbers_, *tangents_, *results_;
  Pair *of_cells_, *of_outputs_, *counts_;
  const T* x_ = nullptr;
};

template <class S>
void run_slice(const SliceJob& job) {
  if constexpr (!std::is_integral_v<S>) {
    TieSlice<S> run(job);
    run();
  }
}

}  // namespace ties

const ndpool::ties::TieKernels* tie_slice_kernels() {
#define NDPOOL_ROW(name, type) std::is_integral_v<type> ? nullptr : ties::run_slice<type>,
  static constexpr ndpool::ties::TieKernels kernels = {HWY_TARGET, {NDPOOL_ALL_SCALARS(NDPOOL_ROW)}};
#undef NDPOOL_ROW
  return &kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

HWY_EXPORT(tie_slice_kernels);

const ties::TieKernels* ties::tie_kernels_for(std::int64_t target) {
  return best_for<TieKernels>(HWY_DISPATCH_TABLE(tie_slice_kernels), target);
}

}  // namespace ndpool
#endif
