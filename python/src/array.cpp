#include "array.hpp"

#include "describe.hpp"
#include "dlpack.hpp"
#include "limited_api.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <array>
#include <string>
#include <vector>

namespace ndpool::python {

namespace {

constexpr int scalar_count = static_cast<int>(Scalar::boolean) + 1;

struct ScalarRow {
  const char* name;
  int size;
  int numpy_type;  ///< -1: only known when ml_dtypes is imported
};
constexpr ScalarRow rows[scalar_count] = {
    {"float32", 4, NPY_FLOAT32}, {"float64", 8, NPY_FLOAT64}, {"float16", 2, NPY_FLOAT16}, {"bfloat16", 2, -1},
    {"int8", 1, NPY_INT8},       {"uint8", 1, NPY_UINT8},     {"int16", 2, NPY_INT16},     {"uint16", 2, NPY_UINT16},
    {"int32", 4, NPY_INT32},     {"int64", 8, NPY_INT64},     {"uint32", 4, NPY_UINT32},   {"uint64", 8, NPY_UINT64},
    {"bool", 1, NPY_BOOL},
};

/// One descriptor per scalar, made when it is first needed and kept.
std::array<PyArray_Descr*, scalar_count> descriptors{};

[[noreturn]] void type_error(const std::string& text) { throw nb::type_error(text.c_str()); }
[[noreturn]] void value_error(const std::string& text) { throw nb::value_error(text.c_str()); }

/// NumPy learns of bfloat16 from ml_dtypes. Null if that is not installed.
PyArray_Descr* bfloat16_descriptor() {
  PyArray_Descr*& descriptor = descriptors[static_cast<int>(Scalar::bf16)];
  if (descriptor != nullptr) return descriptor;
  PyObject* module = PyImport_ImportModule("ml_dtypes");
  if (module == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  const nb::object type = nb::steal(module).attr("bfloat16");
  if (PyArray_DescrConverter(type.ptr(), &descriptor) != NPY_SUCCEED) throw nb::python_error();
  return descriptor;
}

PyArray_Descr* descriptor_of(Scalar scalar) {
  PyArray_Descr*& descriptor = descriptors[static_cast<int>(scalar)];
  if (descriptor != nullptr) return descriptor;
  if (scalar == Scalar::bf16) {
    if (bfloat16_descriptor() == nullptr) type_error("bfloat16 arrays of NumPy need the package ml_dtypes");
    return descriptor;
  }
  descriptor = PyArray_DescrFromType(rows[static_cast<int>(scalar)].numpy_type);
  return descriptor;
}

/// The scalar of a NumPy type number, -1 if there is none. By kind and size: NumPy has several numbers for one scalar.
int scalar_of_numpy(int type) {
  switch (type) {
    case NPY_FLOAT: return static_cast<int>(Scalar::f32);
    case NPY_DOUBLE: return static_cast<int>(Scalar::f64);
    case NPY_HALF: return static_cast<int>(Scalar::f16);
    case NPY_BYTE: return static_cast<int>(Scalar::i8);
    case NPY_UBYTE: return static_cast<int>(Scalar::u8);
    case NPY_SHORT: return static_cast<int>(Scalar::i16);
    case NPY_USHORT: return static_cast<int>(Scalar::u16);
    case NPY_INT: return static_cast<int>(Scalar::i32);
    case NPY_UINT: return static_cast<int>(Scalar::u32);
    case NPY_LONG: return static_cast<int>(sizeof(long) == 8 ? Scalar::i64 : Scalar::i32);
    case NPY_ULONG: return static_cast<int>(sizeof(long) == 8 ? Scalar::u64 : Scalar::u32);
    case NPY_LONGLONG: return static_cast<int>(Scalar::i64);
    case NPY_ULONGLONG: return static_cast<int>(Scalar::u64);
    case NPY_BOOL: return static_cast<int>(Scalar::boolean);
    default: break;
  }
  if (type >= NPY_USERDEF)
    if (const PyArray_Descr* bfloat16 = bfloat16_descriptor(); bfloat16 != nullptr && bfloat16->type_num == type)
      return static_cast<int>(Scalar::bf16);
  return -1;
}

std::string dtype_text(PyArrayObject* array) {
  return nb::str(nb::handle(reinterpret_cast<PyObject*>(PyArray_DESCR(array)))).c_str();
}

[[noreturn]] void reject_dtype(const char* name, const std::string& dtype) {
  type_error(std::string(name) + " has dtype " + dtype +
             ", which cannot be pooled; floats of 16, 32 and 64 bits, integers and bool can");
}

/// A deque or a class of somebody's, which NumPy reads entry by entry; no text, and nothing that is an array itself.
bool is_other_sequence(nb::handle object) {
  return PySequence_Check(object.ptr()) && !PyArray_Check(object.ptr()) && !PyUnicode_Check(object.ptr()) &&
         !PyRange_Check(object.ptr()) && !PyObject_CheckBuffer(object.ptr()) && !nb::hasattr(object, "__array__");
}

/// True for masked arrays, and for sequences that hold one, of which NumPy would drop the masks without a word.
bool has_mask(nb::handle object, int depth = 0) {
  constexpr int max_depth = 64;  // NumPy looks no deeper either: a list can hold itself
  const bool is_list = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
  if (is_list || is_other_sequence(object)) {
    if (depth == max_depth) return false;
    const nb::object entries = nb::steal(PySequence_Fast(object.ptr(), ""));
    if (!entries.is_valid()) {
      PyErr_Clear();  // NumPy will say what is wrong
      return false;
    }
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(entries.ptr()); ++i)
      if (has_mask(PySequence_Fast_GET_ITEM(entries.ptr(), i), depth + 1)) return true;
    return false;
  }
  if (!PyArray_Check(object.ptr()) || PyArray_CheckExact(object.ptr())) return false;
  static PyObject* const masked = nb::object(nb::module_::import_("numpy.ma").attr("MaskedArray")).release().ptr();
  return PyObject_IsInstance(object.ptr(), masked) == 1;
}

}  // namespace

void require_no_mask(nb::handle object, const char* name) {
  if (has_mask(object))
    type_error(std::string(name) +
               " is a masked array, and pools know no mask; fill the masked elements first, with .filled(value)");
}

namespace {

Array from_numpy(PyObject* object, const char* name) {
  require_no_mask(object, name);
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  const int scalar = scalar_of_numpy(PyArray_TYPE(array));
  if (scalar < 0) reject_dtype(name, dtype_text(array));
  if (PyArray_ISBYTESWAPPED(array))
    type_error(std::string(name) + " has dtype " + dtype_text(array) +
               ", whose bytes are not in the order of this machine");
  if (!PyArray_ISALIGNED(array))
    value_error(std::string(name) +
                " is not aligned: its address or a stride is no multiple of the size of its elements; copy it first");
  static_assert(sizeof(npy_intp) == sizeof(std::int64_t));
  Array result;
  result.data = PyArray_DATA(array);
  result.scalar = static_cast<Scalar>(scalar);
  result.writable = PyArray_ISWRITEABLE(array);
  result.strides_in_bytes = true;
  result.rank = PyArray_NDIM(array);
  result.extents = reinterpret_cast<const std::int64_t*>(PyArray_DIMS(array));
  result.strides = reinterpret_cast<const std::int64_t*>(PyArray_STRIDES(array));
  result.owner = nb::borrow(object);
  return result;
}

Scalar scalar_of_dlpack(const dlpack::DataType& type, const char* name) {
  const auto is = [&](dlpack::Code code, int bits) {
    return type.code == code && type.bits == bits && type.lanes == 1;
  };
  if (is(dlpack::real, 32)) return Scalar::f32;
  if (is(dlpack::real, 64)) return Scalar::f64;
  if (is(dlpack::real, 16)) return Scalar::f16;
  if (is(dlpack::brain_real, 16)) return Scalar::bf16;
  if (is(dlpack::signed_integer, 8)) return Scalar::i8;
  if (is(dlpack::signed_integer, 16)) return Scalar::i16;
  if (is(dlpack::signed_integer, 32)) return Scalar::i32;
  if (is(dlpack::signed_integer, 64)) return Scalar::i64;
  if (is(dlpack::unsigned_integer, 8)) return Scalar::u8;
  if (is(dlpack::unsigned_integer, 16)) return Scalar::u16;
  if (is(dlpack::unsigned_integer, 32)) return Scalar::u32;
  if (is(dlpack::unsigned_integer, 64)) return Scalar::u64;
  if (is(dlpack::boolean, 8)) return Scalar::boolean;
  reject_dtype(name, "of DLPack code " + std::to_string(type.code) + " with " + std::to_string(type.bits) + " bits");
}

Array from_tensor(const dlpack::Tensor& tensor, bool writable, nb::object owner, const char* name) {
  const dlpack::Device& device = tensor.device;
  if (device.type != dlpack::cpu && device.type != dlpack::cuda_host && device.type != dlpack::rocm_host)
    value_error(std::string(name) + " is on another device (DLPack type " + std::to_string(device.type) +
                "); ndpool pools arrays in the memory of the CPU");
  Array result;
  result.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  result.scalar = scalar_of_dlpack(tensor.type, name);
  result.writable = writable;
  result.rank = tensor.rank;
  result.extents = tensor.shape;
  result.strides = tensor.strides;
  result.owner = std::move(owner);
  if (reinterpret_cast<std::uintptr_t>(result.data) % static_cast<unsigned>(item_size(result.scalar)) != 0)
    value_error(std::string(name) + " is not aligned: its address is no multiple of the size of its elements");
  return result;
}

/// How the arrays of a type are read.
struct ArrayType {
  PyTypeObject* type;
  const dlpack::Exchange* exchange;  ///< null if it has no exchange functions
  bool has_lazy_signs;               ///< torch's views of negated tensors, whose memory has the other sign
};

/// Types are few and live long, so they are remembered.
ArrayType array_type(PyTypeObject* type) {
  static std::vector<ArrayType> known;
  for (const ArrayType& entry : known)
    if (entry.type == type) return entry;
  const dlpack::Exchange* exchange = nullptr;
  const nb::handle type_object(reinterpret_cast<PyObject*>(type));
  if (const nb::object capsule = nb::getattr(type_object, "__dlpack_c_exchange_api__", nb::none());
      PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) {
    exchange = static_cast<const dlpack::Exchange*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (exchange->header.version.major != 1) exchange = nullptr;
  }
  const ArrayType found{type, exchange, exchange != nullptr && nb::hasattr(type_object, "is_neg")};
  if (exchange == nullptr && !nb::hasattr(type_object, "__dlpack__")) return found;
  Py_INCREF(reinterpret_cast<PyObject*>(type));  // so that its address stays its own
  known.push_back(found);
  return found;
}

void require_own_signs(nb::handle object, const char* name) {
  static PyObject* const is_neg = PyUnicode_InternFromString("is_neg");
  const nb::object answer = nb::steal(call_method(object.ptr(), is_neg));
  if (!answer.is_valid()) throw nb::python_error();
  if (answer.ptr() == Py_True)
    value_error(std::string(name) + " is a negated view whose memory has the other sign; call resolve_neg() on it");
}

Array from_capsule(const nb::object& capsule, const char* name) {
  // The capsule is not taken over: it frees the array when it goes itself.
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    const auto* managed =
        static_cast<const dlpack::ManagedVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (managed->version.major != 1) value_error(std::string(name) + " speaks a version of DLPack other than 1");
    return from_tensor(managed->tensor, (managed->flags & dlpack::read_only) == 0, capsule, name);
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor"))
    return from_tensor(static_cast<const dlpack::Managed*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"))->tensor,
                       true, capsule, name);
  type_error(std::string(name) + " gives no DLPack capsule");
}

nb::object dlpack_capsule(nb::handle object) {
  const nb::object method = object.attr("__dlpack__");
  try {
    return method(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    return method();  // from before versions
  }
}

/// True if `object` is an array, which is then in `array`.
bool find_array(nb::handle object, const char* name, Array& array) {
  if (PyArray_Check(object.ptr())) {
    array = from_numpy(object.ptr(), name);
    return true;
  }
  if (const ArrayType type = array_type(Py_TYPE(object.ptr())); type.exchange != nullptr) {
    if (type.has_lazy_signs) require_own_signs(object, name);
    dlpack::Tensor tensor;
    if (type.exchange->tensor_from_object(object.ptr(), &tensor) != 0) throw nb::python_error();
    array = from_tensor(tensor, true, nb::borrow(object), name);
    return true;
  }
  if (nb::hasattr(object, "__dlpack__")) {
    array = from_capsule(dlpack_capsule(object), name);
    return true;
  }
  return false;
}

/// NumPy's complaints about a number that does not fit are no ValueErrors.
[[noreturn]] void raise_unreadable(const char* name) {
  nb::python_error error;
  if (error.matches(PyExc_OverflowError) || error.matches(PyExc_Warning))
    value_error(std::string(name) + " cannot be made an array: " + nb::str(error.value()).c_str());
  throw error;
}

/// Numbers of a list as another scalar. Integers stay what they are: none is made of a fraction or a larger one.
nb::object convert(const nb::object& numbers, Scalar to, const char* name) {
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(numbers.ptr());
  PyArray_Descr* descriptor = descriptor_of(to);
  const NPY_CASTING casting = PyDataType_ISINTEGER(descriptor) ? NPY_SAFE_CASTING : NPY_SAME_KIND_CASTING;
  if (PyArray_SIZE(array) > 0 && PyArray_CanCastArrayTo(array, descriptor, casting) == 0)
    type_error(std::string(name) + " has dtype " + dtype_text(array) + "; expected " + dtype_name(to));
  Py_INCREF(reinterpret_cast<PyObject*>(descriptor));
  PyObject* made = PyArray_FromArray(array, descriptor, NPY_ARRAY_DEFAULT | NPY_ARRAY_FORCECAST);
  if (made == nullptr) raise_unreadable(name);
  return nb::steal(made);
}

}  // namespace

const char* dtype_name(Scalar scalar) { return rows[static_cast<int>(scalar)].name; }

Shape Array::element_strides() const {
  if (strides == nullptr) return packed_strides(shape());
  Shape result(strides, rank);
  if (strides_in_bytes)
    for (int a = 0; a < rank && a < max_rank; ++a) result[a] /= item_size(scalar);
  return result;
}

Index Array::size() const {
  Index size = 1;
  for (int a = 0; a < rank; ++a) size *= extents[a];
  return size;
}

detail::ByteRange Array::bytes() const {
  Shape extents_of_bytes = shape(), strides_of_bytes = element_strides();
  for (int a = 0; a < rank && a < max_rank; ++a) strides_of_bytes[a] *= item_size(scalar);
  extents_of_bytes.push_back(item_size(scalar));
  strides_of_bytes.push_back(1);
  if (extents_of_bytes.size() > max_rank) return {0, UINTPTR_MAX};  // no room to say it: the checked way will
  return detail::byte_range(View<char>(static_cast<char*>(data), extents_of_bytes, strides_of_bytes));
}

Array read_array(nb::handle object, const char* name, const Scalar* like) {
  Array array;
  if (find_array(object, name, array)) return array;
  require_no_mask(object, name);
  PyObject* made = PyArray_FromAny(object.ptr(), nullptr, 0, 0, NPY_ARRAY_DEFAULT, nullptr);
  if (made == nullptr) raise_unreadable(name);
  nb::object numbers = nb::steal(made);
  if (like != nullptr) numbers = convert(numbers, *like, name);
  return from_numpy(numbers.ptr(), name);
}

bool read_plain(nb::handle object, Array& array) {
  const ArrayType type = array_type(Py_TYPE(object.ptr()));
  if (type.exchange == nullptr) return false;
  dlpack::Tensor tensor;
  if (type.exchange->tensor_from_object(object.ptr(), &tensor) != 0) {
    PyErr_Clear();
    return false;
  }
  if (tensor.device.type != dlpack::cpu) return false;
  try {
    array = from_tensor(tensor, true, {}, "x");
    return true;
  } catch (const nb::builtin_exception&) {  // a dtype that is not pooled, or memory that is not aligned
    return false;
  }
}

Array write_array(nb::handle object, const char* name) {
  Array array;
  if (!find_array(object, name, array))
    type_error(std::string(name) + " must be an array, not " + nb::inst_name(object).c_str());
  if (!array.writable) value_error(std::string(name) + " is read-only");
  return array;
}

Scalar read_scalar(nb::handle object, const char* name) {
  if (PyUnicode_Check(object.ptr()) && PyUnicode_CompareWithASCIIString(object.ptr(), "bfloat16") == 0)
    return Scalar::bf16;  // which NumPy only knows once ml_dtypes is imported
  PyArray_Descr* descriptor = nullptr;
  // NumPy would take None for float64.
  if (object.is_none() || PyArray_DescrConverter(object.ptr(), &descriptor) != NPY_SUCCEED) {
    PyErr_Clear();
    type_error(std::string(name) + " must be a dtype, such as 'f4', not " + nb::repr(object).c_str());
  }
  const nb::object owner = nb::steal(reinterpret_cast<PyObject*>(descriptor));
  const int scalar = scalar_of_numpy(descriptor->type_num);
  const std::string text = nb::str(owner).c_str();
  if (scalar < 0) reject_dtype(name, text);
  if (PyArray_ISNBO(descriptor->byteorder) == 0)
    type_error(std::string(name) + " has dtype " + text + ", whose bytes are not in the order of this machine");
  return static_cast<Scalar>(scalar);
}

Array new_array(const Shape& shape, Scalar scalar) {
  PyArray_Descr* descriptor = descriptor_of(scalar);
  Index bytes = element_count(shape);
  if (bytes < 0 || __builtin_mul_overflow(bytes, Index{item_size(scalar)}, &bytes))
    value_error("the result would have the shape " + std::string(nb::str(to_tuple(shape)).c_str()) +
                ", with more bytes than fit in 64 bits");
  Py_INCREF(reinterpret_cast<PyObject*>(descriptor));
  PyObject* object =
      PyArray_NewFromDescr(&PyArray_Type, descriptor, shape.size(), reinterpret_cast<const npy_intp*>(shape.begin()),
                           nullptr, nullptr, 0, nullptr);
  if (object == nullptr) throw nb::python_error();
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  Array result;
  result.data = PyArray_DATA(array);
  result.scalar = scalar;
  result.writable = true;
  result.is_new = true;
  result.strides_in_bytes = true;
  result.rank = shape.size();
  result.extents = reinterpret_cast<const std::int64_t*>(PyArray_DIMS(array));
  result.strides = reinterpret_cast<const std::int64_t*>(PyArray_STRIDES(array));
  result.owner = nb::steal(object);
  return result;
}

void require_scalar(const Array& array, const char* name, Scalar scalar, const char* other) {
  if (array.scalar == scalar) return;
  type_error(std::string(name) + " has dtype " + dtype_name(array.scalar) + "; expected " + dtype_name(scalar) +
             ", that of " + other);
}

void import_numpy() {
  if (_import_array() < 0) throw nb::python_error();
}

}  // namespace ndpool::python
