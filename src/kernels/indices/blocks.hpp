// Blocks: up to 1024 outputs of a tile that follow one another row-major, over as many dimensions as fit. What an
// output adds to an offset is a sum over dimensions, so one table serves all blocks of a tile that are alike.
#pragma once

#include "kernels/indices/layout.hpp"
#include "kernels/indices/loops.hpp"

namespace ndpool::indices {

/// A number that every output has: the sum over dimensions of a coefficient times something of its position there.
struct Measure {
  enum class By : unsigned char { position, start, bin_length };
  By of_pooled = By::position;  ///< planes and lanes count by position
  Index coefficient[max_dims];

  By by(const Dim& dim) const { return dim.is_pooled ? of_pooled : By::position; }
  /// True if the number grows by the same from each position to the next.
  bool is_linear(const Dim& dim, int d) const {
    const By what = by(dim);
    return coefficient[d] == 0 || what == By::position || (what == By::start && !dim.window.adaptive);
  }
};

/// Steps through the positions of one dimension without dividing at each.
class PositionWalk {
 public:
  PositionWalk(const Dim& dim, Measure::By by, Index position);
  Index value() const {
    switch (by_) {
      case Measure::By::position: return position_;
      case Measure::By::start: return start_;
      case Measure::By::bin_length: return bin_length();
    }
    return 0;
  }
  void next();

 private:
  Index bin_length() const;

  const Axis& axis_;
  const Measure::By by_;
  Index position_, start_ = 0;
  Index step_ = 0, rest_step_ = 0, rest_ = 0, bins_ = 1;  ///< of bins: start = floor((position * cells + phase) / bins)
};

class BlockWalk {
 public:
  BlockWalk(const Layout& layout, const Box& box, bool backwards = false);

  /// To the first block, then to the next. False behind the last.
  bool next();
  /// Outputs of the block.
  Index count() const { return chunk_count_ * inner_; }

  /// The measure of the first output of the block.
  Index first(const Measure& measure) const;

  /// A table of the measures of all outputs, less that of the first. Blocks that are alike share it.
  template <class T>
  struct Table {
    T* entries;
    Index chunk = -1, count = 0;  ///< that it was made for

    const T* of(const BlockWalk& walk, const Measure& measure) {
      const bool moves_alike = chunk == walk.chunk_first_ || walk.chunk_count_ == 1 ||
                               measure.is_linear(walk.layout_.dim(walk.chunk_dim_), walk.chunk_dim_);
      if (count < walk.chunk_count_ || !moves_alike) {
        walk.fill(measure, entries);
        chunk = walk.chunk_first_;
        count = walk.chunk_count_;
      }
      return entries;
    }
  };

  /// True if elements with these strides follow one another in every block.
  bool is_packed(const Measure& strides) const;

  // Where the block is: one position of the dimensions before `chunk_dim`, some of `chunk_dim`, all of the box behind.
  int chunk_dim() const { return chunk_dim_; }
  Range positions(int d) const {
    if (d < chunk_dim_) return {position_[d], position_[d] + 1};
    if (d == chunk_dim_) return {chunk_first_, chunk_first_ + chunk_count_};
    return box_.outputs[d];
  }

 private:
  template <class T>
  void fill(const Measure& measure, T* table) const;
  void place_chunk(Index number);

  const Layout& layout_;
  const Box& box_;
  const bool backwards_;
  int chunk_dim_;
  Index inner_ = 1;               ///< outputs of one position of `chunk_dim`
  Index chunk_ = 1, chunks_ = 1;  ///< positions in a block, and blocks
  Index number_ = -1;
  Index chunk_first_ = 0, chunk_count_ = 0;
  Index position_[max_dims];
};

}  // namespace ndpool::indices
