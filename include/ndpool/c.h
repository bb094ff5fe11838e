/* The C interface: every pool, forward and backward, for C and for languages that call C.
 *
 *   ndpool_pool pool = NDPOOL_POOL_INIT;                    // max over windows, unless told otherwise
 *   const int64_t shape[] = {64, 112, 112}, kernel[] = {2, 2};
 *   pool.kernel.values = kernel;
 *   pool.kernel.count = 2;
 *   ndpool_arrays arrays = NDPOOL_ARRAYS_INIT;              // packed arrays of f32
 *   arrays.shape = shape;
 *   arrays.rank = 3;
 *   ndpool_error error = NDPOOL_ERROR_INIT;
 *   ndpool_plan* plan = NULL;
 *   if (ndpool_plan_create(&pool, &arrays, NULL, &plan, &error) != ndpool_code_none) puts(error.sentence);
 *   ndpool_forward(plan, x, y, NULL, &error);
 *   ndpool_plan_destroy(plan);
 *
 * Errors. A function that can fail returns a code, 0 for success, and tells more in the `ndpool_error` of its last
 * argument, which may be null. Everything is checked before anything is written. No exception leaves a function, and
 * none prints or ends the process. A pointer that must not be null says so by ndpool_code_null_argument.
 *
 * Structs. Each begins with its size in bytes, which its initialiser macro sets with the defaults: start from that, so
 * that a program means the same when later versions add fields. A larger size than the library knows is an error, and
 * so is one that no version had. Enumerators are kept in fields of type int32_t.
 *
 * Thread-safety. Plans are immutable: any number of threads may run one. Every function may be called by several
 * threads at a time, but for ndpool_force_target and for the end of a plan that still runs.
 *
 * Memory. Arrays belong to the caller, who says how long they are; nothing is copied or kept. Strides count elements.
 */
#ifndef NDPOOL_C_H
#define NDPOOL_C_H

#include <ndpool/api.h>
#include <ndpool/lists.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The largest number of axes that an array can have. */
#define NDPOOL_MAX_RANK 64
/** Room for a sentence and its end. Longer sentences are cut. */
#define NDPOOL_SENTENCE_SIZE 960
/** In `ndpool_pool::divisor`: no divisor is given. */
#define NDPOOL_NO_DIVISOR INT64_MIN
/** In `ndpool_arrays::result_dtype`: that of the input. */
#define NDPOOL_SAME_DTYPE (-1)

/** Scalars, in the order of NDPOOL_DTYPES: f32 0, f64 1, f16 2, bf16 3, i8 4, u8 5, i16 6, u16 7, i32 8, i64 9, u32 10,
 * u64 11, boolean 12 (one byte, 0 or 1). f16 and bf16 are IEEE half and bfloat16 in two bytes. */
typedef enum ndpool_dtype {
#define NDPOOL_ROW(name, type) ndpool_dtype_##name,
  NDPOOL_DTYPES(NDPOOL_ROW)
#undef NDPOOL_ROW
} ndpool_dtype;

/** Reducers, in the order of NDPOOL_REDUCERS: max 0, min 1, sum 2, avg 3, smooth_max 4, lp 5. */
typedef enum ndpool_reducer {
#define NDPOOL_ROW(name, type) ndpool_reducer_##name,
  NDPOOL_REDUCERS(NDPOOL_ROW)
#undef NDPOOL_ROW
} ndpool_reducer;

/** What a pool slides or divides. */
typedef enum ndpool_geometry {
  ndpool_geometry_window = 0,   /**< sliding windows of `kernel` taps */
  ndpool_geometry_adaptive = 1, /**< `output_size` bins of nearly equal length */
  ndpool_geometry_global = 2    /**< one bin over all of each pooled axis */
} ndpool_geometry;

/** Where the padding of a window comes from. */
typedef enum ndpool_padding_rule {
  ndpool_padding_given = 0,      /**< `padding_before` and `padding_after` */
  ndpool_padding_same_upper = 1, /**< as many outputs as ceil(input / stride); the odd cell goes last */
  ndpool_padding_same_lower = 2, /**< the same, the odd cell goes first */
  ndpool_padding_valid = 3       /**< none */
} ndpool_padding_rule;

