#include "maps.hpp"

#include <string>

namespace ndpool::python {

namespace {

/// Strides in elements, from strides in bytes as NumPy has them; none, which are packed ones, from None.
Shape read_strides(nb::handle object, const Shape& shape, Scalar scalar) {
  if (object.is_none()) return {};
  Shape strides = read_extents(object, "strides", 1);
  if (strides.size() != shape.size()) raise({Code::wrong_count, Argument::strides, -1, {strides.size(), shape.size()}});
  for (int a = 0; a < strides.size() && a < max_rank; ++a) {
    if (strides[a] % item_size(scalar) != 0)
      throw nb::value_error(("strides has " + std::to_string(strides[a]) + " bytes, no multiple of the " +
                             std::to_string(item_size(scalar)) + " of " + dtype_name(scalar))
                                .c_str());
    strides[a] /= item_size(scalar);
  }
  return strides;
}

/// There is no x whose dtype is wrong.
template <class T>
Plan<T> make_plan(const ndpool::Pool& pool, const Shape& shape, const Shape& strides, Scalar scalar) {
  try {
    return pool.plan<T>(shape, strides);
  } catch (const Error& error) {
    if (error.code() != Code::no_transcendentals) throw;
    throw nb::type_error(
        (std::string("dtype ") + dtype_name(scalar) + " has no exp, log and pow, which this operator needs").c_str());
  }
}

}  // namespace

nb::dict explain(const Described& described, nb::handle shape_object, nb::handle dtype, nb::handle strides_object) {
  const Scalar scalar = read_scalar(dtype, "dtype");
  const Shape shape = read_extents(shape_object, "shape", 1);
  const Shape strides = read_strides(strides_object, shape, scalar);
  nb::dict result;
  with_dtype(scalar, [&]<class T>() {
    const Plan<T> plan = make_plan<T>(described.pool(), shape, strides, scalar);
    for (const MapKind map : plan.maps()) {
      const MapSummary summary = plan.summary(map);
      const std::string_view name = name_of(map), implementation = summary.implementation;
      result[nb::str(name.data(), name.size())] =
          nb::make_tuple(nb::str(implementation.data(), implementation.size()), summary.tiles, summary.scratch_bytes);
    }
  });
  return result;
}

}  // namespace ndpool::python
