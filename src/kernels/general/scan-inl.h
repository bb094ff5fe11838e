// Per-target code: the first extreme of large windows of neighbouring cells, in two passes over the cells of each: the
// largest key, then the first cell that has it. Nothing is lifted, so that a cell is read twice and never written.
#if defined(NDPOOL_GENERAL_SCAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_GENERAL_SCAN_INL_H_
#undef NDPOOL_GENERAL_SCAN_INL_H_
#else
#define NDPOOL_GENERAL_SCAN_INL_H_
#endif

#include "kernels/general/positions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace general {

/// A row of a window: where it begins in the box, and the position of the cell there.
struct ScanRow {
  Index offset, position;
};

template <class E>
class WindowScan {
 public:
  using Bits = typename E::Stored;
  using Work = typename E::Work;

  explicit WindowScan(const Finish& finish) : rule_(finish), zero_key_(rule_.is_float ? key_of(Bits{0}) : Bits{0}) {}

  /// The extreme of `count` rows of `n` cells each, at least one, whose columns are `column_step` positions apart.
  Work operator()(const Bits* from, const ScanRow* rows, Index count, Index n, Index column_step) {
    const Bits key = dispatch(n, [&](auto d) NDPOOL_ALWAYS_INLINE { return largest(d, from, rows, count, n); });
    saw_zero_ |= rule_.is_float && key == zero_key_;
    const Index at = dispatch(n, [&](auto d) NDPOOL_ALWAYS_INLINE { return find(d, from, rows, n, key); });
    return E::pack(key, E::inverted(rows[at / n].position + at % n * column_step));
  }
  /// True if an extreme was a zero, whose sign keys do not have.
  bool saw_zero() const { return saw_zero_; }

 private:
  NDPOOL_ALWAYS_INLINE Bits key_of(Bits bits) const {
    return rule_.is_float ? Keys<Bits>::of_float(bits, rule_.flip, rule_.infinity, rule_.nan_key)
                          : Keys<Bits>::of_integer(bits, rule_.flip);
  }
  struct OneByOne {};
#if HWY_TARGET == HWY_SCALAR
  template <class Use>
  static auto dispatch(Index, const Use& use) {
    return use(OneByOne());
  }
#else
  /// Whole vectors, those of 16 bytes, or cell by cell.
  template <class Use>
  static HWY_INLINE auto dispatch(Index n, const Use& use) {
    const hn::ScalableTag<Bits> whole;
    const hn::CappedTag<Bits, 16 / sizeof(Bits)> short_one;
    if (n >= static_cast<Index>(hn::Lanes(whole))) return use(whole);
    if (n >= static_cast<Index>(hn::Lanes(short_one))) return use(short_one);
    return use(OneByOne());
  }
  template <class D>
  HWY_NOINLINE Bits largest(D d, const Bits* from, const ScanRow* rows, Index count, Index n) const {
    const KeyRule<Bits> rule = rule_;
    constexpr Index lanes = static_cast<Index>(hn::MaxLanes(d));
    auto zeros = hn::Zero(d), best = hn::Zero(d), other = best;
    for (Index r = 0; r < count; ++r) {
      const Bits* const row = from + rows[r].offset;
      const auto keys = [&](Index i) NDPOOL_ALWAYS_INLINE { return keys_of(d, hn::LoadU(d, row + i), rule, zeros); };
      Index i = 0;
      for (; i + 2 * lanes <= n; i += 2 * lanes) {
        best = hn::Max(best, keys(i));
        other = hn::Max(other, keys(i + lanes));
      }
      if (i + lanes <= n) best = hn::Max(best, keys(i));
      if (n % lanes != 0) other = hn::Max(other, keys(n - lanes));
    }
    alignas(64) Bits all[lanes];
    hn::Store(hn::Max(best, other), d, all);
    return *std::max_element(all, all + lanes);
  }
  template <class D>
  HWY_NOINLINE Index find(D d, const Bits* from, const ScanRow* rows, Index n, Bits key) const {
    const KeyRule<Bits> rule = rule_;
    constexpr Index lanes = static_cast<Index>(hn::MaxLanes(d));
    const auto wanted = hn::Set(d, key);
    auto zeros = hn::Zero(d);
    for (Index r = 0;; ++r) {
      const Bits* const row = from + rows[r].offset;
      for (Index i = 0; i < n; i += lanes) {
        const Index at = std::min(i, n - lanes);
        const auto is_it = hn::Eq(keys_of(d, hn::LoadU(d, row + at), rule, zeros), wanted);
        const Index first = static_cast<Index>(hn::FindFirstTrue(d, is_it));
        if (first >= 0) return r * n + at + first;
      }
    }
  }
#endif
  Bits largest(OneByOne, const Bits* from, const ScanRow* rows, Index count, Index n) const {
    Bits best = 0;
    for (Index r = 0; r < count; ++r)
      for (Index i = 0; i < n; ++i) best = std::max(best, key_of(from[rows[r].offset + i]));
    return best;
  }
  Index find(OneByOne, const Bits* from, const ScanRow* rows, Index n, Bits key) const {
    for (Index r = 0;; ++r)
      for (Index i = 0; i < n; ++i)
        if (key_of(from[rows[r].offset + i]) == key) return r * n + i;
  }

  const KeyRule<Bits> rule_;
  const Bits zero_key_;
  bool saw_zero_ = false;
};

}  // namespace general
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_GENERAL_SCAN_INL_H_
