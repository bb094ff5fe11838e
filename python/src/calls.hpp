// Calls of a function on tensors, remembered by value: the arguments, and the dtype, shape and strides of the tensors.
// Knows neither torch nor how tensors are read.
#pragma once

#include "tensor_maps.hpp"

#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ndpool::python {

/// The bytes of a call.
class CallKey {
 public:
  void add(const TensorRef& tensor) {
    push(std::int64_t{1} << 32 | static_cast<std::int64_t>(tensor.dtype) << 16 | tensor.rank);
    for (int a = 0; a < tensor.rank; ++a) push(tensor.shape[a]);
    for (int a = 0; a < tensor.rank; ++a) push(tensor.strides[a]);
  }
  /// False for what cannot be known by value. Lists are tuples to torch.
  bool add(PyObject* argument) {
    if (argument == Py_None) return push(tag_none);
    if (PyBool_Check(argument)) return push(argument == Py_True ? tag_true : tag_false);
    if (PyLong_CheckExact(argument)) {
      int overflow = 0;
      const std::int64_t value = PyLong_AsLongLongAndOverflow(argument, &overflow);
      return overflow == 0 && push(tag_int) && push(value);
    }
    if (PyFloat_CheckExact(argument))
      return push(tag_float) && push(std::bit_cast<std::int64_t>(PyFloat_AsDouble(argument)));
    if (PyTuple_Check(argument)) return add_entries<&PyTuple_GetItem>(argument, PyTuple_Size(argument));
    if (PyList_CheckExact(argument)) return add_entries<&PyList_GetItem>(argument, PyList_Size(argument));
    return false;
  }
  std::string_view bytes() const { return {reinterpret_cast<const char*>(values_), sizeof(values_[0]) * count_}; }
  bool fits() const { return count_ <= capacity; }

 private:
  static constexpr std::size_t capacity = 96;  // four tensors of rank 8 and 32 numbers; longer calls are not remembered
  enum Tag : std::int64_t { tag_none = 2, tag_true, tag_false, tag_int, tag_float, tag_list };

  bool push(std::int64_t value) {
    if (count_ >= capacity) {
      count_ = capacity + 1;
      return false;
    }
    values_[count_++] = value;
    return true;
  }
  template <PyObject* (*entry)(PyObject*, Py_ssize_t)>
  bool add_entries(PyObject* list, Py_ssize_t count) {
    if (!push(tag_list + (std::int64_t{count} << 32))) return false;
    for (Py_ssize_t i = 0; i < count; ++i)
      if (!add(entry(list, i))) return false;
    return true;
  }

  std::int64_t values_[capacity];
  std::size_t count_ = 0;
};

enum class CallKind : unsigned char { torch, linear, extreme, curved, unpool };

/// What is known of a call: the fields of Python's `Entry`, read once.
struct Call {
  CallKind kind = CallKind::torch;    ///< torch: torch's own function serves the call
  bool is_recorded_in_torch = false;  ///< what autograd records is torch's
  PyObject* pool = nullptr;
  std::vector<std::int64_t> shape, strides, recorded_strides;
  /// Of x and its gradient. No strides: row-major for a row-major gradient of y; for others Python has the rule.
  std::vector<std::int64_t> x_shape, gradient_strides;
  Dtype winners = Dtype::u8;
  PyObject* entry = nullptr;  ///< owned; owns the objects of its fields
  PyObject *shape_tuple = nullptr, *strides_tuple = nullptr;
  PyObject* backward = nullptr;  ///< backward(saved, gy): the gradient, differentiable

  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    if (entry == nullptr || Py_IsInitialized() == 0) return;
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(entry);
    PyGILState_Release(state);
  }
};

/// The calls of one function. Guarded by the GIL.
class CallCache {
 public:
  const std::shared_ptr<const Call>* find(const CallKey& key) const {
    const auto found = calls_.find(key.bytes());
    return found == calls_.end() ? nullptr : &found->second;
  }
  void insert(const CallKey& key, std::shared_ptr<const Call> call) {
    if (calls_.size() >= max_calls) calls_.clear();
    calls_.insert_or_assign(std::string(key.bytes()), std::move(call));
  }

 private:
  static constexpr std::size_t max_calls = 1024;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view bytes) const { return std::hash<std::string_view>()(bytes); }
  };
  std::unordered_map<std::string, std::shared_ptr<const Call>, Hash, std::equal_to<>> calls_;
};

}  // namespace ndpool::python