/** Which of several equal extremes carry the derivative. */
typedef enum ndpool_ties {
  ndpool_ties_standard = 0, /**< `first`; `all` for global pools */
  ndpool_ties_first = 1,    /**< the first in row-major order, with weight 1 */
  ndpool_ties_all = 2,      /**< every one, each with weight 1 */
  ndpool_ties_split = 3     /**< every one of m, each with weight 1/m */
} ndpool_ties;

/** What a NaN does in max and min. */
typedef enum ndpool_nan {
  ndpool_nan_propagate = 0, /**< it beats every number */
  ndpool_nan_ignore = 1     /**< it counts only where there is no number */
} ndpool_nan;

/** What a window without an input element does. */
typedef enum ndpool_empty {
  ndpool_empty_error = 0,   /**< is an error */
  ndpool_empty_identity = 1 /**< lowest for max, highest for min, 0 for Lp and average */
} ndpool_empty;

/** How an average of integers is rounded. */
typedef enum ndpool_rounding {
  ndpool_rounding_half_even = 0,   /**< to nearest, halves to the even neighbour */
  ndpool_rounding_toward_zero = 1, /**< the fraction is dropped */
  ndpool_rounding_floor = 2,       /**< down */
  ndpool_rounding_half_away = 3    /**< to nearest, halves away from zero */
} ndpool_rounding;

/** What a padded tap is to smooth max. */
typedef enum ndpool_pad_mode {
  ndpool_pad_mode_zero = 0,  /**< a value 0 that takes part in the sum and receives no derivative */
  ndpool_pad_mode_ignore = 1 /**< nothing */
} ndpool_pad_mode;

/** The maps that a plan chooses an implementation for. */
typedef enum ndpool_map {
  ndpool_map_forward = 0,              /**< y = R(x) */
  ndpool_map_forward_with_indices = 1, /**< also the index of each window's first extreme */
  ndpool_map_jvp = 2,                  /**< dy = R'(x) dx */
  ndpool_map_vjp = 3,                  /**< gx = R'(x)^T gy */
  ndpool_map_jvp_from_indices = 4,     /**< the JVP of max and min, by indices instead of x */
  ndpool_map_vjp_from_indices = 5,     /**< the VJP of max and min, by indices instead of x */
  ndpool_map_unpool = 6,               /**< max unpooling, and its JVP */
  ndpool_map_unpool_vjp = 7            /**< the VJP of max unpooling */
} ndpool_map;

