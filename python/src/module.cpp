// The compiled module `ndpool._core`: pools, their maps on arrays, threads and targets.
#include "executor.hpp"
#include "maps.hpp"
#include "parts.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace ndpool::python {

namespace {

/// Wrong scalars are Python's TypeErrors, everything else that is wrong a ValueError.
void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    const Code code = error.code();
    const bool is_type = code == Code::no_derivative || code == Code::no_order || code == Code::no_transcendentals;
    PyErr_SetString(is_type ? PyExc_TypeError : PyExc_ValueError, error.what());
  }
}

/// Python makes the thing again by the name of its factory: nanobind's own functions cannot be pickled.
nb::tuple reduce(const Recipe& recipe) {
  return nb::make_tuple(nb::module_::import_("ndpool._operators").attr("_make"),
                        nb::make_tuple(recipe.factory, recipe.arguments, recipe.options));
}

std::string repr(const Recipe& recipe) {
  std::string text = recipe.factory;
  const char* separator = "(";
  const auto add = [&](const std::string& argument) {
    text += separator + argument;
    separator = ", ";
  };
  for (nb::handle argument : recipe.arguments) add(nb::repr(argument).c_str());
  for (auto [name, value] : recipe.options) add(std::string(nb::str(name).c_str()) + "=" + nb::repr(value).c_str());
  return text + ")";
}

bool same(const Described& a, const Described& b) { return a.key() == b.key(); }
bool same(const DescribedUnpool& a, const DescribedUnpool& b) {
  return a.size.output_size == b.size.output_size && a.size.axes == b.size.axes;
}
Py_ssize_t hash(const Described& pool) { return static_cast<Py_ssize_t>(std::hash<std::string>()(pool.key()) >> 1); }
Py_ssize_t hash(const DescribedUnpool& unpool) { return nb::hash(unpool.recipe().arguments); }

/// The methods that Pool and Unpool share.
template <class Class, class RecipeOf>
void add_object_protocol(Class& type, RecipeOf recipe_of) {
  using Type = typename Class::Type;
  type.def(
          "__eq__",
          [recipe_of](const Type& a, nb::handle b) {
            Type* other = nullptr;
            return nb::try_cast<Type*>(b, other) && other != nullptr && same(a, *other);
          },
          nb::arg("other").none())
      .def("__hash__", [](const Type& value) { return hash(value); })
      .def("__reduce__", [recipe_of](const Type& value) { return reduce(recipe_of(value)); })
      .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, nb::arg("memo"))
      .def("__repr__", [recipe_of](const Type& value) { return repr(recipe_of(value)); });
}

void set_thread_count(nb::handle given) {
  const Index count = read_index(given, "threads", "an int");
  if (count < 1 || count > 1024)
    throw nb::value_error(("threads " + std::to_string(count) + " must be from 1 to 1024").c_str());
  const nb::gil_scoped_release release;
  set_threads(static_cast<int>(count));
}

}  // namespace

