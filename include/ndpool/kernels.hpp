// The door to the compiled kernels: which scalars and combines have them, and how a plan runs on them.
#pragma once

#include <ndpool/geometry.hpp>
#include <ndpool/half.hpp>
#include <ndpool/reducer.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace ndpool {

/// Every scalar that has kernels: floats, which have derivatives, and integers. One row here feeds declaration,
/// dispatch, tests and benchmarks.
#define NDPOOL_FLOATS(ROW) \
  ROW(f32, float)          \
  ROW(f64, double)         \
  ROW(f16, ndpool::f16)    \
  ROW(bf16, ndpool::bf16)
#define NDPOOL_KERNEL_INTEGERS(ROW) \
  ROW(i8, std::int8_t)              \
  ROW(u8, std::uint8_t)             \
  ROW(i16, std::int16_t)            \
  ROW(u16, std::uint16_t)           \
  ROW(i32, std::int32_t)            \
  ROW(i64, std::int64_t)
#define NDPOOL_SCALARS(ROW) \
  NDPOOL_FLOATS(ROW)        \
  NDPOOL_KERNEL_INTEGERS(ROW)

enum class ScalarKind : unsigned char {
#define NDPOOL_ROW(name, type) kind_##name,
  NDPOOL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
      none,
};
inline constexpr int scalar_kinds = static_cast<int>(ScalarKind::none);

template <class T>
constexpr ScalarKind kind_of() {
#define NDPOOL_ROW(name, type) \
  if constexpr (std::is_same_v<T, type>) return ScalarKind::kind_##name;
  NDPOOL_SCALARS(NDPOOL_ROW)
#undef NDPOOL_ROW
  return ScalarKind::none;
}

/// How taps are combined. An average is a sum with a divisor. The last two are sums of powers, which the kernels make
/// in a way of their own.
enum class Combine : unsigned char { max, min, sum, smooth_max, lp, none };
inline constexpr int combine_kinds = static_cast<int>(Combine::sum) + 1;
constexpr bool is_analytic(Combine combine) { return combine == Combine::smooth_max || combine == Combine::lp; }

/// How winners are named: by tap numbers of 1, 2 or 4 bytes, or by flat indices.
enum class IndexKind : unsigned char { u8, u16, u32, flat };

template <class I>
constexpr IndexKind index_kind() {
  if constexpr (std::is_signed_v<I>) return IndexKind::flat;
  return sizeof(I) == 1 ? IndexKind::u8 : sizeof(I) == 2 ? IndexKind::u16 : IndexKind::u32;
}

/// What a kernel has to know of a reducer.
struct KernelChoice {
  Combine combine = Combine::none;
  Ties ties = Ties::standard;
  Nan nan = Nan::propagate;
  bool averages = false;
  AverageOptions average = {};
  double parameter = 0;  ///< beta of smooth max, p of Lp
  PadMode pad_mode = PadMode::zero;
};

/// Watches a run: called between tiles with the share that is done, from 0 to 1, on the calling thread or on one that
/// helps it, never by two at a time. Answering false stops the run: it is not called again, and the rest of the output
/// is not written. Throwing does the same, and the exception reaches the caller of the map once every thread has
/// stopped. It must not pool arrays itself. A run by the spec asks once in some thousand taps.
struct Watch {
  bool (*keep_going)(void* context, double done) = nullptr;
  void* context = nullptr;
};

struct Rows;
struct PackedPlanes;
enum class WinnerUse : unsigned char;
enum class IndexUse : unsigned char;

/// A pool prepared for one shape and set of strides. Immutable, so threads may share it; running it allocates nothing
/// once a thread has the scratch it keeps.
class KernelPlan {
 public:
  /// Strides, in elements, of the arrays a plan is for: `in` and `tangent_in` have the shape of the input, the others
  /// that of the output.
  struct ArrayStrides {
    const Shape& in;
    const Shape& out;
    const Shape& tangent_in;
    const Shape& tangent_out;
  };