/** What a function returns. Up to 99 the faults of the C++ interface (`ndpool::Code`), from 100 those of this one. */
typedef enum ndpool_code {
  ndpool_code_none = 0,                  /**< nothing is wrong */
  ndpool_code_not_positive = 1,          /**< an argument that must be at least 1 */
  ndpool_code_negative = 2,              /**< an argument that must be at least 0 */
  ndpool_code_overflow = 3,              /**< a sum or product of extents does not fit 64 bits */
  ndpool_code_kernel_exceeds_input = 4,  /**< not a single window fits */
  ndpool_code_zero_length = 5,           /**< a pooled axis without cells */
  ndpool_code_empty_window = 6,          /**< a window that sees no input element */
  ndpool_code_rank_too_large = 7,        /**< more than NDPOOL_MAX_RANK axes */
  ndpool_code_nothing_to_pool = 8,       /**< no pooled axis */
  ndpool_code_too_many_axes = 9,         /**< more pooled axes than the array has */
  ndpool_code_wrong_count = 10,          /**< a list whose length is not the number of pooled axes */
  ndpool_code_axis_out_of_range = 11,    /**< an entry of axes that the array does not have */
  ndpool_code_axis_repeated = 12,        /**< an entry of axes that occurs twice */
  ndpool_code_null_data = 15,            /**< an array of at least one element without memory */
  ndpool_code_overlap = 17,              /**< an output that shares bytes with another array */
  ndpool_code_zero_stride = 18,          /**< an output whose cells share memory */
  ndpool_code_zero_divisor = 19,         /**< divisor 0 */
  ndpool_code_beta_not_usable = 20,      /**< beta 0, infinite or NaN */
  ndpool_code_no_beta = 21,              /**< the derivative by beta of a pool other than smooth max */
  ndpool_code_p_not_positive = 22,       /**< p <= 0 or NaN */
  ndpool_code_ties_without_extreme = 24, /**< ties asked of an Lp pool whose p is finite */
  ndpool_code_no_indices = 25,           /**< indices asked of a reducer that has no winner */
  ndpool_code_no_derivative = 26,        /**< a derivative asked of integers */
  ndpool_code_no_transcendentals = 28,   /**< smooth max or Lp of integers */
  ndpool_code_taps_do_not_fit = 30,      /**< a window with more taps than a compact index can number */
  ndpool_code_index_out_of_range = 31,   /**< an index that names no cell of the window or of the array */

  ndpool_code_cancelled = 100,     /**< the progress callback has ended the run: no error; the result is unfinished */
  ndpool_code_null_argument = 101, /**< a pointer that must not be null */
  ndpool_code_struct_size = 102,   /**< a struct of a size that this version does not know */
  ndpool_code_unknown_value = 103, /**< a number that is no enumerator of its field */
  ndpool_code_not_of_pool = 104,   /**< an option that this geometry or reducer does not have */
  ndpool_code_no_such_map = 105,   /**< a map that this plan does not have */
  ndpool_code_no_implementation = 106, /**< no implementation of this name accepts the problem */
  ndpool_code_no_target = 107,         /**< no instruction set of this name is on this machine */
  ndpool_code_executor_failed = 108,   /**< an executor that has not run every task; the result is unfinished */
  ndpool_code_out_of_memory = 109,     /**< memory for a plan or for scratch is missing; the result is unfinished */
  ndpool_code_unknown = 110            /**< anything else, such as a C++ exception of a callback */
} ndpool_code;

/** What is wrong with a call. Written by a call that fails; a call that succeeds leaves it alone. */
typedef struct ndpool_error {
  size_t size;                         /**< sizeof(ndpool_error), by NDPOOL_ERROR_INIT */
  int32_t code;                        /**< what the function returned, an ndpool_code */
  int32_t axis;                        /**< axis of the array, -1 if the fault is not about one axis */
  const char* argument;                /**< the argument's name, "" if there is none; lives as long as the process */
  int64_t values[5];                   /**< the numbers of the sentence, in its order */
  double real;                         /**< a number of the sentence that is not whole */
  char sentence[NDPOOL_SENTENCE_SIZE]; /**< one sentence with the argument, the axis, the value and the rule */
} ndpool_error;
/** No error. */
#define NDPOOL_ERROR_INIT \
  { sizeof(ndpool_error), 0, -1, "", {0, 0, 0, 0, 0}, 0, "" }

/** Numbers of the caller's, read during the call alone. No numbers stand for the default. Never grows. */
typedef struct ndpool_list {
  const int64_t* values; /**< may be null if count is 0 */
  int64_t count;         /**< how many numbers */
} ndpool_list;

/** A pool: windows and a reducer. Lists have one entry per pooled axis. What the geometry or the reducer does not have
 * must keep its default. The meaning of every option is in docs/semantics.md. */
