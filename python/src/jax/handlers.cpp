#include "handlers.hpp"

#include "description.hpp"
#include "executor.hpp"
#include "indices.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace ndpool::python::jax {

namespace ffi = xla::ffi;

namespace {

/// What one call gets: its arrays, operands before results, and how to run.
struct Call {
  std::array<ffi::AnyBuffer, 3> arrays;
  const ndpool_plan* plan;
  const ndpool_run* run;
  ndpool_error* error;

  void* data(std::size_t i) const { return arrays[i].untyped_data(); }
};

/// A map: the number of its operands and results, which of its arrays are like the input and the result of the plan,
/// which holds indices, and the call of the library.
struct Map {
  const char* name;
  std::size_t operands;
  std::size_t results;
  std::size_t input;
  std::size_t output;
  std::size_t indices;  ///< `none` if there are none
  bool unpools;
  std::int32_t (*call)(const Call&);
};
constexpr std::size_t none = 3;

std::int32_t forward(const Call& c) { return ndpool_forward(c.plan, c.data(0), c.data(1), c.run, c.error); }

std::int32_t forward_with_indices(const Call& c) {
  Indices indices(c.arrays[2]);
  const std::int32_t code =
      ndpool_forward_with_indices(c.plan, c.data(0), c.data(1), indices.data(), indices.dtype(), c.run, c.error);
  if (code == ndpool_code_none) indices.narrow();
  return code;
}

std::int32_t jvp(const Call& c) { return ndpool_jvp(c.plan, c.data(0), c.data(1), c.data(2), c.run, c.error); }

std::int32_t vjp(const Call& c) { return ndpool_vjp(c.plan, c.data(0), c.data(1), c.data(2), c.run, c.error); }

std::int32_t spread(const Call& c) { return ndpool_vjp(c.plan, nullptr, c.data(0), c.data(1), c.run, c.error); }

std::int32_t gather(const Call& c) {
  Indices indices(c.arrays[0]);
  indices.widen();
  return ndpool_jvp_from_indices(c.plan, indices.data(), indices.dtype(), c.data(1), c.data(2), c.run, c.error);
}

std::int32_t scatter(const Call& c) {
  Indices indices(c.arrays[0]);
  indices.widen();
  return ndpool_vjp_from_indices(c.plan, indices.data(), indices.dtype(), c.data(1), c.data(2), c.run, c.error);
}

std::int32_t unpool(const Call& c) {
  Indices indices(c.arrays[0]);
  indices.widen();
  return ndpool_unpool_forward(c.plan, c.data(1), static_cast<const std::int64_t*>(indices.data()), c.data(2), c.run,
                               c.error);
}

std::int32_t unpool_vjp(const Call& c) {
  Indices indices(c.arrays[0]);
  indices.widen();
  return ndpool_unpool_vjp(c.plan, c.data(1), static_cast<const std::int64_t*>(indices.data()), c.data(2), c.run,
                           c.error);
}

constexpr std::array maps{
    Map{"forward", 1, 1, 0, 1, none, false, &forward},
    Map{"forward_with_indices", 1, 2, 0, 1, 2, false, &forward_with_indices},
    Map{"jvp", 2, 1, 0, 2, none, false, &jvp},
    Map{"vjp", 2, 1, 2, 1, none, false, &vjp},
    Map{"spread", 1, 1, 1, 0, none, false, &spread},
    Map{"gather", 2, 1, 1, 2, 0, false, &gather},
    Map{"scatter", 2, 1, 2, 1, 0, false, &scatter},
    Map{"unpool", 2, 1, 1, 2, 0, true, &unpool},
    Map{"unpool_vjp", 2, 1, 2, 1, 0, true, &unpool_vjp},
};

ffi::Error invalid(const Map& map, const std::string& what) {
  return ffi::Error::InvalidArgument(std::string("ndpool ") + map.name + ": " + what);
}

bool have_same_shape(const ffi::AnyBuffer& a, const ffi::AnyBuffer& b) {
  return std::ranges::equal(a.dimensions(), b.dimensions());
}

/// What is wrong with the arrays of a call, "" if nothing: the library believes pointers, so their sizes are compared
/// here.
std::string fault_of(const Map& map, const Call& call) {
  const ffi::AnyBuffer& input = call.arrays[map.input];
  const ffi::AnyBuffer& output = call.arrays[map.output];
  const std::size_t count = map.operands + map.results;
  for (std::size_t i = 0; i < count; ++i) {
    const ffi::AnyBuffer& array = call.arrays[i];
    if (i == map.indices) {
      if (!have_same_shape(array, map.unpools ? input : output)) return "indices have another shape than the values";
    } else if (array.element_type() != input.element_type()) {
      return "arrays of different dtypes";
    } else if (i != map.output && !have_same_shape(array, input) && !have_same_shape(array, output)) {
      return "an array of another shape";
    }
  }
  const std::int64_t* shape = ndpool_plan_output_shape(call.plan);
  const auto dimensions = output.dimensions();
  if (!std::equal(dimensions.begin(), dimensions.end(), shape, shape + ndpool_plan_output_rank(call.plan)))
    return "the result has another shape than that of the plan";
  return "";
}

ffi::Error run(const Map& map, const ffi::ThreadPool& threads, const ffi::RemainingArgs& operands,
               const ffi::RemainingRets& results, const ffi::Dictionary& attributes) {
  if (operands.size() != map.operands || results.size() != map.results) return invalid(map, "wrong number of arrays");
  const XLA_FFI_Buffer no_buffer{};
  const ffi::AnyBuffer absent(&no_buffer);
  ndpool_error error = NDPOOL_ERROR_INIT;
  ndpool_run how = NDPOOL_RUN_INIT;
  const XlaExecutor executor(threads);
  how.executor = executor.get();
  how.standard_floats = 1;  // XLA calls with subnormals flushed to zero
  Call call{{absent, absent, absent}, nullptr, &how, &error};
  for (std::size_t i = 0; i < map.operands; ++i) {
    const auto operand = operands.get<ffi::AnyBuffer>(i);
    if (!operand.has_value()) return operand.error();
    call.arrays[i] = *operand;
  }
  for (std::size_t i = 0; i < map.results; ++i) {
    auto result = results.get<ffi::AnyBuffer>(i);
    if (!result.has_value()) return result.error();
    call.arrays[map.operands + i] = **result;
  }
  const OwnedPlan plan = make_plan(attributes, map.unpools, call.arrays[map.input], error);
  if (plan == nullptr) return invalid(map, error.sentence);
  call.plan = plan.get();
  if (const std::string fault = fault_of(map, call); !fault.empty()) return invalid(map, fault);
  if (map.call(call) != ndpool_code_none) return invalid(map, error.sentence);
  return ffi::Error::Success();
}

template <std::size_t number>
XLA_FFI_Error* handle(XLA_FFI_CallFrame* frame) {
  static auto* handler = ffi::Ffi::Bind()
                             .Ctx<ffi::ThreadPool>()
                             .RemainingArgs()
                             .RemainingRets()
                             .Attrs()
                             .To([](ffi::ThreadPool threads, ffi::RemainingArgs operands, ffi::RemainingRets results,
                                    ffi::Dictionary attributes) noexcept {
                               try {
                                 return run(maps[number], threads, operands, results, attributes);
                               } catch (...) {  // of the standard library, where memory is missing: the text needs none
                                 return ffi::Error::Internal("out of memory");
                               }
                             })
                             .release();
  return handler->Call(frame);
}

template <std::size_t... numbers>
constexpr std::array<Handler, sizeof...(numbers)> list(std::index_sequence<numbers...>) {
  return {Handler{maps[numbers].name, &handle<numbers>}...};
}

}  // namespace

std::span<const Handler> handlers() {
  static constexpr auto all = list(std::make_index_sequence<maps.size()>());
  return all;
}

}  // namespace ndpool::python::jax
