// Per-target code: what windows that share no cell give to their taps. No include guard of the usual kind: see
// rows-inl.h.
#if defined(NDPOOL_SHARES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_SHARES_INL_H_
#undef NDPOOL_SHARES_INL_H_
#else
#define NDPOOL_SHARES_INL_H_
#endif

#include "kernels/forward/divisors.hpp"
#include "kernels/forward/planes-inl.h"
#include "kernels/vjp/separate.hpp"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
/// A vector of elements, or one whose upper half is that of elements from `upper` on.
template <bool in_halves, class D, class E>
HWY_INLINE hn::Vec<D> load_halves(D d, const E* from, [[maybe_unused]] Index upper) {
  if constexpr (in_halves) {
    const hn::Half<D> half;
    return hn::Combine(d, hn::LoadU(half, from + upper), hn::LoadU(half, from));
  } else {
    return hn::LoadU(d, from);
  }
}
#endif

/// Gradients that go to the tap that an output names: by tap numbers, or by flat indices that were all found to name a
/// cell of the plane.
template <class T, class I>
class IndexShares {
  using Name = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

 public:
  static constexpr bool is_flat = std::is_signed_v<I>;

  IndexShares(const Rows& rows, const T* gy, const I* names)
      : gy_(gy), names_(names), step_(is_flat && rows.inner.extent == 1 ? rows.horizontal.window.stride : 0) {
    if (rows.vertical_count > 0) {
      const PooledAxis& last = rows.vertical[rows.vertical_count - 1];
      row_step_ = {.out = last.stride.out, .tangent_out = last.stride.tangent_out};
      cell_step_ = last.window.stride * last.cell_stride;
    }
    Index offsets[most_separate_taps];
    const TapOffsets taps(rows, offsets,
                          [](const PooledAxis& axis) { return is_flat ? axis.cell_stride : axis.tap_stride; });
    for (Index tap = 0; tap < rows.tap_count; ++tap) tap_names_[tap] = static_cast<Name>(taps[tap]);
  }

  /// To a row whose first window begins at a flat index.
  void to_row(const RowCursor& cursor, Index first_cell) {
    row_gy_ = gy_ + cursor.offset().tangent_out;
    row_names_ = names_ + cursor.offset().out;
    first_cell_ = first_cell;
  }
  void next_row() {
    row_gy_ += row_step_.tangent_out;
    row_names_ += row_step_.out;
    first_cell_ += cell_step_;
  }

#if HWY_TARGET != HWY_SCALAR
  /// Some outputs, from an element of the row on; `cell` is where the window of the first begins in the row. Those in
  /// the upper half of the vector may be others than the next: so many elements behind the first.
  template <class D, bool in_halves = false>
  class Vector {
   public:
    using Names = hn::Vec<hn::RebindToSigned<D>>;
    HWY_INLINE Vector(D d, const IndexShares& shares, Index element, Index cell, Index upper = 0)
        // Gradients are added to 0, so that a negative zero is +0 on every path.
        : gy_(hn::Add(hn::Zero(d), load_halves<in_halves>(d, shares.row_gy_ + element, upper))),
          name_(load(shares.row_names_ + element, upper)),
          left_(hn::Zero(d)),
          tap_names_(shares.tap_names_) {
      if constexpr (is_flat) {
        const hn::RebindToSigned<D> wide;
        left_ = hn::VecFromMask(d, hn::RebindMask(d, hn::Gt(name_, hn::Set(wide, Name(-1)))));
        auto elements = hn::Iota(wide, 0);
        if constexpr (in_halves) {
          const hn::Half<decltype(wide)> half;
          elements = hn::Combine(wide, hn::Iota(half, static_cast<Name>(upper)), hn::Iota(half, 0));
        }
        const auto steps = hn::Mul(elements, hn::Set(wide, static_cast<Name>(shares.step_)));
        name_ = hn::Sub(name_, hn::Add(hn::Set(wide, static_cast<Name>(shares.first_cell_ + cell)), steps));
      }
    }

    HWY_INLINE hn::Vec<D> of_tap(Index tap) {
      const hn::RebindToSigned<D> wide;
      const auto is_named = hn::RebindMask(D(), hn::Eq(name_, hn::Set(wide, tap_names_[tap])));
      if constexpr (is_flat) left_ = hn::AndNot(hn::VecFromMask(D(), is_named), left_);
      return hn::IfThenElseZero(is_named, gy_);
    }
    /// After all taps: outputs that named none of them, but a cell of another window.
    HWY_INLINE hn::Vec<D> strays() const { return left_; }