typedef struct ndpool_pool {
  size_t size;      /**< sizeof(ndpool_pool), by NDPOOL_POOL_INIT */
  int32_t reducer;  /**< an ndpool_reducer; max by default */
  int32_t geometry; /**< an ndpool_geometry; windows by default */
  ndpool_list axes; /**< the pooled axes, negative ones from the end; by default the last ones, all of global pools */

  ndpool_list kernel;         /**< windows: taps on each axis */
  ndpool_list stride;         /**< windows: cells from window to window; by default the kernel */
  ndpool_list padding_before; /**< windows: cells before the input; by default 0 */
  ndpool_list padding_after;  /**< windows: cells after the input; by default those before it */
  ndpool_list dilation;       /**< windows: cells from tap to tap; by default 1 */
  ndpool_list output_size;    /**< adaptive pools: bins on each axis */
  int32_t padding_rule;       /**< windows: an ndpool_padding_rule */
  int32_t ceil_mode;          /**< windows: 1 rounds the number of windows up; 0 by default */
  int32_t keepdims;           /**< global pools: 1 keeps the pooled axes with length 1; 0 by default, drops them */

  int32_t ties;            /**< max, min, and Lp with p = infinity: an ndpool_ties */
  int32_t nan;             /**< max, min: an ndpool_nan */
  int32_t empty;           /**< all but sum: an ndpool_empty */
  int32_t rounding;        /**< avg: an ndpool_rounding */
  int32_t pad_mode;        /**< smooth_max: an ndpool_pad_mode */
  int32_t exclude_padding; /**< avg: 1 divides by the taps on input alone; 0 by default, counts padding */
  int32_t reserved;        /**< 0 */
  int64_t divisor;         /**< avg: replaces the count of taps; by default NDPOOL_NO_DIVISOR */
  double beta;             /**< smooth_max: finite and not 0; 1 by default */
  double p;                /**< lp: greater than 0, may be infinite; 2 by default */
} ndpool_pool;
/** Max over windows, with every option at its default; the kernel is missing. */
#define NDPOOL_POOL_INIT                                                                                             \
  {                                                                                                                  \
    sizeof(ndpool_pool), 0, 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, 0, 0, 0, \
        0, 0, 0, 0, 0, 0, 0, NDPOOL_NO_DIVISOR, 1, 2                                                                 \
  }

/** Max unpooling to an output size: values go to the cells that indices name, all other cells are 0. */
typedef struct ndpool_unpool {
  size_t size;             /**< sizeof(ndpool_unpool), by NDPOOL_UNPOOL_INIT */
  ndpool_list output_size; /**< lengths of the result on the axes below */
  ndpool_list axes;        /**< negative ones count from the end; by default the last ones */
} ndpool_unpool;
/** The output size is missing. */
#define NDPOOL_UNPOOL_INIT                        \
  {                                               \
    sizeof(ndpool_unpool), {NULL, 0}, { NULL, 0 } \
  }

/** The arrays that a plan is made for. `x`, `dx` and `gx` have the shape and strides of the input; `y`, `dy`, `gy` and
 * indices those of the result. Of unpooling `y`, `dy`, `gy` and indices are the input, `x`, `dx` and `gx` the
 * result. Read during the call alone. */
typedef struct ndpool_arrays {
  size_t size;                   /**< sizeof(ndpool_arrays), by NDPOOL_ARRAYS_INIT */
  int32_t dtype;                 /**< an ndpool_dtype, of all arrays but indices; f32 by default */
  int32_t result_dtype;          /**< of y, if another than that: then there is the forward map alone; by default
                                      NDPOOL_SAME_DTYPE */
  int32_t rank;                  /**< axes of the input */
  int32_t reserved;              /**< 0 */
  const int64_t* shape;          /**< `rank` lengths, of the input */
  const int64_t* strides;        /**< `rank` strides of the input in elements, may be negative, 0 where it is only read;
                                      null for packed row-major arrays */
  const int64_t* result_strides; /**< one stride per axis of the result; null for packed row-major arrays */
} ndpool_arrays;
/** Packed arrays of f32; shape and rank are missing. */
#define NDPOOL_ARRAYS_INIT \
  { sizeof(ndpool_arrays), 0, NDPOOL_SAME_DTYPE, 0, 0, NULL, NULL, NULL }

/** What a caller may ask of a plan. */
typedef struct ndpool_plan_options {
  size_t size;                /**< sizeof(ndpool_plan_options), by NDPOOL_PLAN_OPTIONS_INIT */
  const char* implementation; /**< the one to run, in all maps that have it ("reference" in every map); null for the
                                   first that accepts the problem. Not for unpooling */
} ndpool_plan_options;
/** The first implementation that accepts the problem, for every map. */
#define NDPOOL_PLAN_OPTIONS_INIT \
  { sizeof(ndpool_plan_options), NULL }

