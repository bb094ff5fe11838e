// Plans of pools whose result has another dtype than the input: the compiled implementation, or else the reference on a
// copy of the input in a type that holds all its numbers, so that it is compiled for five types instead of 169 pairs.
#include "c/plans.hpp"

#include <ndpool/plan_options.hpp>
#include <ndpool/unpool.hpp>

namespace ndpool::c {

namespace {

/// What the reference works in. Integers are folded exactly in any type that holds them.
enum class Work : unsigned char { f32, f64, extended, i64, u64 };

template <class X, class Y>
constexpr Work work_of() {
  using Scalar = spec::WorkScalar<X, Y>;
  if constexpr (std::is_integral_v<Scalar>)
    return std::is_same_v<Scalar, std::uint64_t> ? Work::u64 : Work::i64;
  else if constexpr (sizeof(Scalar) > sizeof(double))
    return Work::extended;
  else
    return std::is_same_v<Scalar, double> ? Work::f64 : Work::f32;
}
Work work_of(Dtype x, Dtype y) {
  return with_dtype(x, [&]<class X>() { return with_dtype(y, []<class Y>() { return work_of<X, Y>(); }); });
}

template <class F>
decltype(auto) with_work(Work work, F f) {
  switch (work) {
    case Work::f32: return f.template operator()<float>();
    case Work::f64: return f.template operator()<double>();
    case Work::extended: return f.template operator()<long double>();
    case Work::i64: return f.template operator()<std::int64_t>();
    case Work::u64: return f.template operator()<std::uint64_t>();
  }
  __builtin_unreachable();
}

/// Calls `f` with the reference of the pool's reducer for W.
template <class W, class F>
void with_reducer(const Pool& pool, F f) {
  std::visit([&](const auto& reduction) { reduction.template with<W>(f); }, pool.reduction());
}

class MixedPlan final : public ndpool_plan {
 public:
  MixedPlan(const Pool& pool, const Arrays& arrays, const PlanOptions& options)
      : ndpool_plan(pool.output_shape(arrays.shape)),
        pool_(pool),
        dtype_(arrays.dtype),
        result_dtype_(arrays.result_dtype),
        work_(work_of(dtype_, result_dtype_)),
        geometry_(pool.geometry(arrays.shape)),
        strides_(arrays.strides.empty() ? packed_strides(arrays.shape) : arrays.strides),
        result_strides_(detail::PoolAccess::strides_of_all_axes(
            pool, geometry_, arrays.result_strides.empty() ? packed_strides(output_shape) : arrays.result_strides)),
        in_(arrays.shape, strides_),
        out_(geometry_.output_shape(), result_strides_) {
    with_work(work_, [&]<class W>() {
      with_reducer<W>(pool, [&](const auto& reducer) { require(spec::core::check_value(geometry_, reducer)); });
    });
    maps_ = detail::CompiledMaps::make(pool.reduction(), dtype_, result_dtype_, geometry_,
                                       {strides_, result_strides_, strides_, result_strides_}, options);
  }

  bool has(MapKind map) const override { return map == MapKind::forward; }
  MapSummary summary(MapKind map) const override { return maps_.has(map) ? maps_.summary(map) : MapSummary{}; }

  bool forward(const void* x, void* y, const ProgressCallback& progress) const override {
    require(in_.check(x, Argument::x));
    require(out_.check(y, Argument::y));
    require(out_.check_stores(Argument::y));
    require(check_overlap(bytes(out_, y, result_dtype_), bytes(in_, x, dtype_), Argument::y));
    if (maps_.has(MapKind::forward)) return maps_.forward(x, y, progress);
    return with_work(work_, [&]<class W>() { return run_reference<W>(x, y, progress); });
  }

  bool jvp(const void*, const void*, void*, const ProgressCallback&) const override { refuse_derivative("jvp"); }
  bool vjp(const void*, const void*, void*, const ProgressCallback&) const override { refuse_derivative("vjp"); }

 private:
  [[noreturn]] static void refuse_derivative(const char* map) {
    refuse_map(map, "its result has another dtype than its input, which leaves the forward map alone");
  }

  template <class Data>
  static detail::ByteRange bytes(const detail::CheckedLayout& layout, Data* data, Dtype dtype) {
    return with_dtype(dtype, [&]<class T>() { return layout.bytes(static_cast<const T*>(data)); });
  }

  /// The input, packed, in the type that the reference works in.
  template <class W>
  std::vector<W> widened(const void* x) const {
    const Shape shape = geometry_.input_shape();
    std::vector<W> copy;
    copy.reserve(static_cast<std::size_t>(element_count(shape)));
    with_dtype(dtype_, [&]<class X>() {
      const View<const X> from(static_cast<const X*>(x), shape, strides_);
      if constexpr (std::is_integral_v<X> == std::is_integral_v<W>)
        spec::for_each_position(shape, [&](const Shape& at) { copy.push_back(static_cast<W>(from[at])); });
    });
    return copy;
  }

  template <class W>
  bool run_reference(const void* x, void* y, const ProgressCallback& progress) const {
    const std::vector<W> copy = widened<W>(x);
    const View<const W> from(copy.data(), geometry_.input_shape());
    W unused(0);  // each value goes to y in its own type instead
    const View<W> nowhere(&unused, geometry_.output_shape(), Shape::filled(geometry_.rank, 0));
    bool finished = true;
    with_reducer<W>(pool_, [&](const auto& reducer) {
      finished = spec::run_cancellable(geometry_, reducer, progress, 1, [&](const auto& ticking) {
        spec::core::forward(geometry_, ticking, from, nowhere, [&](const Shape& at, const auto& summary) {
          with_dtype(result_dtype_, [&]<class Y>() {
            View<Y>(static_cast<Y*>(y), geometry_.output_shape(), result_strides_)[at] =
                spec::result<Y>(reducer, summary);
          });
        });
      });
    });
    return finished;
  }

  const Pool pool_;
  const Dtype dtype_, result_dtype_;
  const Work work_;
  const Geometry geometry_;
  const Shape strides_, result_strides_;  ///< with the axes that a global pool drops
  const detail::CheckedLayout in_, out_;
  detail::CompiledMaps maps_;
};

}  // namespace

std::unique_ptr<ndpool_plan> make_mixed_plan(const Pool& pool, const Arrays& arrays, const PlanOptions& options) {
  return std::make_unique<MixedPlan>(pool, arrays, options);
}

}  // namespace ndpool::c
