#include "describe.hpp"

#include <ndpool/words.hpp>

#include <bit>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace ndpool::python {

namespace {

[[noreturn]] void type_error(const std::string& text) { throw nb::type_error(text.c_str()); }
[[noreturn]] void value_error(const std::string& text) { throw nb::value_error(text.c_str()); }

std::string text_of(nb::handle object) { return nb::str(object).c_str(); }

bool is_number(nb::handle object) {
  return PyLong_Check(object.ptr()) || (PyIndex_Check(object.ptr()) && !PySequence_Check(object.ptr()));
}

constexpr const char* ints = "an int or a tuple of ints";

[[noreturn]] void wrong_type(nb::handle object, const char* name, const char* what) {
  type_error(std::string(name) + " must be " + what + ", not " + nb::inst_name(object).c_str());
}

/// Calls `f(entry)` for each entry of a sequence; what has no order, such as a set, is none.
template <class F>
void for_each_entry(nb::handle object, const char* name, const char* what, F f) {
  const bool is_text = PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()) || PyByteArray_Check(object.ptr());
  if (is_text || PySequence_Check(object.ptr()) == 0) wrong_type(object, name, what);
  PyObject* list = PySequence_Fast(object.ptr(), "");
  if (list == nullptr) {
    PyErr_Clear();
    wrong_type(object, name, what);
  }
  const nb::object keeps = nb::steal(list);
  const auto entry = PyTuple_Check(list) ? &PyTuple_GetItem : &PyList_GetItem;
  for (Py_ssize_t i = 0; i < PySequence_Size(list); ++i) f(nb::handle(entry(list, i)));
}

/// The bytes that tell pools apart.
class Key {
 public:
  void add(Index value) {
    if (count_ < capacity) values_[count_++] = value;
  }
  void add(double value) { add(std::bit_cast<Index>(value)); }
  void add(const Shape& shape) {
    add(Index{shape.size()});
    for (Index extent : shape) add(extent);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void add(Enum value) { add(static_cast<Index>(value)); }
  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(values_), sizeof(Index) * static_cast<std::size_t>(count_)};
  }

 private:
  // Lists beyond max_rank are cut short: a pool with one of them is an error for every array.
  static constexpr int capacity = 7 * max_rank + 32;
  int count_ = 0;
  Index values_[capacity];
};

/// One of a few words.
template <class Enum, std::size_t Count>
Enum read_word(nb::handle object, const char* name, const Word<Enum> (&words)[Count]) {
  if (PyUnicode_Check(object.ptr())) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
    if (text == nullptr) throw nb::python_error();
    for (const Word<Enum>& word : words)
      if (word.text == std::string_view(text, static_cast<std::size_t>(size))) return word.value;
  }
  std::string list = std::string(name) + " must be ";
  for (std::size_t i = 0; i < Count; ++i)
    list.append(i == 0 ? "" : i + 1 < Count ? ", " : " or ").append("'").append(words[i].text).append("'");
  list += ", not " + std::string(nb::repr(object).c_str());
  if (PyUnicode_Check(object.ptr())) value_error(list);
  type_error(list);
}
template <class Enum, std::size_t Count>
nb::str word_of(Enum value, const Word<Enum> (&words)[Count]) {
  for (const Word<Enum>& word : words)
    if (word.value == value) return nb::str(word.text.data(), word.text.size());
  __builtin_unreachable();
}

enum class Reducer : unsigned char { max, min, sum, avg, smooth_max, lp };
constexpr Word<Reducer> reducer_words[] = {{"max", Reducer::max},
                                           {"min", Reducer::min},
                                           {"sum", Reducer::sum},
                                           {"avg", Reducer::avg},
                                           {"smooth_max", Reducer::smooth_max},
                                           {"lp", Reducer::lp}};

/// The limited API knows no names of types with their modules.
bool is_numpy_bool(nb::handle object) {
  const nb::handle type = object.type();
  const nb::str module(type.attr("__module__")), name(type.attr("__name__"));
  return std::string_view(module.c_str()) == "numpy" && std::string_view(name.c_str()).starts_with("bool");
}

