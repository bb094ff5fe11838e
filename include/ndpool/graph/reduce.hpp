// Operations that end in a single number: sum, mean, and the losses. They add by the tree of the spec, in its sum type.
#pragma once

#include <ndpool/graph/elementwise.hpp>
#include <ndpool/graph/node.hpp>
#include <ndpool/graph/tree_sum.hpp>

namespace ndpool::graph {

/// The sum of all numbers, or their mean.
template <class T>
class Total final : public Operation<T> {
  using Number = spec::Accumulator<T>;

 public:
  /// The sum of `count` numbers, or their mean.
  Total(Index count, bool is_mean)
      : count_(count), is_mean_(is_mean), divisor_(is_mean ? spec::from_count<Number>(count) : Number(1)) {}
  const char* kind() const override { return is_mean_ ? "mean" : "sum"; }
  /// y = f(x).
  void forward(const Arrays<T>& a) const override { *a.y = total(a.x[0]); }
  void jvp(const Arrays<T>&, std::span<const T* const> dx, T* dy) const override { *dy = total(dx[0]); }
  void vjp(const Arrays<T>&, const T* gy, int, T* gx) const override {
    fill(gx, count_, spec::narrow<T>(Number(static_cast<Number>(*gy) / divisor_)));
  }
  bool reads_input(int, int) const override { return false; }

 private:
  T total(const T* x) const {
    const Number sum = tree_sum(count_, Number(0), [&](Index i) { return static_cast<Number>(x[i]); });
    return spec::narrow<T>(Number(sum / divisor_));
  }
  Index count_;
  bool is_mean_;
  Number divisor_;
};

/// The mean of (a - b)^2.
template <class T>
class MeanSquaredError final : public Operation<T> {
  using Number = spec::Accumulator<T>;

 public:
  /// For arrays of `count` numbers.
  explicit MeanSquaredError(Index count) : count_(count), divisor_(spec::from_count<Number>(count)) {}
  const char* kind() const override { return "mean_squared_error"; }
  /// y = f(x).
  void forward(const Arrays<T>& a) const override {
    const Number sum = tree_sum(count_, Number(0), [&](Index i) {
      const Number difference = this->difference(a, 0, i);
      return Number(difference * difference);
    });
    *a.y = spec::narrow<T>(Number(sum / divisor_));
  }
  void jvp(const Arrays<T>& a, std::span<const T* const> dx, T* dy) const override {
    Number sum(0);
    for (int slot = 0; slot < 2; ++slot)
      if (dx[slot] != nullptr)
        sum = sum + tree_sum(count_, Number(0),
                             [&](Index i) { return Number(slope(a, slot, i) * static_cast<Number>(dx[slot][i])); });
    *dy = spec::narrow<T>(sum);
  }
  void vjp(const Arrays<T>& a, const T* gy, int slot, T* gx) const override {
    for (Index i = 0; i < count_; ++i) gx[i] = spec::narrow<T>(Number(slope(a, slot, i) * static_cast<Number>(*gy)));
  }
  bool reads_input(int, int) const override { return true; }

 private:
  static Number difference(const Arrays<T>& a, int slot, Index i) {
    return Number(static_cast<Number>(a.x[slot][i]) - static_cast<Number>(a.x[1 - slot][i]));
  }
  Number slope(const Arrays<T>& a, int slot, Index i) const {
    return Number(Number(2) * difference(a, slot, i) / divisor_);
  }
  Index count_;
  Number divisor_;
};

/// The mean, over all rows of logits, of -log softmax(row)[label]. Labels are class numbers, one per row.
template <class T>
class SoftmaxCrossEntropy final : public Operation<T> {
  using Number = spec::Accumulator<T>;

 public:
  /// For `rows` rows of `classes` logits.
  SoftmaxCrossEntropy(Index rows, Index classes)
      : rows_(rows), classes_(classes), divisor_(spec::from_count<Number>(rows)) {}
  const char* kind() const override { return "softmax_cross_entropy"; }
  /// y = f(x).
  void forward(const Arrays<T>& a) const override {
    const Number sum = tree_sum(rows_, Number(0), [&](Index r) {
      const Row row(*this, a, r);
      return Number(spec::transcendental::log_of(row.sum) - row.below_largest(row.label));
    });
    *a.y = spec::narrow<T>(Number(sum / divisor_));
  }
  void jvp(const Arrays<T>& a, std::span<const T* const> dx, T* dy) const override {
    const Number sum = tree_sum(rows_, Number(0), [&](Index r) {
      const Row row(*this, a, r);
      return tree_sum(classes_, Number(0),
                      [&](Index c) { return Number(row.slope(c) * static_cast<Number>(dx[0][r * classes_ + c])); });
    });
    *dy = spec::narrow<T>(Number(sum / divisor_));
  }
  void vjp(const Arrays<T>& a, const T* gy, int, T* gx) const override {
    const Number share(static_cast<Number>(*gy) / divisor_);
    for (Index r = 0; r < rows_; ++r) {
      const Row row(*this, a, r);
      for (Index c = 0; c < classes_; ++c) gx[r * classes_ + c] = spec::narrow<T>(Number(row.slope(c) * share));
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
      sum = tree_sum(op.classes_, Number(0), [&](Index c) { return power(c); });
    }
    Number below_largest(Index c) const {
      return Number(static_cast<Number>(logits[c]) - static_cast<Number>(largest));
    }
    Number power(Index c) const { return spec::transcendental::exp_of(below_largest(c)); }
    Number slope(Index c) const { return Number(power(c) / sum - (c == label ? Number(1) : Number(0))); }
    const T* logits;
    Index label;
    T largest;
    Number sum;
  };

  /// The class that a label names. It is found by comparing, so that any scalar can be a label and a fraction is none.
  Index label_of(const T& value, Index row) const {
    for (Index c = 0; c < classes_; ++c)
      if (value == spec::from_count<T>(c)) return c;
    fail(Code::index_out_of_range, "softmax_cross_entropy: the label of row " + std::to_string(row) +
                                       " is not a whole number from 0 to " + std::to_string(classes_ - 1));
  }
  Index rows_, classes_;
  Number divisor_;
};

}  // namespace ndpool::graph
