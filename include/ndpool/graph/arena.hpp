// The memory of one run at a time.
#pragma once

#include <ndpool/graph/compiled.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <new>

namespace ndpool {

/// The memory that a program computes in, for one run at a time: threads that share a program have one each.
template <class T>
class Arena {
 public:
  /// Allocates what the largest run of the program needs.
  explicit Arena(std::shared_ptr<const graph::Compiled<T>> code)
      : code_(std::move(code)),
        values(code_->nodes.size()),
        derivatives(code_->nodes.size()),
        ports(2 * static_cast<std::size_t>(code_->most_inputs)) {
    const std::size_t element_bytes = static_cast<std::size_t>(code_->elements) * sizeof(T);
    memory_.reset(static_cast<std::byte*>(::operator new(bytes() + 1, alignment)));
    elements = reinterpret_cast<T*>(memory_.get());
    kept = memory_.get() + element_bytes;
    std::uninitialized_value_construct_n(kept, code_->bytes);
    std::uninitialized_value_construct_n(elements, code_->elements);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { std::destroy_n(elements, code_->elements); }

  /// Its size.
  std::size_t bytes() const { return code_->arena_bytes(); }
  /// True if an array lies here, as results do, and would be overwritten by the next run.
  bool holds(const T* array, Index count) const {
    const std::less<const T*> before;
    return count > 0 && before(array, elements + code_->elements) && before(elements, array + count);
  }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, alignment); }
  };
  struct Release {
    void operator()(std::atomic<bool>* is_running) const { is_running->store(false); }
  };

  std::shared_ptr<const graph::Compiled<T>> code_;
  std::unique_ptr<std::byte, Free> memory_;
  std::atomic<bool> is_running_ = false;

 public:
  /// The right to run, given back at the end of its life.
  using Lock = std::unique_ptr<std::atomic<bool>, Release>;
  /// The right to run; an error if another run has it.
  Lock lock() {
    if (is_running_.exchange(true))
      graph::fail(Code::overlap,
                  "the arena is in use by another run: threads, and runs inside a run, need an arena each");
    return Lock(&is_running_);
  }

  // For programs: the two regions, and where the arrays of the current run are, by node.
  /// The region of numbers.
  T* elements = nullptr;
  /// The region of what operations keep.
  std::byte* kept = nullptr;
  std::vector<const T*> values;       ///< the value of each node
  std::vector<const T*> derivatives;  ///< the tangent or gradient of each node
  std::vector<const T*> ports;        ///< of the node whose map is running: its inputs, then their tangents
  /// How many runs have started: results of earlier ones are gone. It ends with the arena, which results can see.
  const std::shared_ptr<std::uint64_t> runs = std::make_shared<std::uint64_t>(0);
  /// Identity of the program that it was made for.
  const void* program_code() const { return code_.get(); }
};

/// What a run has computed. The arrays lie in the arena: they last until its next run, or its end. Moving it copies it.
template <class T>
class Results {
 public:
  /// Results of the last run in an arena.
  Results(std::shared_ptr<const graph::Compiled<T>> code, const Arena<T>& arena, graph::Mode mode)
      : code_(std::move(code)), arena_(&arena), runs_(arena.runs), run_(*arena.runs), mode_(mode) {}
  /// Results of the same run; the arrays are not copied.
  Results(const Results&) = default;
  /// Becomes results of the other's run; the arrays are not copied.
  Results& operator=(const Results&) = default;
  ~Results() = default;

  /// The value of an output.
  std::span<const T> value(const Node& node) const {
    return find(node, &Arena<T>::values, code_->facts_of(node, "value").is_output, "value", "it is not an output");
  }
  /// The array of a node, which the next run in this arena overwrites. Throws if the program has none.
  std::span<const T> operator[](const Node& node) const { return value(node); }
  /// After jvp: the tangent of an output.
  std::span<const T> tangent(const Node& node) const {
    const graph::NodeFacts& facts = code_->facts_of(node, "tangent");
    return find(node, &Arena<T>::derivatives, mode_ == graph::Mode::jvp && facts.is_output && facts.is_active,
                "tangent", "only jvp makes tangents, of outputs that depend on an input or a parameter");
  }
  /// After vjp: the gradient of an input or a parameter.
  std::span<const T> gradient(const Node& node) const {
    const graph::NodeFacts& facts = code_->facts_of(node, "gradient");
    return find(node, &Arena<T>::derivatives, mode_ == graph::Mode::vjp && facts.is_leaf && facts.is_active, "gradient",
                "only vjp makes gradients, of inputs and parameters");
  }

 private:
  std::span<const T> find(const Node& node, std::vector<const T*> Arena<T>::*arrays, bool exists, const char* what,
                          const char* why) const {
    const int position = code_->position_of(node, what);
    const auto runs = runs_.lock();
    if (runs == nullptr || *runs != run_)
      graph::fail(Code::null_data, std::string(what) + " of node " + code_->describe(position) +
                                       ": these results are gone, because the program " +
                                       (runs == nullptr ? "or arena that held them is" : "has run again"));
    if (!exists)
      graph::fail(Code::index_out_of_range,
                  std::string("node ") + code_->describe(position) + " has no " + what + ": " + why);
    const auto at = static_cast<std::size_t>(position);
    return {(arena_->*arrays)[at], static_cast<std::size_t>(code_->facts[at].elements)};
  }
  std::shared_ptr<const graph::Compiled<T>> code_;
  const Arena<T>* arena_;
  std::weak_ptr<const std::uint64_t> runs_;
  std::uint64_t run_;
  graph::Mode mode_;
};

}  // namespace ndpool
