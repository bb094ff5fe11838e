// Pools of any reducer, such as one of the user's own: by the reference, which needs no more than the reducer itself.
#pragma once

#include <ndpool/graph/operation.hpp>
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

template <class T, class Reducer>
class ReducerPooling final : public Operation<T> {
 public:
  /// Throws what is wrong with the reducer on this geometry.
  ReducerPooling(const Geometry& geometry, const Reducer& reducer)
      : geometry_(geometry), reducer_(reducer), in_(geometry.input_shape()), out_(geometry.output_shape()) {
    require(spec::core::check_value(geometry_, reducer_));
  }

  const char* kind() const override { return "pool"; }
  void forward(const Arrays<T>& a) const override {
    spec::core::forward(geometry_, reducer_, x(a), View<T>(a.y, out_), [](const auto&, const auto&) {});
  }
  void jvp(const Arrays<T>& a, std::span<const T* const> dx, T* dy) const override {
    spec::core::jvp(geometry_, reducer_, x(a), View<const T>(dx[0], in_), View<T>(dy, out_));
  }
  void vjp(const Arrays<T>& a, const T* gy, int, T* gx) const override {
    spec::vjp(geometry_, reducer_, x(a), View<const T>(gy, out_), View<T>(gx, in_));
  }
  bool reads_input(int, int) const override { return true; }

 private:
  View<const T> x(const Arrays<T>& a) const { return {a.x[0], in_}; }

  Geometry geometry_;
  Reducer reducer_;
  Shape in_, out_;
};

}  // namespace ndpool::graph