   private:
    static HWY_INLINE Names load(const I* from, Index upper) {
      const hn::RebindToSigned<D> wide;
      if constexpr (!is_flat && sizeof(T) == 8) {
        const hn::Rebind<std::int32_t, D> middle;
        return hn::PromoteTo(wide, hn::PromoteTo(middle, hn::LoadU(hn::Rebind<I, D>(), from)));
      } else if constexpr (!is_flat) {
        return hn::PromoteTo(wide, load_halves<in_halves>(hn::Rebind<I, D>(), from, upper));
      } else if constexpr (sizeof(T) == 8) {
        return hn::LoadU(wide, from);
      } else {
        // The lower halves are enough: planes that come here have fewer cells.
        const auto* halves = reinterpret_cast<const std::int32_t*>(from);
        const auto behind = in_halves ? 2 * upper : static_cast<Index>(hn::Lanes(wide));
        return hn::ConcatEven(wide, hn::LoadU(wide, halves + behind), hn::LoadU(wide, halves));
      }
    }

    hn::Vec<D> gy_;
    Names name_;
    hn::Vec<D> left_;
    const Name* tap_names_;
  };
#endif

  /// The same for one output.
  class One {
   public:
    One(const IndexShares& shares, Index element, Index cell)
        : gy_(T(0) + shares.row_gy_[element]),
          name_(static_cast<Index>(shares.row_names_[element])),
          is_left_(is_flat && name_ >= 0),
          tap_names_(shares.tap_names_) {
      if (is_flat) name_ -= shares.first_cell_ + cell;
    }
    T of_tap(Index tap) {
      if (name_ != tap_names_[tap]) return T(0);
      is_left_ = false;
      return gy_;
    }
    bool strays() const { return is_left_; }

   private:
    T gy_;
    Index name_;
    bool is_left_;
    const Name* tap_names_;
  };

 private:
  const T* gy_;
  const I* names_;
  const Index step_;  ///< between the windows of neighbouring elements, in flat indices
  Strides row_step_;
  Index cell_step_ = 0;
  const T* row_gy_ = nullptr;
  const I* row_names_ = nullptr;
  Index first_cell_ = 0;
  Name tap_names_[most_separate_taps];  ///< of taps, relative to the first of a window
};

/// Gradients of sums and averages: every tap gets the same.
template <class T>
class EqualShares {
 public:
  EqualShares(const Rows& rows, const T* gy, T divisor)
      : gy_(gy), divisor_(divisor), factor_(has_exact_reciprocal(divisor) ? T(1) / divisor : T(0)) {
    if (rows.vertical_count > 0) row_step_ = rows.vertical[rows.vertical_count - 1].stride.tangent_out;
  }

  void to_row(const RowCursor& cursor, Index) { row_gy_ = gy_ + cursor.offset().tangent_out; }
  void next_row() { row_gy_ += row_step_; }

#if HWY_TARGET != HWY_SCALAR
  template <class D, bool in_halves = false>
  class Vector {
   public:
    HWY_INLINE Vector(D d, const EqualShares& shares, Index element, Index, Index upper = 0)
        : share_(load_halves<in_halves>(d, shares.row_gy_ + element, upper)) {
      if (shares.factor_ != 0)
        share_ = hn::Mul(share_, hn::Set(d, shares.factor_));
      else
        share_ = hn::Div(share_, hn::Set(d, shares.divisor_));
    }
    HWY_INLINE hn::Vec<D> of_tap(Index) const { return share_; }
    HWY_INLINE hn::Vec<D> strays() const { return hn::Zero(D()); }

   private:
    hn::Vec<D> share_;
  };
#endif
  class One {
   public:
    One(const EqualShares& shares, Index element, Index) : share_(shares.row_gy_[element] / shares.divisor_) {}
    T of_tap(Index) const { return share_; }
    bool strays() const { return false; }

   private:
    T share_;
  };

 private:
  const T* gy_;
  const T divisor_, factor_;  ///< a factor other than 0 does what the divisor does
  Index row_step_ = 0;
  const T* row_gy_ = nullptr;
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_SHARES_INL_H_
