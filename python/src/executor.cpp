#include "executor.hpp"

#include "describe.hpp"

#include <nanobind/stl/string.h>

#include <atomic>
#include <string>

namespace ndpool::python {

namespace nb = nanobind;

namespace {

/// `automatic`: tensors of torch on the threads of torch, other arrays on ndpool's own.
enum class Choice : unsigned char { automatic, own, openmp };

std::atomic<Choice> choice{Choice::automatic};
/// torch.get_num_threads, if torch's threads are those of OpenMP. Never released: pools run until the process ends.
PyObject* torch_get_num_threads = nullptr;

void choose(nb::handle name) {
  const std::string text = nb::isinstance<nb::str>(name) ? nb::cast<std::string>(name) : "";
  if (text == "openmp")
    choice = Choice::openmp;
  else if (text == "own")
    choice = Choice::own;
  else if (text == "auto")
    choice = Choice::automatic;
  else if (nb::isinstance<nb::str>(name))
    throw nb::value_error(("executor '" + text + "' must be 'auto', 'own' or 'openmp'").c_str());
  else
    throw nb::type_error(("executor must be a string, not " + std::string(nb::inst_name(name).c_str())).c_str());
  set_executor(choice == Choice::openmp ? openmp_executor() : nullptr);
}

std::string chosen() {
  switch (choice) {
    case Choice::own: return "own";
    case Choice::openmp: return "openmp";
    default: return "auto";
  }
}

void use_torch_threads(nb::handle get_num_threads) {
  torch_get_num_threads = nb::object(nb::borrow(get_num_threads)).release().ptr();
}

nb::object on_torch_threads(nb::handle function, const nb::args& arguments) {
  const ScopedExecutor scope(tensor_executor());
  return function(*arguments);
}

nb::object with_threads(nb::handle count_object, nb::handle function, const nb::args& arguments) {
  const Index count = read_index(count_object, "threads", "an int");
  if (count < 1 || count > 1024)
    throw nb::value_error(("threads " + std::to_string(count) + " must be from 1 to 1024").c_str());
  const ScopedThreads scope(static_cast<int>(count));
  return function(*arguments);
}

}  // namespace

Executor* tensor_executor() {
  if (torch_get_num_threads == nullptr || choice != Choice::automatic) return nullptr;
  // What torch.set_num_threads has said reaches a thread when torch first runs on it.
  thread_local bool is_set = false;
  if (!is_set) {
    PyObject* count = PyObject_CallNoArgs(torch_get_num_threads);
    if (count == nullptr) throw nb::python_error();
    Py_DECREF(count);
    is_set = true;
  }
  return openmp_executor();
}

void add_executors(nb::module_& module) {
  openmp_executor();  // from here on it knows whether a process is a forked one
  module.def(
      "set_executor", &choose, nb::arg("name").none(),
      "Chooses the threads: 'own' are those of ndpool; 'openmp' those of the OpenMP runtime that the process has "
      "loaded; 'auto', the default, OpenMP's for tensors in ndpool.torch and ndpool's own for other arrays.");
  module.def("get_executor", &chosen, "What set_executor has chosen.");
  module.def("openmp_runtime", &openmp_runtime,
             "The file of the OpenMP runtime that serves 'openmp'; empty if ndpool's own threads do.");
  module.def(
      "openmp_threads", [] { return openmp_executor()->threads(); }, "How many threads 'openmp' has on this thread.");
  module.def("use_torch_threads", &use_torch_threads, nb::arg("get_num_threads"),
             "Tells that torch's threads are those of OpenMP.");
  module.def("with_threads", &with_threads,
             "function(*arguments), on at most so many of ndpool's own threads, whatever set_threads has said.");
  module.def("on_torch_threads", &on_torch_threads, "function(*arguments), on the threads of tensors.");
}

}  // namespace ndpool::python
