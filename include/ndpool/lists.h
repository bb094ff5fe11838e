/* The lists of scalars and of reducers that the C++ and the C interface share: preprocessor alone, for both languages.
 * `ROW(name, type)` is called for each row; the types are those of C++, which C does not expand. The order is part of
 * the binary interface: new rows go last. */
#ifndef NDPOOL_LISTS_H
#define NDPOOL_LISTS_H

/** Floats, which have derivatives. */
#define NDPOOL_FLOATS(ROW) \
  ROW(f32, float)          \
  ROW(f64, double)         \
  ROW(f16, ndpool::f16)    \
  ROW(bf16, ndpool::bf16)
/** The integers that have kernels of their own. */
#define NDPOOL_KERNEL_INTEGERS(ROW) \
  ROW(i8, std::int8_t)              \
  ROW(u8, std::uint8_t)             \
  ROW(i16, std::int16_t)            \
  ROW(u16, std::uint16_t)           \
  ROW(i32, std::int32_t)            \
  ROW(i64, std::int64_t)
/** All built-in integers, bool included. */
#define NDPOOL_INTEGERS(ROW)  \
  NDPOOL_KERNEL_INTEGERS(ROW) \
  ROW(u32, std::uint32_t)     \
  ROW(u64, std::uint64_t)     \
  ROW(boolean, bool)
/** All built-in scalars. One row here feeds declaration, dispatch, tests and benchmarks. */
#define NDPOOL_DTYPES(ROW) \
  NDPOOL_FLOATS(ROW)       \
  NDPOOL_INTEGERS(ROW)

/** All built-in reducers: their names, and their structs in `namespace reduction`. */
#define NDPOOL_REDUCERS(ROW) \
  ROW(max, Max)              \
  ROW(min, Min)              \
  ROW(sum, Sum)              \
  ROW(avg, Average)          \
  ROW(smooth_max, SmoothMax) \
  ROW(lp, Lp)

#endif
