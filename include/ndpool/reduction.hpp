// The built-in reducers as values: what a pool holds beside its windows.
#pragma once

#include <ndpool/detail/compiled_maps.hpp>
#include <ndpool/reducer.hpp>
#include <ndpool/spec/run.hpp>

#include <limits>
#include <variant>

namespace ndpool {

/// The built-in reducers and their options, before the scalar type is known. `with<T>(f)` calls f with the reference of
/// the reducer for T (spec/), or throws `ndpool::Error` if T lacks what the reducer needs. Plain values, copied without
/// allocation.
namespace reduction {

/// Max, min or Lp of a scalar without an order.
inline constexpr Fault no_order{Code::no_order, Argument::x, -1, {}};
/// Smooth max or Lp of a scalar without exp, log and pow.
inline constexpr Fault no_transcendentals{Code::no_transcendentals, Argument::x, -1, {}};
/// Why T has no smooth max and no Lp: a missing order is named first.
template <class T>
inline constexpr Fault not_analytic = spec::Ordered<T> ? no_transcendentals : no_order;

/// The largest tap.
struct Max {
  ExtremeOptions options = {};  ///< ties, NaN, empty windows
  /// Calls f with the reference of this reducer for T.
  template <class T, class F>
  void with(F f) const {
    if constexpr (spec::Ordered<T> || spec::Joined<T>)
      f(spec::Max<T>{{options}});
    else
      raise(no_order);
  }
};

/// The smallest tap.
struct Min {
  ExtremeOptions options = {};  ///< ties, NaN, empty windows
  /// Calls f with the reference of this reducer for T.
  template <class T, class F>
  void with(F f) const {
    if constexpr (spec::Ordered<T> || spec::Joined<T>)
      f(spec::Min<T>{{options}});
    else
      raise(no_order);
  }
};

/// The sum of the taps.
struct Sum {
  /// Calls f with the reference of this reducer for T.
  template <class T, class F>
  void with(F f) const {
    f(spec::Sum<T>{});
  }
};

/// The sum of the taps over their number, or over a given divisor.
struct Average {
  AverageOptions options = {};  ///< divisor, rounding, empty windows
  /// Calls f with the reference of this reducer for T.
  template <class T, class F>
  void with(F f) const {
    f(spec::Average<T>{{}, options});
  }
};

/// log(sum exp(beta x)) / beta.
struct SmoothMax {
  SmoothMaxOptions options = {};  ///< beta, padding, empty windows
  /// Calls f with the reference of this reducer for T.
  template <class T, class F>
  void with(F f) const {
    if constexpr (spec::AnalyticField<spec::Accumulator<T>>) {
      const spec::SmoothMax<T> reducer{options};
      if (Fault fault = reducer.fault()) {
        fault.real = options.beta;  // as it was given: 1e39 is finite, but not as a float
        raise(fault);
      }
      f(reducer);
    } else {
      raise(not_analytic<T>);
    }
  }
};

/// The p-norm of the taps; for p = infinity the largest magnitude.
struct Lp {
  double p = 2;            ///< greater than 0
  LpOptions options = {};  ///< ties for p = infinity, empty windows
  /// Calls f with the reference of this reducer for T.
  template <class T, class F>
  void with(F f) const {
    if constexpr (spec::AnalyticField<spec::Accumulator<T>>) {
      if (p == std::numeric_limits<double>::infinity())
        f(spec::LargestMagnitude<T>{{{{.ties = options.ties, .empty = options.empty}}}});
      else
        f(spec::Lp<T>{p, options});
    } else {
      raise(not_analytic<T>);
    }
  }
};

}  // namespace reduction

}  // namespace ndpool
