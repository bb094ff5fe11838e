// Smooth max whose beta is a node: it has a derivative, so that it can be trained.
#pragma once

#include <ndpool/graph/node.hpp>
#include <ndpool/graph/reducer_pooling.hpp>
#include <ndpool/graph/tree_sum.hpp>

namespace ndpool::graph {

/// Inputs are x and beta, a single number. Runs by the reference: a plan would have to be made anew for each beta.
template <class T>
class TrainedBetaPooling final : public Operation<T> {
  using Number = spec::Accumulator<T>;
  using Reducer = spec::SmoothMax<T>;

 public:
  /// `what` names the node in the error of a run that finds beta 0, infinite or NaN. Throws if a window is empty.
  TrainedBetaPooling(const Geometry& geometry, PadMode pad_mode, Empty empty, std::string what)
      : geometry_(geometry),
        options_{1, pad_mode, empty},
        what_(std::move(what)),
        in_(geometry.input_shape()),
        out_(geometry.output_shape()) {
    require(spec::core::check_value(geometry_, Reducer{options_}));
  }

  const char* kind() const override { return "smooth_max_pool"; }
  /// y = f(x).
  void forward(const Arrays<T>& a) const override { pool(reducer(a), a.x[0], a.y); }
  void jvp(const Arrays<T>& a, std::span<const T* const> dx, T* dy) const override {
    const Reducer used = reducer(a);
    if (dx[0] != nullptr)
      spec::core::jvp(geometry_, used, View<const T>(a.x[0], in_), View<const T>(dx[0], in_), View<T>(dy, out_));
    else
      fill(dy, element_count(out_), T(0));
    if (dx[1] == nullptr) return;
    pool(spec::SmoothMaxBeta<T>{used}, a.x[0], a.scratch);
    for (Index i = 0; i < element_count(out_); ++i)
      dy[i] = spec::narrow<T>(Number(static_cast<Number>(dy[i]) + product(a.scratch[i], *dx[1])));
  }
  void vjp(const Arrays<T>& a, const T* gy, int slot, T* gx) const override {
    const Reducer used = reducer(a);
    if (slot == 0) return reducer_vjp(geometry_, used, a.x[0], gy, gx);
    pool(spec::SmoothMaxBeta<T>{used}, a.x[0], a.scratch);
    *gx = spec::narrow<T>(
        tree_sum(element_count(out_), Number(0), [&](Index i) { return product(a.scratch[i], gy[i]); }));
  }
  bool reads_input(int, int) const override { return true; }
  /// Elements of scratch that a map needs.
  Index scratch_elements() const override { return element_count(out_); }

 private:
  static Number product(const T& a, const T& b) { return Number(static_cast<Number>(a) * static_cast<Number>(b)); }

  template <class Any>
  void pool(const Any& reducer, const T* x, T* y) const {
    spec::core::forward(geometry_, reducer, View<const T>(x, in_), View<T>(y, out_), [](const auto&, const auto&) {});
  }
  Reducer reducer(const Arrays<T>& a) const {
    Reducer made{options_};
    made.options.beta = *a.x[1];
    if (const Fault fault = made.fault()) throw Error(fault, what_ + ": " + message(fault));
    return made;
  }

  Geometry geometry_;
  typename Reducer::Options options_;
  std::string what_;
  Shape in_, out_;
};

}  // namespace ndpool::graph
