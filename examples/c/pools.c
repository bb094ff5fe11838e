/* Pools from C: a max pool with its indices and gradient, an average of other numbers, an error. Compiled as C11 and as
 * C++. Prints what it found, and ends with 1 if that is not what it should be. */
#include <ndpool/c.h>

#include <stdio.h>

/** Says what went wrong, if anything did; returns whether it did. */
static int failed(const char* what, int32_t code, const ndpool_error* error) {
  if (code == ndpool_code_none) return 0;
  fprintf(stderr, "%s: %s\n", what, error->sentence);
  return 1;
}

static void print(const char* name, const float* numbers, int count) {
  int i;
  printf("%s:", name);
  for (i = 0; i < count; ++i) printf(" %g", (double)numbers[i]);
  printf("\n");
}

static bool show_progress(void* context, double done) {
  *(double*)context = done;
  return true; /* false would cancel */
}

/** The maximum of windows of 2 x 2 cells, where it is, and what a gradient of it is to the input. */
static int max_pool(void) {
  const int64_t shape[] = {2, 4}, kernel[] = {2, 2};
  const float x[] = {1, 3, 2, 9, 5, 3, 1, 2}, gy[] = {1, 10};
  float y[2], gx[8];
  int64_t indices[2];
  double done = 0;
  ndpool_error error = NDPOOL_ERROR_INIT;
  ndpool_pool pool = NDPOOL_POOL_INIT;
  ndpool_arrays arrays = NDPOOL_ARRAYS_INIT;
  ndpool_run run = NDPOOL_RUN_INIT;
  ndpool_map_summary summary = NDPOOL_MAP_SUMMARY_INIT;
  ndpool_plan* plan = NULL;
  int wrong = 0;

  pool.kernel.values = kernel;
  pool.kernel.count = 2;
  arrays.shape = shape;
  arrays.rank = 2;
  run.progress = show_progress;
  run.progress_context = &done;
  if (failed("plan", ndpool_plan_create(&pool, &arrays, NULL, &plan, &error), &error)) return 1;
  wrong |= failed("forward", ndpool_forward_with_indices(plan, x, y, indices, ndpool_dtype_i64, &run, &error), &error);
  wrong |= failed("vjp", ndpool_vjp(plan, x, gy, gx, NULL, &error), &error);
  wrong |= failed("summary", ndpool_plan_summary(plan, ndpool_map_forward, &summary, &error), &error);
  print("max", y, 2);
  printf("at: %lld %lld\n", (long long)indices[0], (long long)indices[1]);
  print("gradient", gx, 8);
  if (summary.implementation[0] == 0 || done != 1) wrong = 1;
  ndpool_plan_destroy(plan);
  return wrong || y[0] != 5 || y[1] != 9 || indices[0] != 4 || gx[3] != 10 || gx[4] != 1;
}

/** The average of bytes, as floats. */
static int average_of_bytes(void) {
  const int64_t shape[] = {5}, bins[] = {2};
  const uint8_t x[] = {1, 2, 4, 8, 16};
  float y[2];
  ndpool_error error = NDPOOL_ERROR_INIT;
  ndpool_pool pool = NDPOOL_POOL_INIT;
  ndpool_arrays arrays = NDPOOL_ARRAYS_INIT;
  ndpool_plan* plan = NULL;
  int wrong;

  pool.reducer = ndpool_reducer_avg;
  pool.geometry = ndpool_geometry_adaptive;
  pool.output_size.values = bins;
  pool.output_size.count = 1;
  arrays.dtype = ndpool_dtype_u8;
  arrays.result_dtype = ndpool_dtype_f32;
  arrays.shape = shape;
  arrays.rank = 1;
  if (failed("plan", ndpool_plan_create(&pool, &arrays, NULL, &plan, &error), &error)) return 1;
  wrong = failed("forward", ndpool_forward(plan, x, y, NULL, &error), &error);
  print("averages", y, 2);
  ndpool_plan_destroy(plan);
  return wrong || y[1] * 3 != 28;
}

/** A window that does not fit. */
static int wrong_window(void) {
  const int64_t shape[] = {3}, kernel[] = {5};
  int64_t output[1];
  int32_t rank;
  ndpool_error error = NDPOOL_ERROR_INIT;
  ndpool_pool pool = NDPOOL_POOL_INIT;

  pool.kernel.values = kernel;
  pool.kernel.count = 1;
  if (ndpool_output_shape(&pool, shape, 1, output, &rank, &error) != ndpool_code_kernel_exceeds_input) return 1;
  printf("error %d: %s\n", (int)error.code, error.sentence);
  return 0;
}

int main(void) {
  printf("ndpool %s\n", ndpool_version());
  return max_pool() | average_of_bytes() | wrong_window();
}
