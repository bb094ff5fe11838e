// What a node computes: a value and both derivatives, on packed arrays that a program provides.
#pragma once

#include <ndpool/extents.hpp>

#include <cstddef>
#include <span>

namespace ndpool::graph {

/// The arrays that all maps of a node see in one run. Values that the derivatives have not asked for (see
/// `reads_input`) may be gone when a derivative runs.
template <class T>
struct Arrays {
  std::span<const T* const> x;  ///< the values of the inputs
  T* y;                         ///< the value of the node; derivatives only read it
  std::byte* kept;              ///< what the forward map leaves to the derivatives; null where none follows
  /// Memory that one call may use; `scratch_elements()` numbers.
  T* scratch;
};

/// One operation with the shapes of its inputs fixed. Immutable, so threads may share it; maps allocate nothing.
template <class T>
class Operation {
 public:
  virtual ~Operation() = default;

  /// The word by which summaries and default names know it.
  virtual const char* kind() const = 0;

  /// y = f(x).
  virtual void forward(const Arrays<T>& arrays) const = 0;
  /// dy = (derivative) dx. An input whose tangent is zero has a null `dx`; at least one is not null.
  virtual void jvp(const Arrays<T>& arrays, std::span<const T* const> dx, T* dy) const = 0;
  /// gx = (derivative by input `slot`)^T gy. Overwrites gx.
  virtual void vjp(const Arrays<T>& arrays, const T* gy, int slot, T* gx) const = 0;

  /// True if the derivative by input `by` reads the value of input `slot`.
  virtual bool reads_input(int slot, int by) const = 0;
  /// True if the derivatives read the value of the node itself.
  virtual bool reads_output() const { return false; }
  /// Bytes that the forward map leaves to the derivatives.
  virtual Index kept_bytes() const { return 0; }
  /// Elements of scratch that a map needs.
  virtual Index scratch_elements() const { return 0; }
  /// True if a thread's first call of a map may allocate, as kernels do for the scratch that they keep per thread.
  virtual bool needs_rehearsal() const { return false; }
};

}  // namespace ndpool::graph
