// The compiled implementations behind the templates of pool.hpp and plan.hpp: a handle to what src/plan/ has chosen,
// with arrays as addresses. Everything has been checked before it gets here.
#pragma once

#include <ndpool/api.h>
#include <ndpool/dtype.hpp>
#include <ndpool/geometry.hpp>
#include <ndpool/plan_options.hpp>
#include <ndpool/progress_callback.hpp>

#include <memory>
#include <variant>

namespace ndpool {

class KernelPlan;

namespace detail {

/// A variant of all types but the first: for lists of which every row begins with a comma.
template <class, class... Types>
using VariantBehind = std::variant<Types...>;

}  // namespace detail

namespace reduction {

#define NDPOOL_ROW(name, type) struct type;
NDPOOL_REDUCERS(NDPOOL_ROW)
#undef NDPOOL_ROW
#define NDPOOL_ROW(name, type) , type
/// Any of the built-in reducers, with its options: one alternative per row of NDPOOL_REDUCERS.
using Any = ndpool::detail::VariantBehind<void NDPOOL_REDUCERS(NDPOOL_ROW)>;
#undef NDPOOL_ROW

}  // namespace reduction

namespace detail {

/// Strides, in elements, of the arrays that maps are chosen for: `in` and `tangent_in` have the shape of the input, the
/// others that of the output.
struct ArrayStrides {
  const Shape& in;
  const Shape& out;
  const Shape& tangent_in;
  const Shape& tangent_out;
};

/// Empty where the reference runs every map. Copies share one plan; running allocates nothing once a thread has its
/// scratch. Indices are of type std::int64_t (flat), or std::uint8_t, std::uint16_t, std::uint32_t (tap numbers).
class NDPOOL_API CompiledMaps {
 public:
  CompiledMaps() = default;
  /// For inputs of type `in` and results of type `out`, which have the forward map alone if they differ. Throws
  /// std::invalid_argument if the implementation that `options`, or else NDPOOL_FORCE_IMPLEMENTATION, names accepts
  /// this problem in none of its maps; the sentence lists those that do.
  static CompiledMaps make(const reduction::Any& reducer, Dtype in, Dtype out, const Geometry& geometry,
                           const ArrayStrides& strides, const PlanOptions& options = {});
  /// For the maps by given indices, whose strides are those of `out`; arrays of values or tangents have the strides of
  /// the tangents.
  static CompiledMaps make_for_indices(Dtype dtype, const Geometry& geometry, const ArrayStrides& strides);

  explicit operator bool() const { return plan_ != nullptr; }
  bool has(MapKind map) const;
  MapSummary summary(MapKind map) const;
  std::string_view implementation(MapKind map) const;
  std::vector<std::string_view> implementations(MapKind map) const;
  std::size_t scratch_bytes() const;

  /// True if the numbers of all taps of a window fit an index of this type.
  bool fits(Dtype index) const;
  /// True if every index names a cell, as the maps by indices need it, or none.
  bool check_indices(const void* indices, Dtype index) const;

  // False if `progress` cancelled the run. Only maps that it has may be run.
  bool forward(const void* x, void* y, const ProgressCallback& progress) const;
  bool forward_with_indices(const void* x, void* y, void* indices, Dtype index, const ProgressCallback& progress) const;
  bool jvp(const void* x, const void* dx, void* dy, const ProgressCallback& progress) const;
  bool vjp(const void* x, const void* gy, void* gx, const ProgressCallback& progress) const;
  bool jvp_from_indices(const void* indices, Dtype index, const void* dx, void* dy,
                        const ProgressCallback& progress) const;
  bool vjp_from_indices(const void* indices, Dtype index, const void* gy, void* gx,
                        const ProgressCallback& progress) const;
  bool unpool(const void* values, const void* indices, void* cells, const ProgressCallback& progress) const;
  bool unpool_vjp(const void* cells, const void* indices, void* values, const ProgressCallback& progress) const;

 private:
  explicit CompiledMaps(std::shared_ptr<const KernelPlan> plan) : plan_(std::move(plan)) {}

  std::shared_ptr<const KernelPlan> plan_;
};

}  // namespace detail

}  // namespace ndpool
