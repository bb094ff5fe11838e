// Small planes side by side. A plane of 8 x 8 keeps kernels busier with its ends than with its cells; many planes,
// turned so that the same cell of each lies side by side, are pooled as lanes, several times as fast.
#pragma once

#include <ndpool/graph/pooling.hpp>

#include <memory>

namespace ndpool::graph {

/// The pool of a batch of planes, block by block of `lanes` planes; `block` pools an array whose last axis has that
/// many.
template <class T>
class PackedPooling final : public Operation<T> {
 public:
  /// For `blocks` blocks of `lanes` planes.
  PackedPooling(const Pool& block, const Shape& lengths, Index lanes, Index blocks)
      : lanes_(lanes),
        blocks_(blocks),
        cells_(element_count(lengths)),
        outputs_(element_count(block.output_shape(with(lengths, lanes))) / lanes),
        block_(block, with(lengths, lanes)) {}

  const char* kind() const override { return block_.kind(); }
  /// y = f(x).
  void forward(const Arrays<T>& a) const override {
    for (Index b = 0; b < blocks_; ++b) {
      const Block block(*this, a, b);
      pack(a.x[0] + b * lanes_ * cells_, cells_, block.in);
      block_.forward(block.arrays());
      unpack(block.out, outputs_, a.y + b * lanes_ * outputs_);
    }
  }
  void jvp(const Arrays<T>& a, std::span<const T* const> dx, T* dy) const override {
    for (Index b = 0; b < blocks_; ++b) {
      const Block block(*this, a, b);
      if (block_.reads_input(0, 0)) pack(a.x[0] + b * lanes_ * cells_, cells_, block.in);
      pack(dx[0] + b * lanes_ * cells_, cells_, block.tangent);
      const T* tangent = block.tangent;
      block_.jvp(block.arrays(), {&tangent, 1}, block.out);
      unpack(block.out, outputs_, dy + b * lanes_ * outputs_);
    }
  }
  void vjp(const Arrays<T>& a, const T* gy, int slot, T* gx) const override {
    for (Index b = 0; b < blocks_; ++b) {
      const Block block(*this, a, b);
      if (block_.reads_input(0, 0)) pack(a.x[0] + b * lanes_ * cells_, cells_, block.in);
      pack(gy + b * lanes_ * outputs_, outputs_, block.out);
      block_.vjp(block.arrays(), block.out, slot, block.tangent);
      unpack(block.tangent, cells_, gx + b * lanes_ * cells_);
    }
  }
  bool reads_input(int slot, int by) const override { return block_.reads_input(slot, by); }
  /// Bytes that the forward map leaves to the derivatives.
  Index kept_bytes() const override { return blocks_ * block_.kept_bytes(); }
  /// Elements of scratch that a map needs.
  Index scratch_elements() const override { return lanes_ * (2 * cells_ + outputs_); }
  bool needs_rehearsal() const override { return block_.needs_rehearsal(); }

 private:
  /// The arrays of one block: in the scratch, and its part of what is kept.
  struct Block {
    Block(const PackedPooling& op, const Arrays<T>& a, Index number)
        : in(a.scratch),
          tangent(in + op.lanes_ * op.cells_),
          out(tangent + op.lanes_ * op.cells_),
          x(in),
          kept(a.kept == nullptr ? nullptr : a.kept + number * op.block_.kept_bytes()) {}
    Arrays<T> arrays() const { return {{&x, 1}, out, kept, nullptr}; }
    T *in, *tangent, *out;
    const T* x;
    std::byte* kept;
  };

  static Shape with(Shape lengths, Index lanes) {
    lengths.push_back(lanes);
    return lengths;
  }
  void pack(const T* planes, Index count, T* lanes) const {
    for (Index cell = 0; cell < count; ++cell)
      for (Index lane = 0; lane < lanes_; ++lane) lanes[cell * lanes_ + lane] = planes[lane * count + cell];
  }
  void unpack(const T* lanes, Index count, T* planes) const {
    for (Index lane = 0; lane < lanes_; ++lane)
      for (Index cell = 0; cell < count; ++cell) planes[lane * count + cell] = lanes[cell * lanes_ + lane];
  }

  Index lanes_, blocks_, cells_, outputs_;
  Pooling<T> block_;
};

/// How many planes to pool side by side: the largest divisor of their number up to 256; 0 where packing does not pay.
inline Index packed_lanes(const Shape& shape, int pooled) {
  constexpr Index long_row = 16, fewest = 16, most = 256;
  if (pooled < 1 || pooled >= shape.size() || shape[shape.size() - 1] > long_row) return 0;
  const Index planes = element_count(Shape(shape.begin(), shape.size() - pooled));
  for (Index lanes = detail::smaller(planes, most); lanes >= fewest; --lanes)
    if (planes % lanes == 0) return lanes;
  return 0;
}

/// The operation for a pool of arrays of `shape`.
template <class T>
std::shared_ptr<const Operation<T>> make_pooling(const Pool& pool, const Shape& shape) {
  const auto* window = std::get_if<Window>(&pool.description());
  const bool has_kernels = is_built_in<T> && pool.uses_kernels();
  if (window != nullptr && window->axes.empty() && has_kernels && element_count(shape) > 0) {
    const int pooled = window->kernel.size(), first = shape.size() - pooled;
    if (const Index lanes = packed_lanes(shape, pooled); lanes > 0) {
      Window turned = *window;
      for (int a = 0; a < pooled; ++a) turned.axes.push_back(a);
      const Index planes = element_count(Shape(shape.begin(), first));
      return std::make_shared<const PackedPooling<T>>(Pool(turned, pool.reduction()),
                                                      Shape(shape.begin() + first, pooled), lanes, planes / lanes);
    }
  }
  return std::make_shared<const Pooling<T>>(pool, shape);
}

}  // namespace ndpool::graph
