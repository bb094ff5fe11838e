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