/// True or False, of Python or of NumPy, or one of their numbers; no other object has a truth that its caller means.
bool read_flag(nb::handle object, const char* name) {
  constexpr const char* what = "True or False";
  if (PyBool_Check(object.ptr())) return object.ptr() == Py_True;
  if (is_numpy_bool(object)) {
    const int truth = PyObject_IsTrue(object.ptr());
    if (truth < 0) throw nb::python_error();
    return truth != 0;
  }
  const Index number = read_index(object, name, what);
  if (number != 0 && number != 1) value_error(std::string(name) + " must be " + what + ", not " + text_of(object));
  return number == 1;
}

double read_real(nb::handle object, const char* name) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) {
    const bool is_no_number = PyErr_ExceptionMatches(PyExc_TypeError) != 0;
    PyErr_Clear();
    const std::string start = std::string(name) + " must be a number";
    if (is_no_number) type_error(start + ", not " + nb::inst_name(object).c_str());
    value_error(start + " that a float can hold");
  }
  return value;
}

/// The Python string of a literal, made once.
PyObject* interned(const char* literal) {
  static std::unordered_map<const char*, PyObject*> strings;
  PyObject*& string = strings[literal];
  if (string == nullptr) string = PyUnicode_InternFromString(literal);
  if (string == nullptr) throw nb::python_error();
  return string;
}

/// The options of a reducer in reading; what they say goes into the key.
class Reading {
 public:
  Reading(Index geometry, nb::handle reducer, nb::handle options)
      : options_(options), reducer_(read_word(reducer, "reducer", reducer_words)), reducer_object_(reducer) {
    key.add(geometry);
    key.add(reducer_);
  }
  Key key;

  Reducer reducer() const { return reducer_; }

  /// With `or_none` None stands for the standard too.
  template <class Enum, std::size_t Count>
  Enum word(const char* name, const Word<Enum> (&words)[Count], Enum standard, bool or_none = false) {
    const nb::handle given = find(name);
    const bool is_given = given.is_valid() && !(or_none && given.is_none());
    const Enum value = is_given ? read_word(given, name, words) : standard;
    key.add(value);
    return value;
  }
  double real(const char* name, double standard) {
    const nb::handle given = find(name);
    const double value = given.is_valid() ? read_real(given, name) : standard;
    key.add(value);
    return value;
  }
  bool flag(const char* name, bool standard) {
    const nb::handle given = find(name);
    const bool value = given.is_valid() ? read_flag(given, name) : standard;
    key.add(Index{value});
    return value;
  }
  Index divisor() {
    const nb::handle given = find("divisor");
    Index value = AverageOptions::no_divisor;
    if (given.is_valid() && !given.is_none()) {
      value = read_index(given, "divisor", "an int or None");
      if (value == AverageOptions::no_divisor) value_error("divisor " + text_of(given) + " does not fit in 64 bits");
    }
    key.add(value);
    return value;
  }
  /// Throws if there are options that nobody has asked for.
  void finish() const {
    if (found_ == PyDict_Size(options_.ptr())) return;
    type_error("one of the options " + text_of(nb::list(nb::borrow<nb::dict>(options_).keys())) + " is none of '" +
               text_of(reducer_object_) + "'");
  }

 private:
  nb::handle find(const char* name) {
    const nb::handle value = PyDict_GetItem(options_.ptr(), interned(name));
    if (value.is_valid()) ++found_;
    return value;
  }

  nb::handle options_;
  Reducer reducer_;
  nb::handle reducer_object_;
  Py_ssize_t found_ = 0;
};

/// The options of every reducer, of which each uses its own.
struct Options {
  ExtremeOptions extreme;
  AverageOptions average;
  SmoothMaxOptions smooth_max;
  double p = 2;
  LpOptions lp;
};

