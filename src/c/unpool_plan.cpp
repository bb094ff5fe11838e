// Plans of max unpooling: what Unpool checks and chooses in each call, once.
#include "c/plans.hpp"

#include <ndpool/unpool.hpp>

namespace ndpool::c {

namespace {

template <class T>
class UnpoolPlan final : public ndpool_plan {
 public:
  UnpoolPlan(const Adaptive& size, const Arrays& arrays)
      : ndpool_plan(Unpool(size).output_shape(arrays.shape)),
        reference_(Unpool(size).without_kernels()),
        geometry_(spec::unpool_geometry(size, arrays.shape)),
        shape_(arrays.shape),
        strides_(arrays.strides.empty() ? packed_strides(shape_) : arrays.strides),
        result_strides_(arrays.result_strides.empty() ? packed_strides(output_shape) : arrays.result_strides),
        values_(shape_, strides_),
        cells_(output_shape, result_strides_),
        maps_(detail::CompiledMaps::make_for_indices(dtype_of<T>(), geometry_,
                                                     {result_strides_, strides_, result_strides_, strides_})) {}

  bool has(MapKind map) const override {
    return map == MapKind::unpool || (map == MapKind::unpool_vjp && !std::is_integral_v<T>);
  }
  MapSummary summary(MapKind map) const override { return maps_.has(map) ? maps_.summary(map) : MapSummary{}; }

  bool unpool(const void* y, const std::int64_t* indices, void* x, const ProgressCallback& progress) const override {
    return place({Argument::y, y}, indices, {Argument::x, x}, progress);
  }
  bool unpool_jvp(const void* dy, const std::int64_t* indices, void* dx,
                  const ProgressCallback& progress) const override {
    if (std::is_integral_v<T>) raise({Code::no_derivative, Argument::dy, -1, {}});
    return place({Argument::dy, dy}, indices, {Argument::dx, dx}, progress);
  }
  bool unpool_vjp(const void* gx, const std::int64_t* indices, void* gy,
                  const ProgressCallback& progress) const override {
    if constexpr (std::is_integral_v<T>) {
      raise({Code::no_derivative, Argument::gx, -1, {}});
    } else {
      require(values_.check(indices, Argument::indices));
      require(cells_.check(gx, Argument::gx));
      const T* const from = static_cast<const T*>(gx);
      T* const to = static_cast<T*>(gy);
      check_output(values_, to, Argument::gy, cells_.bytes(from), values_.bytes(indices));
      if (!maps_.has(MapKind::unpool_vjp))
        return reference_.vjp(View<const T>(from, output_shape, result_strides_), at(indices),
                              View<T>(to, shape_, strides_), progress);
      check_indices(indices);
      return maps_.unpool_vjp(gx, indices, gy, progress);
    }
  }

 private:
  template <class Data>
  struct Named {
    Argument argument;
    Data* data;
  };

  bool place(const Named<const void>& values, const std::int64_t* indices, const Named<void>& cells,
             const ProgressCallback& progress) const {
    require(values_.check(values.data, values.argument));
    require(values_.check(indices, Argument::indices));
    const T* const from = static_cast<const T*>(values.data);
    T* const to = static_cast<T*>(cells.data);
    check_output(cells_, to, cells.argument, values_.bytes(from), values_.bytes(indices));
    if (!maps_.has(MapKind::unpool))
      return reference_.forward(View<const T>(from, shape_, strides_), at(indices),
                                View<T>(to, output_shape, result_strides_), progress);
    check_indices(indices);
    return maps_.unpool(from, indices, to, progress);
  }

  static void check_output(const detail::CheckedLayout& layout, T* data, Argument argument,
                           const detail::ByteRange& read, const detail::ByteRange& also_read) {
    require(layout.check(data, argument));
    require(layout.check_stores(argument));
    require(check_overlap(layout.bytes(data), read, argument));
    require(check_overlap(layout.bytes(data), also_read, argument));
  }
  /// The sentence about a wrong index is that of the reference.
  void check_indices(const std::int64_t* indices) const {
    if (!maps_.check_indices(indices, Dtype::i64)) spec::detail::check_indices(geometry_, at(indices));
  }
  View<const Index> at(const std::int64_t* indices) const { return {indices, shape_, strides_}; }

  const Unpool reference_;
  const Geometry geometry_;
  const Shape shape_, strides_, result_strides_;
  const detail::CheckedLayout values_, cells_;
  const detail::CompiledMaps maps_;
};

}  // namespace

std::unique_ptr<ndpool_plan> make_unpool_plan(const Adaptive& size, const Arrays& arrays) {
  if (arrays.result_dtype != arrays.dtype)
    throw Refusal(ndpool_code_not_of_pool, "result_dtype", "result_dtype is no option of unpooling");
  return with_dtype(arrays.dtype, [&]<class T>() -> std::unique_ptr<ndpool_plan> {
    return std::make_unique<UnpoolPlan<T>>(size, arrays);
  });
}

}  // namespace ndpool::c
