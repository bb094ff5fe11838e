// Pools of any reducer, such as one of the user's own: by the reference, which needs no more than the reducer itself.
#pragma once

#include <ndpool/graph/elementwise.hpp>
#include <ndpool/pool.hpp>

namespace ndpool::graph {

/// What `spec/core.hpp` asks of a reducer, for the scalar T.
template <class Reducer, class T>
concept ReducerOf = std::same_as<typename Reducer::Scalar, T> && requires {
  typename Reducer::Summary;
};

/// The reducer with its standard ties: global pools give their derivative to every extreme unless told otherwise.
template <class Description, class Reducer>
Reducer with_standard_ties(Reducer reducer) {
  if constexpr (std::same_as<Description, Global> && requires {
                  reducer.options.ties;
                  reducer.winner({});
                })
    if (reducer.options.ties == Ties::standard) reducer.options.ties = Ties::all;
  return reducer;
}

/// gx = (derivative of R at x)^T gy. Allocates only for scalars that are summed in another type.
template <class T, class Reducer>
void reducer_vjp(const Geometry& geometry, const Reducer& reducer, const T* x, const T* gy, T* gx) {
  const Shape in = geometry.input_shape(), out = geometry.output_shape();
  if constexpr (std::same_as<spec::Accumulator<T>, T>) {
    fill(gx, element_count(in), T(0));
    spec::core::add_vjp(geometry, reducer, View<const T>(x, in), View<const T>(gy, out), View<T>(gx, in));
  } else {
    spec::vjp(geometry, reducer, View<const T>(x, in), View<const T>(gy, out), View<T>(gx, in));
  }
}

/// The node of a reducer of the caller's own, run by the reference.
template <class T, class Reducer>
class ReducerPooling final : public Operation<T> {
 public:
  /// Throws what is wrong with the reducer on this geometry.
  ReducerPooling(const char* kind, const Geometry& geometry, const Reducer& reducer)
      : kind_(kind),
        geometry_(geometry),
        reducer_(reducer),
        in_(geometry.input_shape()),
        out_(geometry.output_shape()) {
    require(spec::core::check_value(geometry_, reducer_));
  }

  const char* kind() const override { return kind_; }
  /// y = f(x).
  void forward(const Arrays<T>& a) const override {
    spec::core::forward(geometry_, reducer_, x(a), View<T>(a.y, out_), [](const auto&, const auto&) {});
  }
  void jvp(const Arrays<T>& a, std::span<const T* const> dx, T* dy) const override {
    spec::core::jvp(geometry_, reducer_, x(a), View<const T>(dx[0], in_), View<T>(dy, out_));
  }
  void vjp(const Arrays<T>& a, const T* gy, int, T* gx) const override {
    reducer_vjp(geometry_, reducer_, a.x[0], gy, gx);
  }
  bool reads_input(int, int) const override { return true; }

 private:
  View<const T> x(const Arrays<T>& a) const { return {a.x[0], in_}; }

  const char* kind_;
  Geometry geometry_;
  Reducer reducer_;
  Shape in_, out_;
};

}  // namespace ndpool::graph