/** Threads of the caller's. Kept for the call alone.
 *
 * `run` calls `task(task_context, i)` once for every i in [0, count), in any order, on any threads, the calling one
 * included, and returns when all are done. Tasks do not wait for each other, and nothing leaves them. Several threads
 * may call it at a time if the caller runs maps on several threads. A task that was not run is an error
 * (ndpool_code_executor_failed). */
typedef struct ndpool_executor {
  size_t size;      /**< sizeof(ndpool_executor), by NDPOOL_EXECUTOR_INIT */
  void* context;    /**< the first argument of `run` */
  int32_t threads;  /**< how many tasks can run at a time, at least 1 */
  int32_t reserved; /**< 0 */
  /** Runs all tasks, as above. Must not be null. */
  void (*run)(void* context, int64_t count, void (*task)(void* task_context, int64_t i), void* task_context);
} ndpool_executor;
/** One thread; `run` is missing. */
#define NDPOOL_EXECUTOR_INIT \
  { sizeof(ndpool_executor), NULL, 1, 0, NULL }

/** How one call runs. Null in its place stands for the defaults: the threads of the process, without progress. Nothing
 * here changes settings of the process. */
typedef struct ndpool_run {
  size_t size; /**< sizeof(ndpool_run), by NDPOOL_RUN_INIT */
  /** 0: as many threads as there are; 1: the calling thread alone; n: at most n, the calling one included. */
  int32_t threads;
  /** 1: floating-point modes are the standard ones while the call works, on every thread: subnormals are kept and
   * rounding is to nearest, whatever the caller or its executor has set; afterwards they are what they were. 0, the
   * default, takes them as they are. */
  int32_t standard_floats;
  /** Runs the tasks of this call; null for ndpool's own threads, or those that `ndpool::set_executor` has set. */
  const ndpool_executor* executor;
  /** Called between pieces of work with the share that is done, from 0 to 1, on the calling thread or on one that helps
   * it, never by two threads at a time. False cancels the call, which then returns ndpool_code_cancelled. Must not call
   * maps. Null for none. */
  bool (*progress)(void* progress_context, double done);
  void* progress_context; /**< the first argument of `progress` */
} ndpool_run;
/** The threads of the process, without progress. */
#define NDPOOL_RUN_INIT \
  { sizeof(ndpool_run), 0, 0, NULL, NULL, NULL }

/** How a plan runs one map. */
typedef struct ndpool_map_summary {
  size_t size;                /**< sizeof(ndpool_map_summary), by NDPOOL_MAP_SUMMARY_INIT */
  const char* implementation; /**< the one that runs, "reference" if no compiled one accepts the problem; lives as long
                                   as the process */
  size_t scratch_bytes;       /**< scratch that each thread keeps after its first run */
  int64_t tiles;              /**< pieces that threads can share */
} ndpool_map_summary;
/** Empty. */
#define NDPOOL_MAP_SUMMARY_INIT \
  { sizeof(ndpool_map_summary), "", 0, 0 }

/** A pool prepared for arrays of one shape, strides and dtype, with an implementation chosen for each map. Immutable.
 */
typedef struct ndpool_plan ndpool_plan;

/** The version of the library, such as "0.2.0". Costs nothing; thread-safe. */
NDPOOL_API const char* ndpool_version(void);

/** The name of a dtype, such as "f32"; null if the number is none. Costs nothing; thread-safe. */
NDPOOL_API const char* ndpool_dtype_name(int32_t dtype);
/** Bytes of one element; 0 if the number is no dtype. Costs nothing; thread-safe. */
NDPOOL_API size_t ndpool_dtype_size(int32_t dtype);
/** The name of a reducer, such as "smooth_max"; null if the number is none. Costs nothing; thread-safe. */
NDPOOL_API const char* ndpool_reducer_name(int32_t reducer);
/** The name of a map, such as "vjp_from_indices"; null if the number is none. Costs nothing; thread-safe. */
NDPOOL_API const char* ndpool_map_name(int32_t map);