Options read_options(Reading& reading) {
  Options options;
  const auto read_ties = [&] { return reading.word("ties", ties_words, Ties::standard, true); };
  const auto read_empty = [&] { return reading.word("empty", empty_words, Empty::error); };
  switch (reading.reducer()) {
    case Reducer::max:
    case Reducer::min:
      options.extreme.ties = read_ties();
      options.extreme.nan = reading.word("nan", nan_words, Nan::propagate);
      options.extreme.empty = read_empty();
      break;
    case Reducer::sum: break;
    case Reducer::avg:
      options.average.count_include_pad = reading.flag("count_include_pad", true);
      options.average.divisor = reading.divisor();
      options.average.rounding = reading.word("rounding", rounding_words, Rounding::half_even);
      options.average.empty = read_empty();
      break;
    case Reducer::smooth_max:
      options.smooth_max.beta = reading.real("beta", 1);
      options.smooth_max.pad_mode = reading.word("pad_mode", pad_mode_words, PadMode::zero);
      options.smooth_max.empty = read_empty();
      break;
    case Reducer::lp:
      options.p = reading.real("p", 2);
      options.lp.ties = read_ties();
      options.lp.empty = read_empty();
      break;
  }
  reading.finish();
  return options;
}

/// `Families` has a function per reducer, made for one kind of geometry.
template <class Families, class Description>
ndpool::Pool make_pool(Reducer reducer, const Options& options, const Description& description) {
  switch (reducer) {
    case Reducer::max: return Families::max(description, options.extreme);
    case Reducer::min: return Families::min(description, options.extreme);
    case Reducer::sum: return Families::sum(description);
    case Reducer::avg: return Families::avg(description, options.average);
    case Reducer::smooth_max: return Families::smooth_max(description, options.smooth_max);
    case Reducer::lp: return Families::lp(options.p, description, options.lp);
  }
  __builtin_unreachable();
}

struct WindowFamilies {
  static constexpr auto& max = max_pool;
  static constexpr auto& min = min_pool;
  static constexpr auto& sum = sum_pool;
  static constexpr auto& avg = avg_pool;
  static constexpr auto& smooth_max = smooth_max_pool;
  static constexpr auto& lp = lp_pool;
};
struct AdaptiveFamilies {
  static constexpr auto& max = adaptive_max_pool;
  static constexpr auto& min = adaptive_min_pool;
  static constexpr auto& sum = adaptive_sum_pool;
  static constexpr auto& avg = adaptive_avg_pool;
  static constexpr auto& smooth_max = adaptive_smooth_max_pool;
  static constexpr auto& lp = adaptive_lp_pool;
};
struct GlobalFamilies {
  static constexpr auto& max = global_max_pool;
  static constexpr auto& min = global_min_pool;
  static constexpr auto& sum = global_sum_pool;
  static constexpr auto& avg = global_avg_pool;
  static constexpr auto& smooth_max = global_smooth_max_pool;
  static constexpr auto& lp = global_lp_pool;
};

/// A list given with no entries is no list left out.
void require_entries(const Shape& extents, nb::handle given, Argument argument, int expected) {
  if (extents.empty() && !given.is_none() && expected > 0) raise({Code::wrong_count, argument, -1, {0, expected}});
}

Shape read_axes(nb::handle axes) {
  if (axes.is_none()) return {};
  Shape result = read_extents(axes, "axes", 1);
  if (result.empty()) value_error("axes is empty and leaves no axis to pool; name one, or leave axes out");
  return result;
}

/// The main list of a geometry, with an entry for each pooled axis. One int stands for all axes that `axes` names.
Shape read_main(nb::handle object, const char* name, const Shape& axes) {
  if (is_number(object) && axes.empty())
    value_error(std::string(name) + ' ' + text_of(object) +
                " is one number, which needs axes to name the axes to pool; or give a tuple with an entry for each");
  return read_extents(object, name, axes.size());
}

