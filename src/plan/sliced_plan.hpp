// A map that runs slice by slice, each small enough for the second-level cache: smooth max and Lp, derivatives by ties,
// and pools whose result has another type than the input.
#pragma once

#include "kernels/analytic/slice.hpp"
#include "kernels/mixed/convert.hpp"
#include "kernels/ties/slice.hpp"
#include "plan/implementations.hpp"

namespace ndpool {

class SlicedPlan {
 public:
  /// Null if the slices would need more than 2 GB of scratch, or if the general engine does not serve one of them.
  static std::unique_ptr<const SlicedPlan> make(ScalarKind kind, const KernelChoice& choice, const Rows& rows,
                                                analytic::SliceMap map);
  /// Derivatives of max and min with ties `all` or `split`.
  static std::unique_ptr<const SlicedPlan> make_ties(ScalarKind kind, const KernelChoice& choice, const Rows& rows,
                                                     analytic::SliceMap map);
  /// Values of max, min, sum or average of scalars `kind` as scalars `result`: numbers of the input are folded where
  /// `folds_input`, and then converted; else they are converted first.
  static std::unique_ptr<const SlicedPlan> make_mixed(ScalarKind kind, ScalarKind result, mixed::WorkKind work,
                                                      bool folds_input, const KernelChoice& choice, const Rows& rows);

  /// False if `watch` stopped it.
  bool run(const MapArrays& arrays, const ProgressCallback& watch) const;

  /// Of each thread. Slices whose powers leave the range of plain numbers need some 10 times as much, which threads
  /// that meet one keep as well.
  std::size_t scratch_bytes() const { return box_bytes_ + engine_bytes_; }
  Index slice_count() const { return slice_count_; }

 private:
  friend class SlicedPlanMaker;

  /// A part of one axis: cells that are read, outputs that are made or read, and cells whose gradients are written.
  struct Piece {
    Range cells, outputs, owned;
    Index kind = 0;  ///< pieces of one kind differ in their place only
  };
  /// One axis of the arrays, in canonical order.
  struct Cut {
    Index count = 1;  ///< of pieces
    Index kinds = 1;
    Index extent = 1, chunk = 1;  ///< of axes that are only looped over
    std::vector<Piece> pieces;    ///< of axes that are pooled
    Strides stride;
    Piece piece(Index number) const;
  };

  /// A slice of one kind, and where it lies in the arrays.
  struct Place {
    const analytic::Slice* slice;
    Strides at;
    Index owned = 0;  ///< offset of the gradients that are written
  };
  Place place_of(Index number) const;
  void run_slice(Index number, const MapArrays& arrays, char* scratch, analytic::SliceState& state) const;
  analytic::SliceKernel kernel() const;
  void convert_slice(Index number, const MapArrays& arrays, char* scratch) const;

  KernelChoice choice_;
  analytic::SliceMap map_ = analytic::SliceMap::forward;
  analytic::SliceTypes types_ = analytic::SliceTypes::floats;
  ScalarKind kind_ = ScalarKind::none, result_ = ScalarKind::none;
  enum class Use : unsigned char { analytic, ties, mixed };
  Use use_ = Use::analytic;
  mixed::WorkKind work_ = mixed::WorkKind::f32;
  bool folds_input_ = false;
  std::vector<Cut> cuts_;
  std::vector<std::unique_ptr<const analytic::Slice>> slices_;  ///< one of each kind
  Index slice_count_ = 1;
  std::size_t box_bytes_ = 0, engine_bytes_ = 0;
};

}  // namespace ndpool