/** The number of threads that ndpool's own executor uses, the caller's included. Thread-safe. */
NDPOOL_API int32_t ndpool_get_threads(void);
/** Sets that number for the process, 1 to 1024, for runs that start after it; others are clamped. `ndpool_run::threads`
 * limits one call. Thread-safe. Fails only without memory. */
NDPOOL_API int32_t ndpool_set_threads(int32_t count, ndpool_error* error);

/** The number of instruction sets that this machine can run kernels for; 0 without memory for the list. Thread-safe. */
NDPOOL_API int32_t ndpool_target_count(void);
/** The name of one of them, best first; null if the number is not below the count. Lives as long as the process.
 * Thread-safe. */
NDPOOL_API const char* ndpool_target_name(int32_t number);
/** The name of the one in use; null if NDPOOL_FORCE_TARGET names one that this machine lacks. Lives as long as the
 * process. Thread-safe. */
NDPOOL_API const char* ndpool_target(void);
/** Uses the kernels of one instruction set from now on; null or "" means the best. For tests and measurements: other
 * threads must not run or create plans meanwhile. Fails with ndpool_code_no_target. */
NDPOOL_API int32_t ndpool_force_target(const char* name, ndpool_error* error);

/** The shape of the result for an input of this shape. `output` has room for `rank` lengths and gets `*output_rank` of
 * them, which global pools can make fewer. Costs some hundred nanoseconds, allocates nothing up to rank 8. Thread-safe.
 * Fails if the windows do not fit. */
NDPOOL_API int32_t ndpool_output_shape(const ndpool_pool* pool, const int64_t* shape, int32_t rank, int64_t* output,
                                       int32_t* output_rank, ndpool_error* error);

/** A plan for a pool on such arrays; end it by ndpool_plan_destroy. `options` may be null. Costs a few allocations, a
 * few microseconds and no threads. Thread-safe: reads no setting but NDPOOL_FORCE_IMPLEMENTATION, and changes none.
 * Fails if the window does not fit, if the dtype lacks what the reducer needs, and if `options` names an implementation
 * that does not accept the problem; `*plan` is null then. */
NDPOOL_API int32_t ndpool_plan_create(const ndpool_pool* pool, const ndpool_arrays* arrays,
                                      const ndpool_plan_options* options, ndpool_plan** plan, ndpool_error* error);
/** The same for unpooling. `arrays` tells of the values to place, which indices have the shape and strides of. */
NDPOOL_API int32_t ndpool_unpool_plan_create(const ndpool_unpool* unpool, const ndpool_arrays* arrays,
                                             ndpool_plan** plan, ndpool_error* error);
/** Ends a plan that nobody runs any more; null is none. */
NDPOOL_API void ndpool_plan_destroy(ndpool_plan* plan);

/** The number of axes of the result; -1 of a null plan. Costs nothing; thread-safe. */
NDPOOL_API int32_t ndpool_plan_output_rank(const ndpool_plan* plan);
/** The lengths of the result, which live as long as the plan; null of a null plan. Costs nothing; thread-safe. */
NDPOOL_API const int64_t* ndpool_plan_output_shape(const ndpool_plan* plan);
/** The smallest dtype of compact indices, u8, u16 or u32, that can number the taps of a window; -1 if none can, and for
 * pools without indices. Costs nothing; thread-safe. */
NDPOOL_API int32_t ndpool_plan_compact_index_dtype(const ndpool_plan* plan);
/** True if the plan has the map: derivatives are of floats, indices of max and min. Costs nothing; thread-safe. */
NDPOOL_API bool ndpool_plan_has(const ndpool_plan* plan, int32_t map);
/** How the plan runs a map. Allocates a list; thread-safe. Fails with ndpool_code_no_such_map. */
NDPOOL_API int32_t ndpool_plan_summary(const ndpool_plan* plan, int32_t map, ndpool_map_summary* summary,
                                       ndpool_error* error);