NB_MODULE(_core, module) {
  import_numpy();
  nb::set_leak_warnings(false);
  nb::register_exception_translator(translate);

  const auto required = [](const char* name) { return nb::arg(name).none(); };
  const auto optional = [](const char* name) { return nb::arg(name).none() = nb::none(); };
  nb::class_<Described> pool(module, "Pool",
                             "A pool: a geometry times a reducer. Immutable; equal parameters make equal pools.");
  pool.def_static("window", &describe_window, required("reducer"), required("kernel"), optional("stride"),
                  nb::arg("padding").none() = 0, nb::arg("dilation").none() = 1, optional("axes"),
                  nb::arg("ceil_mode").none() = false, nb::arg("options"), "A pool over sliding windows.")
      .def_static("adaptive", &describe_adaptive, required("reducer"), required("output_size"), optional("axes"),
                  nb::arg("options"), "A pool over bins of nearly equal length.")
      .def_static("global_", &describe_global, required("reducer"), optional("axes"),
                  nb::arg("keepdims").none() = false, nb::arg("options"), "A pool over whole axes.")
      .def(
          "output_shape",
          [](const Described& self, nb::handle shape) {
            return to_tuple(self.pool().output_shape(read_extents(shape, "shape", 1)));
          },
          required("shape"), "Shape of the result for an array of `shape`.")
      .def(
          "tap_count",
          [](const Described& self, nb::handle shape) {
            return self.pool().geometry(read_extents(shape, "shape", 1)).tap_count();
          },
          required("shape"), "Elements of the largest window on an array of `shape`: how many tap numbers there are.")
      .def("explain", &explain, required("shape"), required("dtype"), optional("strides"),
           "{map: (implementation, tiles, scratch bytes of each thread)} on arrays of `shape`; strides are bytes.")
      .def("forward", &forward, required("x"), optional("out"), optional("indices"),
           "y, written to `out` if it is given. With indices (True, or an array to write) the pair (y, indices).")
      .def("jvp", &jvp, required("x"), required("dx"), optional("out"), "dy, without y.")
      .def("vjp", &vjp, required("x"), required("gy"), optional("out"),
           "gx. Of sums and averages x may be its shape, a tuple: their derivative does not depend on it.")
      .def("beta_derivative", &beta_derivative, required("x"), optional("out"), "dy/dbeta of smooth max.")
      .def("jvp_from_indices", &jvp_from_indices, required("indices"), required("dx"), optional("out"),
           optional("shape"), "dy of max and min, from the indices of the winners.")
      .def("vjp_from_indices", &vjp_from_indices, required("indices"), required("gy"), optional("out"),
           optional("shape"), "gx of max and min, from the indices of the winners. Needs `out` or the shape of x.");
  add_parts(pool);
  add_partial(pool);
  add_object_protocol(pool, [](const Described& self) { return self.recipe(); });

  nb::class_<DescribedUnpool> unpool(module, "Unpool", "Max unpooling to a size.");
  unpool
      .def(
          "__init__",
          [](DescribedUnpool* self, nb::handle output_size, nb::handle axes) {
            const Adaptive size = describe_bins(output_size, axes);
            new (self) DescribedUnpool{size, Unpool(size)};
          },
          required("output_size"), optional("axes"))
      .def(
          "output_shape",
          [](const DescribedUnpool& self, nb::handle shape) {
            return to_tuple(self.unpool.output_shape(read_extents(shape, "shape", 1)));
          },
          required("shape"), "Shape of the result for values of `shape`.")
      .def(
          "forward",
          [](const DescribedUnpool& self, nb::handle y, nb::handle indices, nb::handle out) {
            return unpool_forward(self.unpool, y, indices, out);
          },
          required("y"), required("indices"), optional("out"), "x.")
      .def(
          "jvp",
          [](const DescribedUnpool& self, nb::handle dy, nb::handle indices, nb::handle out) {
            return unpool_jvp(self.unpool, dy, indices, out);
          },
          required("dy"), required("indices"), optional("out"), "dx.")
      .def(
          "vjp",
          [](const DescribedUnpool& self, nb::handle indices, nb::handle gx, nb::handle out) {
            return unpool_vjp(self.unpool, indices, gx, out);
          },
          required("indices"), required("gx"), optional("out"), "gy.");
  add_object_protocol(unpool, [](const DescribedUnpool& self) { return self.recipe(); });

  module.def("set_threads", &set_thread_count, required("count"),
             "Makes ndpool's own threads this many, the caller's included.");
  module.def("get_threads", &get_threads, "The number of ndpool's own threads, the caller's included.");
  add_executors(module);
  add_part_indices(module);
  module.def("targets", &targets, "Names of the instruction sets this machine can run kernels for, best first.");
  module.def("target", &target, "The instruction set in use.");
  module.def("require_no_mask", &require_no_mask, required("array"), required("name"),
             "Raises a TypeError for masked arrays and for sequences of them.");
  add_tensor_calls(module);
  module.attr("__version__") = NDPOOL_VERSION;
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&forget_pools));
}

}  // namespace ndpool::python
