// Operations that end in a single number: sum, mean, and the losses.
#pragma once

#include <ndpool/graph/elementwise.hpp>
#include <ndpool/graph/node.hpp>

namespace ndpool::graph {

/// The sum of all numbers, or their mean.
template <class T>
class Total final : public Operation<T> {
 public:
  Total(Index count, bool is_mean)
      : count_(count), is_mean_(is_mean), divisor_(is_mean ? spec::from_count<T>(count) : T(1)) {}
  const char* kind() const override { return is_mean_ ? "mean" : "sum"; }
  void forward(const Arrays<T>& a) const override { *a.y = total(a.x[0]); }
  void jvp(const Arrays<T>&, std::span<const T* const> dx, T* dy) const override { *dy = total(dx[0]); }
  void vjp(const Arrays<T>&, const T* gy, int, T* gx) const override { fill(gx, count_, T(*gy / divisor_)); }
  bool reads_input(int, int) const override { return false; }

 private:
  T total(const T* x) const {
    T sum(0);
    for (Index i = 0; i < count_; ++i) sum += x[i];
    return T(sum / divisor_);
  }
  Index count_;
  bool is_mean_;
  T divisor_;
};

/// The mean of (a - b)^2.
template <class T>
class MeanSquaredError final : public Operation<T> {
 public:
  explicit MeanSquaredError(Index count) : count_(count), divisor_(spec::from_count<T>(count)) {}
  const char* kind() const override { return "mean_squared_error"; }
  void forward(const Arrays<T>& a) const override {
    T sum(0);
    for (Index i = 0; i < count_; ++i) {
      const T difference(a.x[0][i] - a.x[1][i]);
      sum += difference * difference;
    }
    *a.y = T(sum / divisor_);
  }
  void jvp(const Arrays<T>& a, std::span<const T* const> dx, T* dy) const override {
    T sum(0);
    for (int slot = 0; slot < 2; ++slot)
      if (dx[slot] != nullptr)
        for (Index i = 0; i < count_; ++i) sum += slope(a, slot, i) * dx[slot][i];
    *dy = sum;
  }
  void vjp(const Arrays<T>& a, const T* gy, int slot, T* gx) const override {
    for (Index i = 0; i < count_; ++i) gx[i] = slope(a, slot, i) * *gy;
  }
  bool reads_input(int, int) const override { return true; }

 private:
  T slope(const Arrays<T>& a, int slot, Index i) const {
    return T(T(2) * (a.x[slot][i] - a.x[1 - slot][i]) / divisor_);
  }
  Index count_;
  T divisor_;
};

/// The mean, over all rows of logits, of -log softmax(row)[label]. Labels are class numbers, one per row.
template <class T>
class SoftmaxCrossEntropy final : public Operation<T> {
 public:
  SoftmaxCrossEntropy(Index rows, Index classes)
      : rows_(rows), classes_(classes), divisor_(spec::from_count<T>(rows)) {}
  const char* kind() const override { return "softmax_cross_entropy"; }
  void forward(const Arrays<T>& a) const override {
    T sum(0);
    for (Index r = 0; r < rows_; ++r) {
      const Row row(*this, a, r);
      sum += spec::transcendental::log_of(row.sum) - (row.logits[row.label] - row.largest);
    }
    *a.y = T(sum / divisor_);
  }
  void jvp(const Arrays<T>& a, std::span<const T* const> dx, T* dy) const override {
    T sum(0);
    for (Index r = 0; r < rows_; ++r) {
      const Row row(*this, a, r);
      for (Index c = 0; c < classes_; ++c) sum += row.slope(c) * dx[0][r * classes_ + c];
    }
    *dy = T(sum / divisor_);
  }
  void vjp(const Arrays<T>& a, const T* gy, int, T* gx) const override {
    const T share(*gy / divisor_);
    for (Index r = 0; r < rows_; ++r) {
      const Row row(*this, a, r);
      for (Index c = 0; c < classes_; ++c) gx[r * classes_ + c] = row.slope(c) * share;
    }
  }
  bool reads_input(int, int) const override { return true; }

 private:
  /// One row of logits with what its softmax needs; the largest logit is taken off, so that nothing overflows.
  struct Row {
    Row(const SoftmaxCrossEntropy& op, const Arrays<T>& a, Index r)
        : logits(a.x[0] + r * op.classes_), label(op.label_of(a.x[1][r], r)), largest(logits[0]), sum(0) {
      for (Index c = 1; c < op.classes_; ++c)
        if (largest < logits[c]) largest = logits[c];
      for (Index c = 0; c < op.classes_; ++c) sum += power(c);
    }
    T power(Index c) const { return spec::transcendental::exp_of(T(logits[c] - largest)); }
    T slope(Index c) const { return T(power(c) / sum - (c == label ? T(1) : T(0))); }
    const T* logits;
    Index label;
    T largest, sum;
  };

  /// The class that a label names. It is found by comparing, so that any scalar can be a label and a fraction is none.
  Index label_of(const T& value, Index row) const {
    for (Index c = 0; c < classes_; ++c)
      if (value == spec::from_count<T>(c)) return c;
    fail(Code::index_out_of_range, "softmax_cross_entropy: the label of row " + std::to_string(row) +
                                       " is not a whole number from 0 to " + std::to_string(classes_ - 1));
  }
  Index rows_, classes_;
  T divisor_;
};

}  // namespace ndpool::graph
