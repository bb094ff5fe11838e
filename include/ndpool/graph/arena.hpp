// The memory of one run at a time, and what callers pass in and get out.
#pragma once

#include <ndpool/graph/compiled.hpp>
#include <ndpool/typed.hpp>
#include <ndpool/view.hpp>

#include <initializer_list>
#include <memory>
#include <new>

namespace ndpool {

/// An array for a node: the value of an input, a tangent, or a gradient. It is read while the program runs.
template <class T>
class Bound {
 public:
  /// Any packed array with `data()` and `size()`; a typed tensor.
  template <class V, class Range>
  Bound(const V& node, const Range& array) : node_(node) {
    if constexpr (requires { typename Range::ShapeType; }) {
      if constexpr (requires { typename V::ShapeType; })
        static_assert(std::same_as<typename V::ShapeType, typename Range::ShapeType>,
                      "ndpool: the tensor must have the shape of the node it is given for");
      data_ = array.data;
    } else {
      data_ = array.data();
    }
    count_ = static_cast<Index>(array.size());
  }
  template <class V, class E>
  Bound(const V& node, const View<E>& array)
      : node_(node),
        data_(array.data()),
        count_(element_count(array.shape())),
        shape_(array.shape()),
        has_shape_(true) {
    require(check_view(View<const T>(array), array.shape(), Argument::x));
    if (!(array.strides() == packed_strides(array.shape())))
      graph::fail(Code::zero_stride, "an array for a program must be packed, but this view of " +
                                         graph::text(array.shape()) + " has other strides");
  }

  const Node& node() const { return node_; }
  const T* data() const { return data_; }
  Index count() const { return count_; }
  /// The shape of the array, if it has told one.
  const Shape* shape() const { return has_shape_ ? &shape_ : nullptr; }

 private:
  Node node_;
  const T* data_ = nullptr;
  Index count_ = 0;
  Shape shape_ = {};
  bool has_shape_ = false;
};

/// A list of them, written in braces: `{{image, pixels}, {labels, classes}}`. It points to what the caller wrote.
template <class T>
class Bindings {
 public:
  Bindings() = default;
  Bindings(std::initializer_list<Bound<T>> list) : all_(list.begin(), list.size()) {}
  Bindings(std::span<const Bound<T>> list) : all_(list) {}
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::span<const Bound<T>> all_ = {};
};

/// The memory that a program computes in, for one run at a time: threads that share a program have one each.
template <class T>
class Arena {
 public:
  explicit Arena(std::shared_ptr<const graph::Compiled<T>> code)
      : code_(std::move(code)),
        values(code_->nodes.size()),
        derivatives(code_->nodes.size()),
        ports(2 * static_cast<std::size_t>(code_->most_inputs)) {
    const std::size_t element_bytes = static_cast<std::size_t>(code_->elements) * sizeof(T);
    memory_ = static_cast<std::byte*>(::operator new(bytes() + 1, alignment));
    elements = reinterpret_cast<T*>(memory_);
    kept = memory_ + element_bytes;
    std::uninitialized_value_construct_n(elements, code_->elements);
    std::uninitialized_value_construct_n(kept, code_->bytes);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    std::destroy_n(elements, code_->elements);
    ::operator delete(memory_, alignment);
  }

  std::size_t bytes() const { return code_->arena_bytes(); }

 private:
  std::shared_ptr<const graph::Compiled<T>> code_;
  std::byte* memory_ = nullptr;
  static constexpr std::align_val_t alignment{64};

 public:
  // For programs: the two regions, and where the arrays of the current run are, by node.
  T* elements = nullptr;
  std::byte* kept = nullptr;
  std::vector<const T*> values, derivatives;
  std::vector<const T*> ports;  ///< of the node whose map is running: its inputs, then their tangents
  std::uint64_t runs = 0;       ///< how many have started: results of earlier ones are gone
  const void* program_code() const { return code_.get(); }
};

/// What a run has computed. The arrays lie in the arena: they last until its next run.
template <class T>
class Results {
 public:
  Results(const graph::Compiled<T>& code, const Arena<T>& arena, graph::Mode mode)
      : code_(&code), arena_(&arena), mode_(mode), run_(arena.runs) {}

  /// The value of an output.
  std::span<const T> value(const Node& node) const {
    return find(node, arena_->values, code_->facts_of(node, "value").is_output, "value", "it is not an output");
  }
  std::span<const T> operator[](const Node& node) const { return value(node); }
  /// After jvp: the tangent of an output.
  std::span<const T> tangent(const Node& node) const {
    const graph::NodeFacts& facts = code_->facts_of(node, "tangent");
    return find(node, arena_->derivatives, mode_ == graph::Mode::jvp && facts.is_output && facts.is_active, "tangent",
                "only jvp makes tangents, of outputs that depend on an input or a parameter");
  }
  /// After vjp: the gradient of an input or a parameter.
  std::span<const T> gradient(const Node& node) const {
    const graph::NodeFacts& facts = code_->facts_of(node, "gradient");
    return find(node, arena_->derivatives, mode_ == graph::Mode::vjp && facts.is_leaf && facts.is_active, "gradient",
                "only vjp makes gradients, of inputs and parameters");
  }

 private:
  std::span<const T> find(const Node& node, const std::vector<const T*>& arrays, bool exists, const char* what,
                          const char* why) const {
    const auto position = static_cast<std::size_t>(code_->position_of(node, what));
    if (run_ != arena_->runs)
      graph::fail(Code::null_data, std::string(what) + " of node " + code_->describe(static_cast<int>(position)) +
                                       ": these results are gone, because the program has run again");
    if (!exists)
      graph::fail(Code::index_out_of_range,
                  std::string("node ") + code_->describe(static_cast<int>(position)) + " has no " + what + ": " + why);
    return {arrays[position], static_cast<std::size_t>(code_->facts[position].elements)};
  }
  const graph::Compiled<T>* code_;
  const Arena<T>* arena_;
  graph::Mode mode_;
  std::uint64_t run_;
};

}  // namespace ndpool
