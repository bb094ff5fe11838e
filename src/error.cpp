#include <ndpool/error.hpp>

#include <sstream>

namespace ndpool {

namespace {

const char* name(Argument argument) {
  switch (argument) {
    case Argument::none: return "argument";
    case Argument::shape: return "shape";
    case Argument::kernel: return "kernel";
    case Argument::stride: return "stride";
    case Argument::padding: return "padding";
    case Argument::dilation: return "dilation";
    case Argument::axes: return "axes";
    case Argument::output_size: return "output_size";
    case Argument::divisor: return "divisor";
    case Argument::beta: return "beta";
    case Argument::p: return "p";
    case Argument::ties: return "ties";
    case Argument::empty: return "empty";
    case Argument::x: return "x";
    case Argument::y: return "y";
    case Argument::dx: return "dx";
    case Argument::dy: return "dy";
    case Argument::gy: return "gy";
    case Argument::gx: return "gx";
    case Argument::indices: return "indices";
    case Argument::taps: return "taps";
    case Argument::strides: return "strides";
    case Argument::out: return "out";
    case Argument::grad_out: return "grad_out";
  }
  return "argument";
}

/// The argument, its value if it has one, and the axis: `kernel 0 on axis 1`.
class Subject {
 public:
  explicit Subject(const Fault& fault) : fault_(fault) {}
  friend std::ostream& operator<<(std::ostream& out, const Subject& subject) {
    out << name(subject.fault_.argument) << ' ' << subject.fault_.values[0];
    if (subject.fault_.axis >= 0) out << " on axis " << subject.fault_.axis;
    return out;
  }

 private:
  const Fault& fault_;
};

struct Count {
  Index number;
  const char* one;
  const char* many;
  friend std::ostream& operator<<(std::ostream& out, const Count& count) {
    return out << count.number << ' ' << (count.number == 1 ? count.one : count.many);
  }
};

}  // namespace

std::string message(const Fault& fault) {
  const Index* v = fault.values;
  const char* argument = name(fault.argument);
  std::ostringstream out;
  switch (fault.code) {
    case Code::none: out << "nothing is wrong"; break;
    case Code::not_positive: out << Subject(fault) << " must be at least 1"; break;
    case Code::negative: out << Subject(fault) << " must not be negative"; break;
    case Code::overflow:
      out << argument;
      if (fault.axis >= 0) out << ' ' << v[0] << " on axis " << fault.axis;
      out << " makes a number of elements that does not fit in 64 bits";
      break;
    case Code::kernel_exceeds_input:
      out << Subject(fault);
      if (v[0] > 1 && v[4] > v[0]) out << " with dilation " << (v[4] - 1) / (v[0] - 1);
      out << " does not fit: it spans " << v[4] << " cells, and input " << v[1] << " with padding " << v[2] << " and "
          << v[3] << " has " << v[1] + v[2] + v[3];
      break;
    case Code::zero_length:
      out << "axis " << fault.axis << " of " << (fault.argument == Argument::shape ? "x" : argument)
          << " has length 0, which leaves nothing to pool";
      break;
    case Code::empty_window:
      out << Subject(fault) << " leaves output " << v[1] << " without an input element (kernel " << v[2] << ", stride "
          << v[3] << ", input " << v[4] << ")";
      break;
    case Code::rank_too_large:
      out << argument << " has " << Count{v[0], "axis", "axes"} << "; at most " << v[1] << " are possible";
      break;
    case Code::nothing_to_pool:
      out << "no axis to pool: kernel, output_size and axes name none (the array has " << Count{v[0], "axis", "axes"}
          << ")";
      break;
    case Code::too_many_axes: out << v[0] << " axes are to be pooled, but the array has only " << v[1]; break;
    case Code::wrong_count:
      out << argument << " has " << Count{v[0], "entry", "entries"} << ", but there must be " << v[1]
          << ", one for each " << (fault.argument == Argument::strides ? "axis" : "pooled axis");
      break;
    case Code::axis_out_of_range:
      out << "axes names axis " << v[0] << ", but the array has " << Count{v[1], "axis", "axes"};
      break;
    case Code::axis_repeated: out << "axes names axis " << v[0] << " twice"; break;
    case Code::shape_mismatch:
      out << argument << " has length " << v[0] << " on axis " << fault.axis << "; expected " << v[1];
      break;
    case Code::rank_mismatch: out << argument << " has " << Count{v[0], "axis", "axes"} << "; expected " << v[1]; break;
    case Code::null_data: out << argument << " has elements but its data pointer is null"; break;
    case Code::too_few_elements:
      out << argument << " needs " << v[1] << " elements, but the container holds " << v[0];
      break;
    case Code::overlap: out << argument << " overlaps the memory of another argument"; break;
    case Code::zero_stride:
      out << argument << " has stride 0 on axis " << fault.axis << ", so its elements would overwrite each other";
      break;
    case Code::zero_divisor: out << "divisor 0 cannot divide; give another number or none"; break;
    case Code::beta_not_usable: out << "beta " << fault.real << " must be finite and not 0"; break;
    case Code::no_beta: out << "beta is a parameter of smooth max only: no other pool has a derivative by it"; break;
    case Code::p_not_positive: out << "p " << fault.real << " must be greater than 0"; break;
    case Code::p_not_finite:
      out << "p " << fault.real << " is infinite; spec::LargestMagnitude is the norm for that";
      break;
    case Code::ties_without_extreme: out << "ties has a meaning for p = infinity only, and p is " << fault.real; break;
    case Code::no_indices: out << "indices exist for max and min only: no other reducer has a winner"; break;
    case Code::no_derivative:
      out << argument << " has a scalar type without derivatives (integer, bool or interval)";
      break;
    case Code::no_order: out << argument << " has a scalar type without an order, which this reducer needs"; break;
    case Code::no_transcendentals:
      out << argument << " has a scalar type without exp, log and pow, which this reducer needs";
      break;
    case Code::no_identity:
      out << "empty = identity has no value for output " << v[0] << " on axis " << fault.axis
          << ": the scalar type has no lowest or highest number";
      break;
    case Code::taps_do_not_fit:
      out << argument << " of " << Count{v[1], "byte", "bytes"} << " cannot number the " << v[0] << " taps of a window";
      break;
    case Code::index_out_of_range:
      out << argument << " holds " << v[0] << ", which is neither -1 nor one of the " << v[1] << " cells it can name";
      break;
    case Code::edges_dropped:
      out << Subject(fault) << " with stride " << v[1] << " leaves " << v[2] << " of " << v[3]
          << " cells, padding included, behind the last window; ";
      if (v[4] > 0) out << v[4] << " more of padding or ";
      out << Count{v[2], "cell", "cells"} << " fewer there would leave none";
      break;
    case Code::nothing_kept:
      out << (fault.argument == Argument::grad_out ? "backward has nothing to go back from" : "mask has no winners")
          << ": it needs a forward in training mode before it";
      break;
  }
  return out.str();
}

void raise(const Fault& fault) { throw Error(fault); }

}  // namespace ndpool
