// Operations with weights: dense layers, and convolutions as products of matrices.
#pragma once

#include <ndpool/graph/elementwise.hpp>
#include <ndpool/graph/product.hpp>
#include <ndpool/spec/walk.hpp>

#include <vector>

namespace ndpool::graph {

/// y = x W^T + b for every row of x; W has one row per output. The bias may be missing.
template <class T>
class Dense final : public Operation<T> {
 public:
  /// For `rows` rows of `inputs` numbers.
  Dense(Index rows, Index inputs, Index outputs) : rows_(rows), inputs_(inputs), outputs_(outputs) {}
  const char* kind() const override { return "dense"; }
  /// y = f(x).
  void forward(const Arrays<T>& a) const override {
    put_bias(a.x.size() > 2 ? a.x[2] : nullptr, a.y);
    multiply(x(a.x[0]), transposed_weights(a.x[1]), a.y, true);
  }
  void jvp(const Arrays<T>& a, std::span<const T* const> dx, T* dy) const override {
    put_bias(dx.size() > 2 ? dx[2] : nullptr, dy);
    if (dx[0] != nullptr) multiply(x(dx[0]), transposed_weights(a.x[1]), dy, true);
    if (dx[1] != nullptr) multiply(x(a.x[0]), transposed_weights(dx[1]), dy, true);
  }
  void vjp(const Arrays<T>& a, const T* gy, int slot, T* gx) const override {
    if (slot == 0) return multiply(Matrix<T>{gy, rows_, outputs_}, Matrix<T>{a.x[1], outputs_, inputs_}, gx, false);
    if (slot == 1) return multiply(Matrix<T>{gy, rows_, outputs_, true}, x(a.x[0]), gx, false);
    sum_columns(gy, rows_, outputs_, gx);
  }
  bool reads_input(int slot, int by) const override { return slot + by == 1; }

 private:
  Matrix<T> x(const T* data) const { return {data, rows_, inputs_}; }
  Matrix<T> transposed_weights(const T* data) const { return {data, outputs_, inputs_, true}; }
  void put_bias(const T* bias, T* y) const {
    for (Index r = 0; r < rows_; ++r)
      if (bias != nullptr)
        copy(bias, outputs_, y + r * outputs_);
      else
        fill(y + r * outputs_, outputs_, T(0));
  }
  Index rows_, inputs_, outputs_;
};

/// For every sample, y = W columns + b, where row (channel, tap) and column (output) of `columns` is the cell under
/// that tap of that output, or 0 on padding. Any number of spatial axes: the geometry has told which cell that is.
template <class T>
class Convolution final : public Operation<T> {
 public:
  /// For samples of these sizes.
  Convolution(Index samples, Index channels, Index outputs, const Geometry& geometry)
      : samples_(samples),
        channels_(channels),
        outputs_(outputs),
        taps_(geometry.tap_count()),
        cells_(geometry.cell_count()),
        positions_(element_count(geometry.output_shape())) {
    std::vector<Index> cell_of(static_cast<std::size_t>(taps_ * positions_), -1);
    Index position = 0;
    spec::for_each_position(geometry.output_shape(), [&](const Shape& output) {
      spec::for_each_tap(spec::WindowAt<max_rank>(geometry, output), [&](const auto& tap) {
        cell_of[static_cast<std::size_t>(tap.number * positions_ + position)] =
            geometry.flat_from_tap(output, tap.number);
      });
      ++position;
    });
    for (std::size_t entry = 0; entry < cell_of.size(); ++entry) {
      if (cell_of[entry] < 0) continue;
      if (entry > 0 && cell_of[entry - 1] >= 0 && cell_of[entry] == cell_of[entry - 1] + 1)
        ++stretches_.back().length;
      else
        stretches_.push_back({static_cast<Index>(entry), cell_of[entry], 1});
    }
  }
  const char* kind() const override { return "convolution"; }
  /// Elements of scratch that a map needs.
  Index scratch_elements() const override { return depth() * positions_; }

