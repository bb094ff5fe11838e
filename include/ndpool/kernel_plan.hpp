// A pool prepared for one shape and set of strides, with the implementation of every map chosen.
#pragma once

#include <ndpool/kernels.hpp>

#include <memory>

namespace ndpool {

struct Rows;
struct PackedPlanes;
class GeneralPlan;
enum class WinnerUse : unsigned char;
enum class IndexUse : unsigned char;

/// A pool prepared for one shape and set of strides. Immutable, so threads may share it; running it allocates nothing
/// once a thread has the scratch it keeps.
class KernelPlan {
 public:
  using ArrayStrides = ndpool::ArrayStrides;

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
  std::unique_ptr<const GeneralPlan> general_;  ///< null where another implementation makes the values
  bool has_rows_ = true;  ///< the row kernels can run it
  Index values_tile_ = 0;                       ///< rows of a tile, and scratch, of values
  std::size_t values_bytes_ = 0;
};

}  // namespace ndpool
