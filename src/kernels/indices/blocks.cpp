#include "kernels/indices/blocks.hpp"

#include <algorithm>
#include <type_traits>

namespace ndpool::indices {

PositionWalk::PositionWalk(const Dim& dim, Measure::By by, Index position)
    : axis_(dim.window), by_(by), position_(position) {
  if (by == Measure::By::position) return;
  if (axis_.adaptive) {
    const BinPattern bin = axis_.bins();
    const detail::Quotient at = detail::multiply_divide(position, bin.cells, bin.bins);
    const Index carry = detail::floor_divide(at.rest + bin.phase, bin.bins);
    start_ = at.floor + carry;
    rest_ = at.rest + bin.phase - carry * bin.bins;
    step_ = bin.cells / bin.bins;
    rest_step_ = bin.cells % bin.bins;
    bins_ = bin.bins;
  } else {
    start_ = axis_.start(position);
    step_ = axis_.stride;
  }
}

void PositionWalk::next() {
  ++position_;
  start_ += step_;
  if (rest_step_ == 0) return;
  if (rest_ >= bins_ - rest_step_) {
    rest_ -= bins_ - rest_step_;
    ++start_;
  } else {
    rest_ += rest_step_;
  }
}

Index PositionWalk::bin_length() const {
  PositionWalk behind = *this;
  behind.next();
  return behind.start_ + (behind.rest_ > 0 ? 1 : 0) - start_;
}

BlockWalk::BlockWalk(const Layout& layout, const Box& box, bool backwards)
    : layout_(layout), box_(box), backwards_(backwards), chunk_dim_(layout.count - 1) {
  const auto extent = [&](int d) { return box.outputs[d].end - box.outputs[d].begin; };
  chunks_ = 0;
  for (int d = 0; d < layout.count; ++d)
    if (extent(d) == 0) return;  // no window reaches the cells
  while (chunk_dim_ > 0 && inner_ * extent(chunk_dim_) <= max_block) inner_ *= extent(chunk_dim_--);
  const Index positions = extent(chunk_dim_), most = std::max<Index>(1, max_block / inner_);
  chunks_ = (positions + most - 1) / most;
  chunk_ = (positions + chunks_ - 1) / chunks_;  // all about as long
  chunks_ = (positions + chunk_ - 1) / chunk_;
  for (int d = 0; d < chunk_dim_; ++d) position_[d] = backwards ? box.outputs[d].end - 1 : box.outputs[d].begin;
}

void BlockWalk::place_chunk(Index number) {
  const Range& all = box_.outputs[chunk_dim_];
  number_ = number;
  chunk_first_ = all.begin + (backwards_ ? chunks_ - 1 - number : number) * chunk_;
  chunk_count_ = std::min(chunk_, all.end - chunk_first_);
}

bool BlockWalk::next() {
  if (chunks_ == 0) return false;
  if (number_ + 1 < chunks_) {
    place_chunk(number_ + 1);
    return true;
  }
  int d = chunk_dim_ - 1;
  for (; d >= 0; --d) {
    const Range& all = box_.outputs[d];
    position_[d] += backwards_ ? -1 : 1;
    if (backwards_ ? position_[d] >= all.begin : position_[d] < all.end) break;
    position_[d] = backwards_ ? all.end - 1 : all.begin;
  }
  if (d < 0) return false;
  place_chunk(0);
  return true;
}

Index BlockWalk::first(const Measure& measure) const {
  Index sum = 0;
  for (int d = 0; d < layout_.count; ++d) {
    if (measure.coefficient[d] == 0) continue;
    const Dim& dim = layout_.dim(d);
    sum += measure.coefficient[d] * PositionWalk(dim, measure.by(dim), positions(d).begin).value();
  }
  return sum;
}

namespace {

/// to[k] = from[k] + more; `to` is behind all of `from`.
template <class T, class U>
void add_to(const T* __restrict from, Index count, U more, T* __restrict to) {
  for (Index k = 0; k < count; ++k) to[k] = static_cast<T>(static_cast<U>(from[k]) + more);
}
/// The first `known` entries again and again, each time `step` larger.
template <class T, class U>
void repeat(T* table, Index known, Index count, U step) {
  if (known == 1)
    for (Index i = 1; i < count; ++i) table[i] = static_cast<T>(static_cast<U>(i) * step);
  else
    for (Index i = 1; i < count; ++i) add_to(table, known, static_cast<U>(i) * step, table + i * known);
}

}  // namespace

template <class T>
void BlockWalk::fill(const Measure& measure, T* table) const {
  using U = std::make_unsigned_t<T>;
  Index known = 1;
  table[0] = 0;
  for (int d = layout_.count - 1; d >= chunk_dim_; --d) {
    const Dim& dim = layout_.dim(d);
    const Range range = positions(d);
    const Index count = range.end - range.begin;
    if (count == 1) continue;
    if (measure.is_linear(dim, d)) {
      const Index step = measure.by(dim) == Measure::By::position ? 1 : dim.window.stride;
      repeat(table, known, count, static_cast<U>(measure.coefficient[d] * step));
    } else {
      PositionWalk walk(dim, measure.by(dim), range.begin);
      const Index first = walk.value();
      for (Index i = 1; i < count; ++i) {
        walk.next();
        add_to(table, known, static_cast<U>(measure.coefficient[d] * (walk.value() - first)), table + i * known);
      }
    }
    known *= count;
  }
}
template void BlockWalk::fill(const Measure& measure, std::int32_t* table) const;
template void BlockWalk::fill(const Measure& measure, std::int64_t* table) const;

bool BlockWalk::is_packed(const Measure& strides) const {
  Index size = 1;
  for (int d = layout_.count - 1; d >= chunk_dim_; --d) {
    const Index extent = d == chunk_dim_ ? chunk_ : box_.outputs[d].end - box_.outputs[d].begin;
    if (extent == 1) continue;
    if (strides.coefficient[d] != size) return false;
    size *= extent;
  }
  return true;
}

}  // namespace ndpool::indices
