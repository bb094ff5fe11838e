// Plans of pools on one scalar, over those of C++.
#pragma once

#include "c/plans.hpp"

#include <ndpool/plan.hpp>

#include <algorithm>

namespace ndpool::c {

/// Calls `f.operator()<I>()` with the type of indices: flat ones, or tap numbers.
template <class F>
bool with_index(Dtype index, F f) {
  switch (index) {
    case Dtype::i64: return f.template operator()<Index>();
    case Dtype::u8: return f.template operator()<std::uint8_t>();
    case Dtype::u16: return f.template operator()<std::uint16_t>();
    case Dtype::u32: return f.template operator()<std::uint32_t>();
    default:
      throw Refusal(ndpool_code_unknown_value, "index_dtype",
                    std::string("index_dtype ") + ndpool_dtype_name(static_cast<std::int32_t>(index)) +
                        " is none of i64, u8, u16 and u32");
  }
}

template <class T>
class PoolPlan final : public ndpool_plan {
 public:
  PoolPlan(const Pool& pool, const Plan<T>& plan)
      : ndpool_plan(plan.output_shape()), pool_(pool), plan_(plan), maps_(plan.maps()) {
    if (!pool.has_indices()) return;
    switch (spec::compact_bytes(pool.geometry(plan.input_shape()))) {
      case 1: compact_index_dtype = ndpool_dtype_u8; break;
      case 2: compact_index_dtype = ndpool_dtype_u16; break;
      case 4: compact_index_dtype = ndpool_dtype_u32; break;
      default: break;
    }
  }

  bool has(MapKind map) const override { return std::find(maps_.begin(), maps_.end(), map) != maps_.end(); }
  MapSummary summary(MapKind map) const override { return plan_.summary(map); }

  bool forward(const void* x, void* y, const ProgressCallback& progress) const override {
    return plan_.forward(in(x), out(y), progress);
  }
  bool forward_with_indices(const void* x, void* y, void* indices, Dtype index,
                            const ProgressCallback& progress) const override {
    return with_index(index,
                      [&]<class I>() { return plan_.forward(in(x), out(y), static_cast<I*>(indices), progress); });
  }
  bool jvp(const void* x, const void* dx, void* dy, const ProgressCallback& progress) const override {
    return plan_.jvp(in(x), in(dx), out(dy), progress);
  }
  bool vjp(const void* x, const void* gy, void* gx, const ProgressCallback& progress) const override {
    if (x == nullptr && pool_.is_linear() && !std::is_integral_v<T>)
      return plan_.vjp_of_linear(in(gy), out(gx), progress);
    return plan_.vjp(in(x), in(gy), out(gx), progress);
  }
  bool jvp_from_indices(const void* indices, Dtype index, const void* dx, void* dy,
                        const ProgressCallback& progress) const override {
    if constexpr (std::is_integral_v<T>)
      raise({Code::no_derivative, Argument::dx, -1, {}});
    else
      return with_index(index, [&]<class I>() {
        return plan_.jvp_from_indices(static_cast<const I*>(indices), in(dx), out(dy), progress);
      });
  }
  bool vjp_from_indices(const void* indices, Dtype index, const void* gy, void* gx,
                        const ProgressCallback& progress) const override {
    if constexpr (std::is_integral_v<T>)
      raise({Code::no_derivative, Argument::gy, -1, {}});
    else
      return with_index(index, [&]<class I>() {
        return plan_.vjp_from_indices(static_cast<const I*>(indices), in(gy), out(gx), progress);
      });
  }
  bool beta_derivative(const void* x, void* dy, const ProgressCallback& progress) const override {
    return pool_.beta_derivative(View<const T>(in(x), plan_.input_shape(), plan_.strides()),
                                 View<T>(out(dy), plan_.output_shape(), plan_.result_strides()), progress);
  }

 private:
  static const T* in(const void* data) { return static_cast<const T*>(data); }
  static T* out(void* data) { return static_cast<T*>(data); }

  const Pool pool_;
  const Plan<T> plan_;
  const std::vector<MapKind> maps_;
};

template <class T>
std::unique_ptr<ndpool_plan> make_pool_plan(const Pool& pool, const Arrays& arrays, const PlanOptions& options) {
  return std::make_unique<PoolPlan<T>>(pool, pool.plan<T>(arrays.shape, arrays.strides, options));
}

}  // namespace ndpool::c
