// Functions that make pools: `max_pool(window, options)`, one for each reducer and geometry.
#pragma once

#include <ndpool/pool.hpp>

namespace ndpool {

/// Makes pools of one reducer over one kind of geometry: `max_pool(window, options)`. The options may be left out.
template <class Description, class Reduction>
struct PoolFamily {
  /// The options of the reducer.
  using Options = decltype(Reduction::options);
  /// A pool. Copies both; they are checked when a shape is known.
  [[nodiscard]] Pool operator()(const Description& description, Options options = {}) const {
    return {description, Reduction{resolve_ties(options)}};
  }

 protected:
  /// Global pools give their derivative to every extreme unless told otherwise.
  static Options resolve_ties(Options options) {
    if constexpr (std::same_as<Description, Global> && requires { options.ties; })
      if (options.ties == Ties::standard) options.ties = Ties::all;
    return options;
  }
};

/// Sum has no options.
template <class Description>
struct PoolFamily<Description, reduction::Sum> {
  /// A pool. Copies the description, which is checked when a shape is known.
  [[nodiscard]] Pool operator()(const Description& description) const { return {description, reduction::Sum{}}; }
};

/// Lp has its p in front: `lp_pool(2, window)`.
template <class Description>
struct LpFamily {
  /// A pool. p and options are checked when a scalar is known.
  [[nodiscard]] Pool operator()(double p, const Description& description, LpOptions options = {}) const {
    // A finite p has no extremes, and ties asked of it must stay visible as the error they are.
    if (std::same_as<Description, Global> && p == std::numeric_limits<double>::infinity() &&
        options.ties == Ties::standard)
      options.ties = Ties::all;
    return {description, reduction::Lp{p, options}};
  }
};

/// Max over a sliding Window.
inline constexpr PoolFamily<Window, reduction::Max> max_pool;
/// Min over a sliding Window.
inline constexpr PoolFamily<Window, reduction::Min> min_pool;
/// Sum over a sliding Window.
inline constexpr PoolFamily<Window, reduction::Sum> sum_pool;
/// Average over a sliding Window.
inline constexpr PoolFamily<Window, reduction::Average> avg_pool;
/// Smooth max over a sliding Window.
inline constexpr PoolFamily<Window, reduction::SmoothMax> smooth_max_pool;
/// Lp, with p in front: `lp_pool(2, ...)` over a sliding Window.
inline constexpr LpFamily<Window> lp_pool;

/// Max over Adaptive bins.
inline constexpr PoolFamily<Adaptive, reduction::Max> adaptive_max_pool;
/// Min over Adaptive bins.
inline constexpr PoolFamily<Adaptive, reduction::Min> adaptive_min_pool;
/// Sum over Adaptive bins.
inline constexpr PoolFamily<Adaptive, reduction::Sum> adaptive_sum_pool;
/// Average over Adaptive bins.
inline constexpr PoolFamily<Adaptive, reduction::Average> adaptive_avg_pool;
/// Smooth max over Adaptive bins.
inline constexpr PoolFamily<Adaptive, reduction::SmoothMax> adaptive_smooth_max_pool;
/// Lp, with p in front: `adaptive_lp_pool(2, ...)` over Adaptive bins.
inline constexpr LpFamily<Adaptive> adaptive_lp_pool;

/// Max over whole axes, Global; by default the derivative goes to every extreme.
inline constexpr PoolFamily<Global, reduction::Max> global_max_pool;
/// Min over whole axes, Global; by default the derivative goes to every extreme.
inline constexpr PoolFamily<Global, reduction::Min> global_min_pool;
/// Sum over whole axes, Global.
inline constexpr PoolFamily<Global, reduction::Sum> global_sum_pool;
/// Average over whole axes, Global.
inline constexpr PoolFamily<Global, reduction::Average> global_avg_pool;
/// Smooth max over whole axes, Global.
inline constexpr PoolFamily<Global, reduction::SmoothMax> global_smooth_max_pool;
/// Lp, with p in front: `global_lp_pool(2, ...)` over whole axes, Global.
inline constexpr LpFamily<Global> global_lp_pool;

}  // namespace ndpool
