// Plans of the C interface: made, asked, ended.
#include "c/plans.hpp"

#include "c/pool.hpp"

#include <ndpool/unpool.hpp>

using namespace ndpool;

namespace ndpool::c {

void refuse_map(std::string_view map, const char* reason) {
  throw Refusal(ndpool_code_no_such_map, "plan", "this plan has no map " + std::string(map) + ": " + reason);
}

namespace {

constexpr const char* of_another_kind = "it was made for another kind of pool, or for a result of another dtype";

MapKind read_map(std::int32_t map) { return read_enum(map, MapKind::unpool_vjp, "map"); }

/// Shape and strides; those of the result, whose axes are known later, are taken as they come.
ndpool_arrays read_struct_of_arrays(const ndpool_arrays& caller) {
  const ndpool_arrays given = read_struct<ndpool_arrays>(caller, NDPOOL_ARRAYS_INIT, sizeof(ndpool_arrays), "arrays");
  require_reserved(given.reserved);
  return given;
}

Shape read_shape(const ndpool_arrays& caller) {
  const ndpool_arrays given = read_struct_of_arrays(caller);
  if (given.rank < 0) refuse_value("rank", given.rank, 0, NDPOOL_MAX_RANK);
  return read_numbers(given.shape, given.rank, "shape");
}

PlanOptions read_options(const ndpool_plan_options* caller) {
  if (caller == nullptr) return {};
  const ndpool_plan_options given =
      read_struct<ndpool_plan_options>(*caller, NDPOOL_PLAN_OPTIONS_INIT, sizeof(ndpool_plan_options), "options");
  PlanOptions options;
  if (given.implementation != nullptr) options.implementation = given.implementation;
  return options;
}

}  // namespace

Arrays read_arrays(const ndpool_arrays& caller, const Shape& output_shape) {
  const ndpool_arrays given = read_struct_of_arrays(caller);
  Arrays arrays{.dtype = read_dtype(given.dtype, "dtype"),
                .result_dtype = {},
                .shape = read_shape(given),
                .strides = {},
                .result_strides = {}};
  arrays.result_dtype =
      given.result_dtype == NDPOOL_SAME_DTYPE ? arrays.dtype : read_dtype(given.result_dtype, "result_dtype");
  if (given.strides != nullptr) arrays.strides = Shape(given.strides, arrays.shape.size());
  if (given.result_strides != nullptr) arrays.result_strides = Shape(given.result_strides, output_shape.size());
  return arrays;
}

}  // namespace ndpool::c

using c::of_another_kind;
using c::refuse_map;

bool ndpool_plan::forward(const void*, void*, const ProgressCallback&) const { refuse_map("forward", of_another_kind); }
bool ndpool_plan::forward_with_indices(const void*, void*, void*, Dtype, const ProgressCallback&) const {
  refuse_map("forward_with_indices", of_another_kind);
}
bool ndpool_plan::jvp(const void*, const void*, void*, const ProgressCallback&) const {
  refuse_map("jvp", of_another_kind);
}
bool ndpool_plan::vjp(const void*, const void*, void*, const ProgressCallback&) const {
  refuse_map("vjp", of_another_kind);
}
bool ndpool_plan::jvp_from_indices(const void*, Dtype, const void*, void*, const ProgressCallback&) const {
  refuse_map("jvp_from_indices", of_another_kind);
}
bool ndpool_plan::vjp_from_indices(const void*, Dtype, const void*, void*, const ProgressCallback&) const {
  refuse_map("vjp_from_indices", of_another_kind);
}
bool ndpool_plan::beta_derivative(const void*, void*, const ProgressCallback&) const {
  refuse_map("beta_derivative", of_another_kind);
}
bool ndpool_plan::unpool(const void*, const std::int64_t*, void*, const ProgressCallback&) const {
  refuse_map("unpool", of_another_kind);
}
bool ndpool_plan::unpool_jvp(const void*, const std::int64_t*, void*, const ProgressCallback&) const {
  refuse_map("unpool_jvp", of_another_kind);
}
bool ndpool_plan::unpool_vjp(const void*, const std::int64_t*, void*, const ProgressCallback&) const {
  refuse_map("unpool_vjp", of_another_kind);
}

