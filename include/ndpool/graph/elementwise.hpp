// Operations that work number by number: sums, products, and functions of one number.
#pragma once

#include <ndpool/graph/operation.hpp>
#include <ndpool/spec/scalar.hpp>

namespace ndpool::graph {

template <class T>
void fill(T* to, Index count, const T& value) {
  for (Index i = 0; i < count; ++i) to[i] = value;
}

template <class T>
void copy(const T* from, Index count, T* to) {
  for (Index i = 0; i < count; ++i) to[i] = from[i];
}

template <class T>
void add_to(const T* from, Index count, T* to) {
  for (Index i = 0; i < count; ++i) to[i] = T(to[i] + from[i]);
}

/// a + b, number by number.
template <class T>
class Add final : public Operation<T> {
 public:
  /// a + b, number by number.
  explicit Add(Index count) : count_(count) {}
  const char* kind() const override { return "add"; }
  /// y = f(x).
  void forward(const Arrays<T>& a) const override {
    for (Index i = 0; i < count_; ++i) a.y[i] = a.x[0][i] + a.x[1][i];
  }
  void jvp(const Arrays<T>&, std::span<const T* const> dx, T* dy) const override {
    copy(dx[0] != nullptr ? dx[0] : dx[1], count_, dy);
    if (dx[0] != nullptr && dx[1] != nullptr) add_to(dx[1], count_, dy);
  }
  void vjp(const Arrays<T>&, const T* gy, int, T* gx) const override { copy(gy, count_, gx); }
  bool reads_input(int, int) const override { return false; }

 private:
  Index count_;
};

/// a * b, number by number.
template <class T>
class Multiply final : public Operation<T> {
 public:
  /// a * b, number by number.
  explicit Multiply(Index count) : count_(count) {}
  const char* kind() const override { return "multiply"; }
  /// y = f(x).
  void forward(const Arrays<T>& a) const override { product(a.x[0], a.x[1], a.y); }
  void jvp(const Arrays<T>& a, std::span<const T* const> dx, T* dy) const override {
    fill(dy, count_, T(0));
    for (int slot = 0; slot < 2; ++slot)
      if (dx[slot] != nullptr)
        for (Index i = 0; i < count_; ++i) dy[i] = T(dy[i] + dx[slot][i] * a.x[1 - slot][i]);
  }
  void vjp(const Arrays<T>& a, const T* gy, int slot, T* gx) const override { product(gy, a.x[1 - slot], gx); }
  bool reads_input(int slot, int by) const override { return slot != by; }

 private:
  void product(const T* a, const T* b, T* y) const {
    for (Index i = 0; i < count_; ++i) y[i] = a[i] * b[i];
  }
  Index count_;
};

/// The same numbers in another shape.
template <class T>
class Reshape final : public Operation<T> {
 public:
  /// For arrays of `count` numbers.
  explicit Reshape(Index count) : count_(count) {}
  const char* kind() const override { return "reshape"; }
  /// y = f(x).
  void forward(const Arrays<T>& a) const override { copy(a.x[0], count_, a.y); }
  void jvp(const Arrays<T>&, std::span<const T* const> dx, T* dy) const override { copy(dx[0], count_, dy); }
  void vjp(const Arrays<T>&, const T* gy, int, T* gx) const override { copy(gy, count_, gx); }
  bool reads_input(int, int) const override { return false; }

 private:
  Index count_;
};

/// What the slope of a function is made of.
enum class Slope { of_argument, of_value, constant };

/// A function of each number. `F` has a name, a value, and a slope made of the argument and the value; it says which of
/// the two the slope reads, so that the other need not be kept.
template <class T, class F>
class Map final : public Operation<T> {
 public:
  /// For arrays of `count` numbers.
  Map(Index count, F f) : count_(count), f_(f) {}
  const char* kind() const override { return F::name; }
  /// y = f(x).
  void forward(const Arrays<T>& a) const override {
    for (Index i = 0; i < count_; ++i) a.y[i] = f_.value(a.x[0][i]);
  }
  void jvp(const Arrays<T>& a, std::span<const T* const> dx, T* dy) const override { times_slope(a, dx[0], dy); }
  void vjp(const Arrays<T>& a, const T* gy, int, T* gx) const override { times_slope(a, gy, gx); }
  bool reads_input(int, int) const override { return F::slope_of == Slope::of_argument; }
  bool reads_output() const override { return F::slope_of == Slope::of_value; }

 private:
  void times_slope(const Arrays<T>& a, const T* from, T* to) const {
    const T* at = F::slope_of == Slope::of_argument ? a.x[0] : F::slope_of == Slope::of_value ? a.y : from;
    for (Index i = 0; i < count_; ++i) to[i] = f_.times_slope(at[i], from[i]);
  }
  Index count_;
  F f_;
};

/// factor * x.
template <class T>
struct Scale {
  /// The word by which summaries know it.
  static constexpr const char* name = "scale";
  /// Which value the derivative reads.
  static constexpr Slope slope_of = Slope::constant;
  /// What numbers are multiplied by.
  T factor;
  /// The result for one number.
  T value(const T& x) const { return T(factor * x); }
  /// `from` times the derivative.
  T times_slope(const T&, const T& from) const { return T(factor * from); }
};

/// max(x, 0); the derivative at 0 is 0.
template <class T>
struct Relu {
  /// The word by which summaries know it.
  static constexpr const char* name = "relu";
  /// Which value the derivative reads.
  static constexpr Slope slope_of = Slope::of_value;
  // A NaN is not below zero, so it stays visible.
  /// The result for one number.
  T value(const T& x) const { return x < T(0) ? T(0) : x; }
  /// `from` times the derivative.
  T times_slope(const T& y, const T& from) const {
    const T passed(from);  // read whether it passes or not, so that compilers can choose between vectors
    return T(0) < y ? passed : T(0);
  }
};

/// exp x.
template <class T>
struct Exp {
  /// The word by which summaries know it.
  static constexpr const char* name = "exp";
  /// Which value the derivative reads.
  static constexpr Slope slope_of = Slope::of_value;
  /// The result for one number.
  T value(const T& x) const { return spec::transcendental::exp_of(x); }
  /// `from` times the derivative.
  T times_slope(const T& y, const T& from) const { return T(y * from); }
};

/// log x.
template <class T>
struct Log {
  /// The word by which summaries know it.
  static constexpr const char* name = "log";
  /// Which value the derivative reads.
  static constexpr Slope slope_of = Slope::of_argument;
  /// The result for one number.
  T value(const T& x) const { return spec::transcendental::log_of(x); }
  /// `from` times the derivative.
  T times_slope(const T& x, const T& from) const { return T(from / x); }
};

}  // namespace ndpool::graph
