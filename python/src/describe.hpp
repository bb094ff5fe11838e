// Pools described by Python objects: what a caller writes becomes a Pool, once for each way to write it.
#pragma once

#include "plans.hpp"

#include <nanobind/nanobind.h>
#include <ndpool/ndpool.hpp>

#include <string>

namespace ndpool::python {

namespace nb = nanobind;

/// How Python made something: the name of the factory and its arguments, by which it can be made again.
struct Recipe {
  const char* factory;
  nb::tuple arguments;
  nb::dict options;
};

/// What Python holds: a pool, how to make it again, and the plans of its recent runs.
class Described {
 public:
  Described(const ndpool::Pool& pool, const std::string& key, const Recipe& recipe)
      : pool_(pool), key_(key), recipe_(recipe) {}

  const ndpool::Pool& pool() const { return pool_; }
  /// Bytes that are the same for equal parameters only.
  const std::string& key() const { return key_; }
  const Recipe& recipe() const { return recipe_; }
  PlanCache& plans() { return plans_; }

 private:
  ndpool::Pool pool_;
  std::string key_;
  Recipe recipe_;
  PlanCache plans_;
};

/// Unpooling and how to make it again.
struct DescribedUnpool {
  Adaptive size;
  Unpool unpool;
  Recipe recipe() const;
};

/// `options` holds those of the reducer; what it does not know is an error.
nb::object describe_window(nb::handle reducer, nb::handle kernel, nb::handle stride, nb::handle padding,
                           nb::handle dilation, nb::handle axes, nb::handle ceil_mode, nb::kwargs options);
nb::object describe_adaptive(nb::handle reducer, nb::handle output_size, nb::handle axes, nb::kwargs options);
nb::object describe_global(nb::handle reducer, nb::handle axes, nb::handle keepdims, nb::kwargs options);
/// The pool `whole` on a part of its geometry; equal parts are one pool, with one set of plans.
nb::object keep_part(nb::handle whole, const Geometry& part, nb::handle shape, const nb::tuple& outputs);
Adaptive describe_bins(nb::handle output_size, nb::handle axes);

/// A whole number: an int, or whatever Python takes for one. `what` says what the argument may be.
Index read_index(nb::handle object, const char* name, const char* what);
/// A tuple of ints, or one int for `count` entries.
Shape read_extents(nb::handle object, const char* name, int count);
nb::tuple to_tuple(const Shape& shape);

/// Lets go of the pools that are kept.
void forget_pools();

}  // namespace ndpool::python
