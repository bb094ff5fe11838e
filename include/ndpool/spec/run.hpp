// The maps of the reference as pools run them: cancellable, on arrays that have been checked. They are long to compile,
// so the library brings them compiled for its own reducers and scalars.
#pragma once

#include <ndpool/api.h>
#include <ndpool/dtype.hpp>
#include <ndpool/spec/average.hpp>
#include <ndpool/spec/cancellable.hpp>
#include <ndpool/spec/indices.hpp>
#include <ndpool/spec/lp.hpp>
#include <ndpool/spec/maps.hpp>
#include <ndpool/spec/max.hpp>
#include <ndpool/spec/min.hpp>
#include <ndpool/spec/smooth_max.hpp>
#include <ndpool/spec/sum.hpp>

namespace ndpool::spec {

/// Calls `f` with a reducer that counts the taps it is shown, each `passes` times. False if `progress` cancelled it.
template <class Reducer, class F>
bool run_cancellable(const Geometry& geometry, const Reducer& reducer, const ProgressCallback& progress, int passes,
                     F f) {
  const double taps =
      static_cast<double>(element_count(geometry.output_shape())) * static_cast<double>(geometry.tap_count());
  return count_steps(progress, passes * taps + static_cast<double>(element_count(geometry.input_shape())),
                     [&](auto tick) {
                       f(Ticking<Reducer, decltype(tick)>{reducer, tick});
                     });
}

template <class X, class Reducer, class Y>
NDPOOL_API bool run_forward(const Geometry& geometry, const Reducer& reducer, const View<const X>& x, const View<Y>& y,
                            const ProgressCallback& progress) {
  return run_cancellable(geometry, reducer, progress, 1, [&](const auto& ticking) {
    core::forward(geometry, ticking, x, y, [](const auto&, const auto&) {});
  });
}

template <class X, class Reducer, class Y, class I>
NDPOOL_API bool run_forward(const Geometry& geometry, const Reducer& reducer, const View<const X>& x, const View<Y>& y,
                            const View<I>& indices, const ProgressCallback& progress) {
  return run_cancellable(geometry, reducer, progress, 1,
                         [&](const auto& ticking) { forward(geometry, ticking, x, y, indices); });
}

template <class X, class DX, class Reducer, class DY>
NDPOOL_API bool run_jvp(const Geometry& geometry, const Reducer& reducer, const View<const X>& x,
                        const View<const DX>& dx, const View<DY>& dy, const ProgressCallback& progress) {
  return run_cancellable(geometry, reducer, progress, 2,
                         [&](const auto& ticking) { core::jvp(geometry, ticking, x, dx, dy); });
}

template <class X, class GY, class Reducer, class GX>
NDPOOL_API bool run_vjp(const Geometry& geometry, const Reducer& reducer, const View<const X>& x,
                        const View<const GY>& gy, const View<GX>& gx, const ProgressCallback& progress) {
  return run_cancellable(geometry, reducer, progress, 2,
                         [&](const auto& ticking) { vjp(geometry, ticking, x, gy, gx, ticking.tick); });
}

template <class I, class DX, class DY>
NDPOOL_API bool run_jvp_from_indices(const Geometry& geometry, const View<const I>& indices, const View<const DX>& dx,
                                     const View<DY>& dy, const ProgressCallback& progress) {
  return count_steps(progress, index_steps(geometry),
                     [&](auto tick) { jvp_from_indices(geometry, indices, dx, dy, tick); });
}

template <class I, class GY, class GX>
NDPOOL_API bool run_vjp_from_indices(const Geometry& geometry, const View<const I>& indices, const View<const GY>& gy,
                                     const View<GX>& gx, const ProgressCallback& progress) {
  return count_steps(progress, index_steps(geometry),
                     [&](auto tick) { vjp_from_indices(geometry, indices, gy, gx, tick); });
}

// What the library brings, as `PREFIX template ...;`. src/spec_floats.cpp and src/spec_integers.cpp compile it,
// everyone else is told that it is there.
#define NDPOOL_COMPILED_VALUE(PREFIX, R, T)                                                                        \
  PREFIX template bool run_forward<T, R<T>, T>(const Geometry&, const R<T>&, const View<const T>&, const View<T>&, \
                                               const ProgressCallback&);
#define NDPOOL_COMPILED_DERIVATIVES(PREFIX, R, T)                                                             \
  PREFIX template bool run_jvp<T, T, R<T>, T>(const Geometry&, const R<T>&, const View<const T>&,             \
                                              const View<const T>&, const View<T>&, const ProgressCallback&); \
  PREFIX template bool run_vjp<T, T, R<T>, T>(const Geometry&, const R<T>&, const View<const T>&,             \
                                              const View<const T>&, const View<T>&, const ProgressCallback&);
#define NDPOOL_COMPILED_WINNERS(PREFIX, R, T, I)                                                                      \
  PREFIX template bool run_forward<T, R<T>, T, I>(const Geometry&, const R<T>&, const View<const T>&, const View<T>&, \
                                                  const View<I>&, const ProgressCallback&);
#define NDPOOL_COMPILED_BY_INDICES(PREFIX, T, I)                                                                  \
  PREFIX template bool run_jvp_from_indices<I, T, T>(const Geometry&, const View<const I>&, const View<const T>&, \
                                                     const View<T>&, const ProgressCallback&);                    \
  PREFIX template bool run_vjp_from_indices<I, T, T>(const Geometry&, const View<const I>&, const View<const T>&, \
                                                     const View<T>&, const ProgressCallback&);
#define NDPOOL_COMPILED_EXTREME(PREFIX, R, T)          \
  NDPOOL_COMPILED_VALUE(PREFIX, R, T)                  \
  NDPOOL_COMPILED_WINNERS(PREFIX, R, T, Index)         \
  NDPOOL_COMPILED_WINNERS(PREFIX, R, T, std::uint8_t)  \
  NDPOOL_COMPILED_WINNERS(PREFIX, R, T, std::uint16_t) \
  NDPOOL_COMPILED_WINNERS(PREFIX, R, T, std::uint32_t)
/// For integers, which have values and winners.
#define NDPOOL_COMPILED_INTEGER(PREFIX, T) \
  NDPOOL_COMPILED_EXTREME(PREFIX, Max, T)  \
  NDPOOL_COMPILED_EXTREME(PREFIX, Min, T)  \
  NDPOOL_COMPILED_VALUE(PREFIX, Sum, T)    \
  NDPOOL_COMPILED_VALUE(PREFIX, Average, T)
/// For floats, which have everything.
#define NDPOOL_COMPILED_FLOAT(PREFIX, T)                   \
  NDPOOL_COMPILED_INTEGER(PREFIX, T)                       \
  NDPOOL_COMPILED_VALUE(PREFIX, SmoothMax, T)              \
  NDPOOL_COMPILED_VALUE(PREFIX, SmoothMaxBeta, T)          \
  NDPOOL_COMPILED_VALUE(PREFIX, Lp, T)                     \
  NDPOOL_COMPILED_VALUE(PREFIX, LargestMagnitude, T)       \
  NDPOOL_COMPILED_DERIVATIVES(PREFIX, Max, T)              \
  NDPOOL_COMPILED_DERIVATIVES(PREFIX, Min, T)              \
  NDPOOL_COMPILED_DERIVATIVES(PREFIX, Sum, T)              \
  NDPOOL_COMPILED_DERIVATIVES(PREFIX, Average, T)          \
  NDPOOL_COMPILED_DERIVATIVES(PREFIX, SmoothMax, T)        \
  NDPOOL_COMPILED_DERIVATIVES(PREFIX, Lp, T)               \
  NDPOOL_COMPILED_DERIVATIVES(PREFIX, LargestMagnitude, T) \
  NDPOOL_COMPILED_BY_INDICES(PREFIX, T, Index)             \
  NDPOOL_COMPILED_BY_INDICES(PREFIX, T, std::uint8_t)      \
  NDPOOL_COMPILED_BY_INDICES(PREFIX, T, std::uint16_t)     \
  NDPOOL_COMPILED_BY_INDICES(PREFIX, T, std::uint32_t)

#define NDPOOL_ROW(name, type) NDPOOL_COMPILED_FLOAT(extern, type)
NDPOOL_FLOATS(NDPOOL_ROW)
#undef NDPOOL_ROW
#define NDPOOL_ROW(name, type) NDPOOL_COMPILED_INTEGER(extern, type)
NDPOOL_INTEGERS(NDPOOL_ROW)
#undef NDPOOL_ROW

}  // namespace ndpool::spec