  /// y = f(x).
  void forward(const Arrays<T>& a) const override {
    put_bias(a.x.size() > 2 ? a.x[2] : nullptr, a.y);
    add_products(a.x[1], a.x[0], a.scratch, a.y);
  }
  void jvp(const Arrays<T>& a, std::span<const T* const> dx, T* dy) const override {
    put_bias(dx.size() > 2 ? dx[2] : nullptr, dy);
    if (dx[0] != nullptr) add_products(a.x[1], dx[0], a.scratch, dy);
    if (dx[1] != nullptr) add_products(dx[1], a.x[0], a.scratch, dy);
  }
  void vjp(const Arrays<T>& a, const T* gy, int slot, T* gx) const override {
    if (slot == 0) return vjp_by_input(a.x[1], gy, a.scratch, gx);
    if (slot == 2) return vjp_by_bias(gy, gx);
    fill(gx, outputs_ * depth(), T(0));
    fill(a.scratch, scratch_elements(), T(0));
    for (Index s = 0; s < samples_; ++s) {
      gather(a.x[0] + s * channels_ * cells_, a.scratch);
      multiply(Matrix<T>{gy + s * outputs_ * positions_, outputs_, positions_},
               Matrix<T>{a.scratch, depth(), positions_, true}, gx, true);
    }
  }
  bool reads_input(int slot, int by) const override { return slot + by == 1; }

 private:
  Index depth() const { return channels_ * taps_; }

  void put_bias(const T* bias, T* y) const {
    for (Index i = 0; i < samples_ * outputs_; ++i)
      fill(y + i * positions_, positions_, bias != nullptr ? bias[i % outputs_] : T(0));
  }
  void add_products(const T* weights, const T* x, T* columns, T* y) const {
    fill(columns, scratch_elements(), T(0));
    for (Index s = 0; s < samples_; ++s) {
      gather(x + s * channels_ * cells_, columns);
      multiply(Matrix<T>{weights, outputs_, depth()}, Matrix<T>{columns, depth(), positions_},
               y + s * outputs_ * positions_, true);
    }
  }
  void vjp_by_input(const T* weights, const T* gy, T* columns, T* gx) const {
    fill(gx, samples_ * channels_ * cells_, T(0));
    for (Index s = 0; s < samples_; ++s) {
      multiply(Matrix<T>{weights, outputs_, depth(), true},
               Matrix<T>{gy + s * outputs_ * positions_, outputs_, positions_}, columns, false);
      scatter(columns, gx + s * channels_ * cells_);
    }
  }
  void vjp_by_bias(const T* gy, T* gx) const {
    using Number = spec::Accumulator<T>;
    for (Index o = 0; o < outputs_; ++o)
      gx[o] = spec::narrow<T>(tree_sum(samples_, Number(0), [&](Index s) {
        const T* map = gy + (s * outputs_ + o) * positions_;
        return tree_sum(positions_, Number(0), [&](Index p) { return static_cast<Number>(map[p]); });
      }));
  }
  /// Writes all of the columns but the padding, which has been zero since the first sample.
  void gather(const T* sample, T* columns) const {
    for (Index c = 0; c < channels_; ++c)
      for (const Stretch& stretch : stretches_)
        copy(sample + c * cells_ + stretch.cell, stretch.length, columns + c * taps_ * positions_ + stretch.entry);
  }
  void scatter(const T* columns, T* sample) const {
    for (Index c = 0; c < channels_; ++c)
      for (const Stretch& stretch : stretches_)
        add_to(columns + c * taps_ * positions_ + stretch.entry, stretch.length, sample + c * cells_ + stretch.cell);
  }

  /// Entries of the columns of one channel that stand side by side, as the cells do that they read.
  struct Stretch {
    Index entry, cell, length;
  };

  Index samples_, channels_, outputs_, taps_, cells_, positions_;
  std::vector<Stretch> stretches_;
};

}  // namespace ndpool::graph