Padding read_padding(nb::handle object, int count, Key& key) {
  if (PyUnicode_Check(object.ptr())) {
    const PaddingRule rule = read_word(object, "padding", padding_words);
    key.add(Index{-1});
    key.add(rule);
    return rule;
  }
  Padding padding;
  const auto push = [&](Pad pad) {
    padding.push_back(pad);
    key.add(pad.lo);
    key.add(pad.hi);
  };
  constexpr const char* what = "an int, a tuple of ints or of pairs, 'same', 'same_lower' or 'valid'";
  if (is_number(object)) {
    const Index both = read_index(object, "padding", what);
    for (int i = 0; i < count; ++i) push(both);
  } else {
    for_each_entry(object, "padding", what, [&](nb::handle entry) {
      if (is_number(entry)) return push(read_index(entry, "padding", what));
      Shape pair;
      for_each_entry(entry, "padding", what,
                     [&](nb::handle number) { pair.push_back(read_index(number, "padding", what)); });
      if (pair.size() != 2)
        value_error("padding has an entry with " + std::to_string(pair.size()) + " numbers; it must be one or a pair");
      push({pair[0], pair[1]});
    });
    if (padding.size() == 0 && count > 0) raise({Code::wrong_count, Argument::padding, -1, {0, count}});
  }
  key.add(Index{padding.size()});
  return padding;
}

nb::object padding_argument(const Padding& padding, nb::handle given) {
  if (PyUnicode_Check(given.ptr())) return nb::borrow(given);
  nb::list pairs;
  for (int i = 0; i < padding.size() && i < max_rank; ++i) pairs.append(nb::make_tuple(padding[i].lo, padding[i].hi));
  return nb::tuple(pairs);
}

nb::object extents_argument(const Shape& extents) {
  if (extents.empty()) return nb::none();
  return to_tuple(extents);
}

/// Pools by key: the same description always gives the same pool, and with it its plans.
using KeptPools = std::unordered_map<std::string, nb::object, BytesHash, std::equal_to<>>;
KeptPools& kept_pools() {
  static auto* pools = new KeptPools;  // not destroyed after the interpreter
  return *pools;
}

/// Takes over a new pool and keeps it under a key.
nb::object keep(const std::string& bytes, Described* described) {
  constexpr std::size_t most_pools = 1024;
  KeptPools& pools = kept_pools();
  if (pools.size() >= most_pools) pools.clear();
  nb::object made = nb::cast(described, nb::rv_policy::take_ownership);
  pools.emplace(bytes, made);
  return made;
}

/// The pool that is kept under the key, or a new one of `make_pool()` and `make_arguments()`.
template <class MakePool, class MakeArguments>
nb::object keep_pool(const Key& key, const char* factory, const nb::dict& options, MakePool make,
                     MakeArguments make_arguments) {
  KeptPools& pools = kept_pools();
  if (const auto found = pools.find(key.bytes()); found != pools.end()) return found->second;
  const std::string bytes(key.bytes());
  return keep(bytes, new Described(make(), bytes, {factory, make_arguments(), options}));
}

}  // namespace

Index read_index(nb::handle object, const char* name, const char* what) {
  PyObject* number = object.ptr();
  nb::object owned;
  if (!PyLong_Check(number)) {
    number = PyNumber_Index(number);
    if (number == nullptr) {
      PyErr_Clear();
      type_error(std::string(name) + " must be " + what + ", not " + nb::inst_name(object).c_str());
    }
    owned = nb::steal(number);
  }
  int overflow = 0;
  const Index value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow != 0) value_error(std::string(name) + ' ' + text_of(object) + " does not fit in 64 bits");
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

Shape read_extents(nb::handle object, const char* name, int count) {
  if (is_number(object)) return Shape::filled(count, read_index(object, name, ints));
  Shape extents;
  for_each_entry(object, name, ints, [&](nb::handle entry) { extents.push_back(read_index(entry, name, ints)); });
  return extents;
}

nb::tuple to_tuple(const Shape& shape) {
  PyObject* tuple = PyTuple_New(shape.end() - shape.begin());
  if (tuple == nullptr) throw nb::python_error();
  Py_ssize_t i = 0;
  for (Index extent : shape) PyTuple_SetItem(tuple, i++, PyLong_FromLongLong(extent));
  return nb::steal<nb::tuple>(tuple);
}

