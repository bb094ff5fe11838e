// The maps of the C interface.
#include "c/plans.hpp"
#include "c/run.hpp"

namespace c = ndpool::c;

namespace {

/// Runs `map(plan, progress)` as the caller asks.
template <class Map>
int32_t run_map(const ndpool_plan* plan, const ndpool_run* run, ndpool_error* error, Map map) {
  return c::guarded(error, [&] {
    const ndpool_plan& known = c::required(plan, "plan");
    const c::RunScope scope(run);
    const bool is_finished = map(known, scope.progress());
    scope.check();
    return is_finished;
  });
}

ndpool::Dtype index_dtype_of(int32_t index_dtype) { return c::read_dtype(index_dtype, "index_dtype"); }

}  // namespace

int32_t ndpool_forward(const ndpool_plan* plan, const void* x, void* y, const ndpool_run* run, ndpool_error* error) {
  return run_map(plan, run, error,
                 [&](const ndpool_plan& known, const auto& progress) { return known.forward(x, y, progress); });
}

int32_t ndpool_forward_with_indices(const ndpool_plan* plan, const void* x, void* y, void* indices, int32_t index_dtype,
                                    const ndpool_run* run, ndpool_error* error) {
  return run_map(plan, run, error, [&](const ndpool_plan& known, const auto& progress) {
    return known.forward_with_indices(x, y, indices, index_dtype_of(index_dtype), progress);
  });
}

int32_t ndpool_jvp(const ndpool_plan* plan, const void* x, const void* dx, void* dy, const ndpool_run* run,
                   ndpool_error* error) {
  return run_map(plan, run, error,
                 [&](const ndpool_plan& known, const auto& progress) { return known.jvp(x, dx, dy, progress); });
}

int32_t ndpool_vjp(const ndpool_plan* plan, const void* x, const void* gy, void* gx, const ndpool_run* run,
                   ndpool_error* error) {
  return run_map(plan, run, error,
                 [&](const ndpool_plan& known, const auto& progress) { return known.vjp(x, gy, gx, progress); });
}

int32_t ndpool_jvp_from_indices(const ndpool_plan* plan, const void* indices, int32_t index_dtype, const void* dx,
                                void* dy, const ndpool_run* run, ndpool_error* error) {
  return run_map(plan, run, error, [&](const ndpool_plan& known, const auto& progress) {
    return known.jvp_from_indices(indices, index_dtype_of(index_dtype), dx, dy, progress);
  });
}

int32_t ndpool_vjp_from_indices(const ndpool_plan* plan, const void* indices, int32_t index_dtype, const void* gy,
                                void* gx, const ndpool_run* run, ndpool_error* error) {
  return run_map(plan, run, error, [&](const ndpool_plan& known, const auto& progress) {
    return known.vjp_from_indices(indices, index_dtype_of(index_dtype), gy, gx, progress);
  });
}

int32_t ndpool_beta_derivative(const ndpool_plan* plan, const void* x, void* dy, const ndpool_run* run,
                               ndpool_error* error) {
  return run_map(plan, run, error, [&](const ndpool_plan& known, const auto& progress) {
    return known.beta_derivative(x, dy, progress);
  });
}

int32_t ndpool_unpool_forward(const ndpool_plan* plan, const void* y, const int64_t* indices, void* x,
                              const ndpool_run* run, ndpool_error* error) {
  return run_map(plan, run, error,
                 [&](const ndpool_plan& known, const auto& progress) { return known.unpool(y, indices, x, progress); });
}

int32_t ndpool_unpool_jvp(const ndpool_plan* plan, const void* dy, const int64_t* indices, void* dx,
                          const ndpool_run* run, ndpool_error* error) {
  return run_map(plan, run, error, [&](const ndpool_plan& known, const auto& progress) {
    return known.unpool_jvp(dy, indices, dx, progress);
  });
}

int32_t ndpool_unpool_vjp(const ndpool_plan* plan, const void* gx, const int64_t* indices, void* gy,
                          const ndpool_run* run, ndpool_error* error) {
  return run_map(plan, run, error, [&](const ndpool_plan& known, const auto& progress) {
    return known.unpool_vjp(gx, indices, gy, progress);
  });
}