  /// Null if there is no kernel for this: the spec then has the answer.
  static std::shared_ptr<const KernelPlan> make(ScalarKind kind, const KernelChoice& choice, const Geometry& geometry,
                                                const ArrayStrides& strides);

  /// Reads `in`, writes `out`. False if `watch` stopped it; so in all maps.
  bool forward(const void* in, void* out, const Watch& watch = {}) const;

  /// True if the tap numbers of a window fit an index of this kind.
  bool fits(IndexKind kind) const;

  /// True if the plan has winners: max and min whose tap numbers fit the scalar's size.
  bool has_winners() const;
  /// Also writes the winners, with the strides of tangent_out. Needs winners.
  bool forward_with_indices(const void* in, void* out, void* indices, IndexKind kind, const Watch& watch = {}) const;

  /// True if the plan has derivatives: floats, for max and min winners or other ties, and in Lp a finite p.
  bool has_derivatives() const;
  bool jvp(const void* in, const void* tangent_in, void* tangent_out, const Watch& watch = {}) const;
  bool vjp(const void* in, const void* tangent_out, void* tangent_in, const Watch& watch = {}) const;

  /// A plan for maps by indices, whose strides are those of `out`; the arrays of values or tangents have the strides of
  /// the tangents. It needs no scratch that grows with the rows, so it exists for nearly every geometry.
  static std::shared_ptr<const KernelPlan> make_for_indices(ScalarKind kind, const Geometry& geometry,
                                                            const ArrayStrides& strides);
  /// True if every index names a cell, as the maps below need it, or none.
  bool check_indices(const void* indices, IndexKind kind) const;
  bool jvp_from_indices(const void* indices, IndexKind kind, const void* tangent_in, void* tangent_out,
                        const Watch& watch = {}) const;
  bool vjp_from_indices(const void* indices, IndexKind kind, const void* tangent_out, void* tangent_in,
                        const Watch& watch = {}) const;
  /// Max unpooling: `cells`, of input shape, gets the last value that flat indices name for each, or 0; and its VJP.
  bool place(const void* indices, const void* values, void* cells, const Watch& watch = {}) const;
  bool place_vjp(const void* indices, const void* cells, void* values, const Watch& watch = {}) const;

  /// Scratch that each thread keeps for this plan.
  std::size_t scratch_bytes() const;

  KernelPlan(const KernelPlan&) = delete;
  KernelPlan& operator=(const KernelPlan&) = delete;
  ~KernelPlan();

 private:
  KernelPlan(ScalarKind kind, const KernelChoice& choice, std::unique_ptr<const Rows> rows);
  bool run_winners(WinnerUse use, IndexKind kind, const void* in, void* out, void* tangent_in, void* tangent_out,
                   const Watch& watch) const;
  bool run_indices(IndexUse use, IndexKind kind, const void* indices, void* like_in, void* like_out,
                   const Watch& watch) const;
  bool run_analytic(WinnerUse use, const void* in, void* tangent_in, void* tangent_out, const Watch& watch) const;

  ScalarKind kind_;
  KernelChoice choice_;
  std::unique_ptr<const Rows> rows_;
  std::unique_ptr<const PackedPlanes> packed_;  ///< null where planes are pooled one by one
  Index values_tile_ = 0;                       ///< rows of a tile, and scratch, of values
  std::size_t values_bytes_ = 0;
};

/// Names of the instruction sets this machine can run kernels for, best first. The environment variable
/// NDPOOL_FORCE_TARGET, or `force_target`, chooses one of them; by default the best is used.
std::vector<std::string> targets();

/// The instruction set in use.
std::string target();

/// Uses the kernels of one instruction set from now on; an empty name means the best. Throws if `name` is not one of
/// targets(). Meant for tests and measurements.
void force_target(const std::string& name);

}  // namespace ndpool