nb::object describe_window(nb::handle reducer, nb::handle kernel, nb::handle stride, nb::handle padding,
                           nb::handle dilation, nb::handle axes, nb::handle ceil_mode, nb::kwargs options) {
  Reading reading(0, reducer, options);
  Key& key = reading.key;
  Window window;
  window.axes = read_axes(axes);
  window.kernel = read_main(kernel, "kernel", window.axes);
  const int count = window.kernel.size();
  if (!stride.is_none()) window.stride = read_extents(stride, "stride", count);
  window.dilation = read_extents(dilation, "dilation", count);
  require_entries(window.stride, stride, Argument::stride, count);
  require_entries(window.dilation, dilation, Argument::dilation, count);
  window.padding = read_padding(padding, count, key);
  window.ceil_mode = read_flag(ceil_mode, "ceil_mode");
  key.add(Index{window.ceil_mode});
  for (const Shape* extents : {&window.axes, &window.kernel, &window.stride, &window.dilation}) key.add(*extents);
  const Options chosen = read_options(reading);
  const auto make = [&] { return make_pool<WindowFamilies>(reading.reducer(), chosen, window); };
  return keep_pool(key, "window", options, make, [&] {
    return nb::make_tuple(nb::borrow(reducer), to_tuple(window.kernel), extents_argument(window.stride),
                          padding_argument(window.padding, padding), to_tuple(window.dilation),
                          extents_argument(window.axes), window.ceil_mode);
  });
}

nb::object describe_adaptive(nb::handle reducer, nb::handle output_size, nb::handle axes, nb::kwargs options) {
  Reading reading(1, reducer, options);
  const Adaptive adaptive = describe_bins(output_size, axes);
  reading.key.add(adaptive.axes);
  reading.key.add(adaptive.output_size);
  const Options chosen = read_options(reading);
  const auto make = [&] { return make_pool<AdaptiveFamilies>(reading.reducer(), chosen, adaptive); };
  return keep_pool(reading.key, "adaptive", options, make, [&] {
    return nb::make_tuple(nb::borrow(reducer), to_tuple(adaptive.output_size), extents_argument(adaptive.axes));
  });
}

nb::object describe_global(nb::handle reducer, nb::handle axes, nb::handle keepdims, nb::kwargs options) {
  Reading reading(2, reducer, options);
  Global global;
  global.axes = read_axes(axes);
  global.keepdims = read_flag(keepdims, "keepdims");
  reading.key.add(Index{global.keepdims});
  reading.key.add(global.axes);
  const Options chosen = read_options(reading);
  const auto make = [&] { return make_pool<GlobalFamilies>(reading.reducer(), chosen, global); };
  return keep_pool(reading.key, "global_", options, make,
                   [&] { return nb::make_tuple(nb::borrow(reducer), extents_argument(global.axes), global.keepdims); });
}

Adaptive describe_bins(nb::handle output_size, nb::handle axes) {
  Adaptive adaptive;
  adaptive.axes = read_axes(axes);
  adaptive.output_size = read_main(output_size, "output_size", adaptive.axes);
  return adaptive;
}

nb::object keep_part(nb::handle whole, const Geometry& part, nb::handle shape, const nb::tuple& outputs) {
  const Described& described = nb::cast<const Described&>(whole);
  std::string bytes = described.key();
  const auto add = [&](auto... values) {
    for (const Index value : {Index{values}...}) bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  add(part.rank);
  for (int a = 0; a < part.rank; ++a) {
    const Axis& axis = part.axes[a];
    add(axis.input, axis.output, axis.kernel, axis.lo, axis.hi, axis.pattern.cells, axis.pattern.bins,
        axis.pattern.phase, part.cell_stride[a]);
  }
  KeptPools& pools = kept_pools();
  if (const auto found = pools.find(bytes); found != pools.end()) return found->second;
  const Recipe recipe{"_part", nb::make_tuple(whole, shape, outputs), nb::dict()};
  return keep(bytes, new Described(described.pool().over(part), bytes, recipe));
}

Recipe DescribedUnpool::recipe() const {
  return {"Unpool", nb::make_tuple(to_tuple(size.output_size), extents_argument(size.axes)), nb::dict()};
}

void forget_pools() { kept_pools().clear(); }

}  // namespace ndpool::python