int32_t ndpool_output_shape(const ndpool_pool* pool, const int64_t* shape, int32_t rank, int64_t* output,
                            int32_t* output_rank, ndpool_error* error) {
  return c::guarded(error, [&] {
    const Pool described = c::read_pool(c::required(pool, "pool"));
    if (rank < 0) c::refuse_value("rank", rank, 0, NDPOOL_MAX_RANK);
    std::int32_t& its_rank = c::required(output_rank, "output_rank");
    const Shape result = described.output_shape(c::read_numbers(shape, rank, "shape"));
    if (!result.empty()) c::required(output, "output");
    for (int a = 0; a < result.size(); ++a) output[a] = result[a];
    its_rank = result.size();
  });
}

int32_t ndpool_plan_create(const ndpool_pool* pool, const ndpool_arrays* arrays, const ndpool_plan_options* options,
                           ndpool_plan** plan, ndpool_error* error) {
  return c::guarded(error, [&] {
    c::required(plan, "plan") = nullptr;
    const Pool described = c::read_pool(c::required(pool, "pool"));
    const Shape output_shape = described.output_shape(c::read_shape(c::required(arrays, "arrays")));
    const c::Arrays known = c::read_arrays(*arrays, output_shape);
    PlanOptions asked = c::read_options(options);
    asked.result_strides = known.result_strides;
    std::unique_ptr<ndpool_plan> made =
        known.result_dtype != known.dtype
            ? c::make_mixed_plan(described, known, asked)
            : with_dtype(known.dtype, [&]<class T>() { return c::make_pool_plan<T>(described, known, asked); });
    *plan = made.release();
  });
}

int32_t ndpool_unpool_plan_create(const ndpool_unpool* unpool, const ndpool_arrays* arrays, ndpool_plan** plan,
                                  ndpool_error* error) {
  return c::guarded(error, [&] {
    c::required(plan, "plan") = nullptr;
    const Adaptive size = c::read_unpool(c::required(unpool, "unpool"));
    const Shape output_shape = Unpool(size).output_shape(c::read_shape(c::required(arrays, "arrays")));
    *plan = c::make_unpool_plan(size, c::read_arrays(*arrays, output_shape)).release();
  });
}

void ndpool_plan_destroy(ndpool_plan* plan) { delete plan; }

int32_t ndpool_plan_output_rank(const ndpool_plan* plan) { return plan == nullptr ? -1 : plan->output_shape.size(); }
const int64_t* ndpool_plan_output_shape(const ndpool_plan* plan) {
  return plan == nullptr ? nullptr : plan->output_shape.begin();
}
int32_t ndpool_plan_compact_index_dtype(const ndpool_plan* plan) {
  return plan == nullptr ? -1 : plan->compact_index_dtype;
}

bool ndpool_plan_has(const ndpool_plan* plan, int32_t map) {
  return plan != nullptr && map >= 0 && map < map_kinds && plan->has(static_cast<MapKind>(map));
}

int32_t ndpool_plan_summary(const ndpool_plan* plan, int32_t map, ndpool_map_summary* summary, ndpool_error* error) {
  return c::guarded(error, [&] {
    const ndpool_plan& asked = c::required(plan, "plan");
    ndpool_map_summary& result = c::required(summary, "summary");
    static_cast<void>(
        c::read_struct<ndpool_map_summary>(result, NDPOOL_MAP_SUMMARY_INIT, sizeof(ndpool_map_summary), "summary"));
    const MapKind kind = c::read_map(map);
    if (!asked.has(kind)) refuse_map(name_of(kind), "derivatives are of floats, indices of max and min");
    const MapSummary found = asked.summary(kind);
    result.implementation = found.implementation.data();  // of a literal
    result.scratch_bytes = found.scratch_bytes;
    result.tiles = found.tiles;
  });
}

const char* ndpool_plan_implementation(const ndpool_plan* plan, int32_t map, int32_t number) {
  const char* name = nullptr;
  c::guarded(nullptr, [&] {
    if (!ndpool_plan_has(plan, map) || number < 0) return;
    const MapSummary found = plan->summary(static_cast<MapKind>(map));
    if (static_cast<std::size_t>(number) < found.implementations.size())
      name = found.implementations[static_cast<std::size_t>(number)].data();  // of a literal
  });
  return name;
}