/** The name of the implementation of this number, first choice first, of all that accept a map; the last is
 * "reference", after which it is null. Lives as long as the process. Allocates a list; thread-safe. */
NDPOOL_API const char* ndpool_plan_implementation(const ndpool_plan* plan, int32_t map, int32_t number);

/* The maps. `run` may be null. Outputs must overlap nothing. Cost: maps of arrays above 64 KB use the threads of `run`;
 * nothing is allocated once each thread has its scratch, unless the reference runs the map. All are thread-safe. They
 * fail with a code before anything is written, but for ndpool_code_cancelled, executor_failed, out_of_memory and
 * unknown, after which the result is unfinished. */

/** y = R(x). */
NDPOOL_API int32_t ndpool_forward(const ndpool_plan* plan, const void* x, void* y, const ndpool_run* run,
                                  ndpool_error* error);
/** The same for max and min, and in `indices` the first extreme of each window: its flat index over the unpadded pooled
 * axes (`index_dtype` i64), or the number of its tap in the window (u8, u16 or u32). Windows without an element have
 * -1, or all bits set. */
NDPOOL_API int32_t ndpool_forward_with_indices(const ndpool_plan* plan, const void* x, void* y, void* indices,
                                               int32_t index_dtype, const ndpool_run* run, ndpool_error* error);
/** dy = R'(x) dx. */
NDPOOL_API int32_t ndpool_jvp(const ndpool_plan* plan, const void* x, const void* dx, void* dy, const ndpool_run* run,
                              ndpool_error* error);
/** gx = R'(x)^T gy. Overwrites gx. `x` may be null for sums and averages, whose derivative does not depend on it. */
NDPOOL_API int32_t ndpool_vjp(const ndpool_plan* plan, const void* x, const void* gy, void* gx, const ndpool_run* run,
                              ndpool_error* error);
/** dy = the tangent of each winner that the indices name, 0 where they name none: the JVP of max and min with ties
 * `first`, without x. */
NDPOOL_API int32_t ndpool_jvp_from_indices(const ndpool_plan* plan, const void* indices, int32_t index_dtype,
                                           const void* dx, void* dy, const ndpool_run* run, ndpool_error* error);
/** gx = the gradients of all outputs that each cell has won by the indices: the VJP of max and min with ties `first`,
 * without x. Overwrites gx. */
NDPOOL_API int32_t ndpool_vjp_from_indices(const ndpool_plan* plan, const void* indices, int32_t index_dtype,
                                           const void* gy, void* gx, const ndpool_run* run, ndpool_error* error);
/** dy = the derivative of each output by beta, of smooth max only. Runs the reference on the calling thread. */
NDPOOL_API int32_t ndpool_beta_derivative(const ndpool_plan* plan, const void* x, void* dy, const ndpool_run* run,
                                          ndpool_error* error);

/** x = the values y placed at the cells that flat indices (i64) name, 0 elsewhere; -1 is skipped, the last of equal
 * indices wins. Of plans by ndpool_unpool_plan_create, for every dtype. */
NDPOOL_API int32_t ndpool_unpool_forward(const ndpool_plan* plan, const void* y, const int64_t* indices, void* x,
                                         const ndpool_run* run, ndpool_error* error);
/** dx = the tangents dy placed in the same way; unpooling is linear. Of floats. */
NDPOOL_API int32_t ndpool_unpool_jvp(const ndpool_plan* plan, const void* dy, const int64_t* indices, void* dx,
                                     const ndpool_run* run, ndpool_error* error);
/** gy = the gradient of each value that was placed and not overwritten, 0 of the others. Of floats. */
NDPOOL_API int32_t ndpool_unpool_vjp(const ndpool_plan* plan, const void* gx, const int64_t* indices, void* gy,
                                     const ndpool_run* run, ndpool_error* error);

#ifdef __cplusplus
}
#endif

#endif
