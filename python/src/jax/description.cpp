#include "description.hpp"

#include <cstdint>

namespace ndpool::python::jax {

namespace ffi = xla::ffi;

namespace {

template <class T>
void read(const ffi::Dictionary& attributes, const char* name, T& field) {
  if (!attributes.contains(name)) return;
  if (const auto value = attributes.get<T>(name); value.has_value()) field = *value;
}

void read(const ffi::Dictionary& attributes, const char* name, ndpool_list& field) {
  if (!attributes.contains(name)) return;
  const auto values = attributes.get<ffi::Span<const std::int64_t>>(name);
  if (values.has_value()) field = {values->begin(), static_cast<std::int64_t>(values->size())};
}

ndpool_pool read_pool(const ffi::Dictionary& attributes) {
  ndpool_pool pool = NDPOOL_POOL_INIT;
#define NDPOOL_FIELD(name) read(attributes, #name, pool.name)
  NDPOOL_FIELD(reducer);
  NDPOOL_FIELD(geometry);
  NDPOOL_FIELD(axes);
  NDPOOL_FIELD(kernel);
  NDPOOL_FIELD(stride);
  NDPOOL_FIELD(padding_before);
  NDPOOL_FIELD(padding_after);
  NDPOOL_FIELD(dilation);
  NDPOOL_FIELD(output_size);
  NDPOOL_FIELD(padding_rule);
  NDPOOL_FIELD(ceil_mode);
  NDPOOL_FIELD(keepdims);
  NDPOOL_FIELD(ties);
  NDPOOL_FIELD(nan);
  NDPOOL_FIELD(empty);
  NDPOOL_FIELD(rounding);
  NDPOOL_FIELD(pad_mode);
  NDPOOL_FIELD(exclude_padding);
  NDPOOL_FIELD(divisor);
  NDPOOL_FIELD(beta);
  NDPOOL_FIELD(p);
#undef NDPOOL_FIELD
  return pool;
}

}  // namespace

std::int32_t dtype_of(ffi::DataType type) {
  switch (type) {
    case ffi::DataType::F32: return ndpool_dtype_f32;
    case ffi::DataType::F64: return ndpool_dtype_f64;
    case ffi::DataType::F16: return ndpool_dtype_f16;
    case ffi::DataType::BF16: return ndpool_dtype_bf16;
    case ffi::DataType::S8: return ndpool_dtype_i8;
    case ffi::DataType::U8: return ndpool_dtype_u8;
    case ffi::DataType::S16: return ndpool_dtype_i16;
    case ffi::DataType::U16: return ndpool_dtype_u16;
    case ffi::DataType::S32: return ndpool_dtype_i32;
    case ffi::DataType::S64: return ndpool_dtype_i64;
    case ffi::DataType::U32: return ndpool_dtype_u32;
    case ffi::DataType::U64: return ndpool_dtype_u64;
    case ffi::DataType::PRED: return ndpool_dtype_boolean;
    default: return -1;
  }
}

OwnedPlan make_plan(const ffi::Dictionary& attributes, bool unpools, const ffi::AnyBuffer& input, ndpool_error& error) {
  ndpool_arrays arrays = NDPOOL_ARRAYS_INIT;
  arrays.dtype = dtype_of(input.element_type());
  arrays.rank = static_cast<std::int32_t>(input.dimensions().size());
  arrays.shape = input.dimensions().begin();
  ndpool_plan* plan = nullptr;
  if (unpools) {
    ndpool_unpool unpool = NDPOOL_UNPOOL_INIT;
    read(attributes, "output_size", unpool.output_size);
    read(attributes, "axes", unpool.axes);
    ndpool_unpool_plan_create(&unpool, &arrays, &plan, &error);
  } else {
    const ndpool_pool pool = read_pool(attributes);
    ndpool_plan_create(&pool, &arrays, nullptr, &plan, &error);
  }
  return OwnedPlan(plan);
}

}  // namespace ndpool::python::jax
