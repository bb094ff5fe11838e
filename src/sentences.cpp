#include "sentences.hpp"

#include <ndpool/error.hpp>

#include <cstdio>

namespace ndpool {

const char* name_of(Argument argument) {
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

namespace {

/// Words and numbers of one sentence, one behind the other.
class Sentence {
 public:
  Sentence& operator<<(const char* words) {
    text_ += words;
    return *this;
  }
  Sentence& operator<<(Index number) {
    text_ += std::to_string(number);
    return *this;
  }
  Sentence& operator<<(int number) { return *this << Index{number}; }
  Sentence& operator<<(double number) {  // six digits, as a stream shows them
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", number);
    return *this << digits;
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

/// The argument, its value if it has one, and the axis: `kernel 0 on axis 1`.
struct Subject {
  const Fault& fault;
  friend Sentence& operator<<(Sentence& out, const Subject& subject) {
    out << name_of(subject.fault.argument) << " " << subject.fault.values[0];
    if (subject.fault.axis >= 0) out << " on axis " << subject.fault.axis;
    return out;
  }
};

struct Count {
  Index number;
  const char* one;
  const char* many;
  friend Sentence& operator<<(Sentence& out, const Count& count) {
    return out << count.number << " " << (count.number == 1 ? count.one : count.many);
  }
};

}  // namespace

std::string message(const Fault& fault) {
  const Index* v = fault.values;
  const char* argument = name_of(fault.argument);
  Sentence out;
  switch (fault.code) {
    case Code::none: out << "nothing is wrong"; break;
    case Code::not_positive: out << Subject(fault) << " must be at least 1"; break;
    case Code::negative: out << Subject(fault) << " must not be negative"; break;
    case Code::overflow:
      out << argument;
      if (fault.axis >= 0) out << " " << v[0] << " on axis " << fault.axis;
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
    case Code::stride_mismatch:
      out << argument << " has stride " << v[0] << " on axis " << fault.axis << "; the plan was made for stride "
          << v[1];
      break;
    case Code::before_container:
      out << argument << " lead " << Count{v[0], "element", "elements"}
          << " before the first of the container; make the view from the address of position 0";
      break;
    case Code::empty_plan:
      out << "the plan is empty: it was default-constructed or moved from; Pool::plan makes one";
      break;
    case Code::name_repeated: out << "a node of the graph has this name already"; break;
    case Code::compiled_before: out << "the node was added to its graph after the program was compiled"; break;
  }
  return std::move(out).text();
}

namespace {

/// What rounding up gives before the window that would start behind the input is left out.
bool ceil_dropped_a_window(const Axis& axis, bool ceil_mode) {
  return ceil_mode && axis.span(axis.output) < axis.lo + axis.input + axis.hi;
}

/// True if ceil mode would leave out nothing at the end of the axis.
bool ceil_keeps_all(int number, const Axis& axis) {
  Axis rounded;
  const AxisWindow window{axis.kernel, axis.stride, axis.lo, axis.hi, axis.dilation, true};
  return !windowed_axis(axis.input, window, number, rounded) && rounded.loss().cells == 0;
}

}  // namespace

std::string output_size_sentence(const Axis& axis, int number, bool ceil_mode) {
  Sentence out;
  out << "Axis " << number << ": ";
  if (axis.adaptive) {
    out << axis.output << (axis.output == 1 ? " bin" : " bins") << " over " << Count{axis.input, "cell", "cells"}
        << "; bin i is [floor(i * " << axis.input << " / " << axis.output << "), ceil((i + 1) * " << axis.input << " / "
        << axis.output << "))";
    return std::move(out).text();
  }
  out << (ceil_mode ? "ceil" : "floor") << "((" << Count{axis.input, "cell", "cells"} << " + " << axis.lo
      << " before + " << axis.hi << " after - window of " << axis.span(1) << ") / stride " << axis.stride << ") + 1 = ";
  if (ceil_dropped_a_window(axis, ceil_mode))
    out << axis.output + 1 << ", less the last window, which would start behind the input: ";
  out << Count{axis.output, "output", "outputs"};
  return std::move(out).text();
}

std::string dilation_sentence(const Axis& axis) {
  if (axis.adaptive || axis.dilation == 1) return {};
  Sentence out;
  out << "a window of " << Count{axis.kernel, "tap", "taps"} << ", " << axis.dilation << " apart, reaches over ("
      << axis.kernel << " - 1) * " << axis.dilation << " + 1 = " << Count{axis.span(1), "cell", "cells"};
  return std::move(out).text();
}

std::string edge_sentence(const Axis& axis, int number) {
  const Loss loss = axis.loss();
  if (loss.cells == 0) return {};
  Sentence out;
  out << Count{loss.cells, "cell is", "cells are"} << " at the end of axis " << number << ", in no window. To keep "
      << (loss.cells == 1 ? "it" : "them") << ": " << (ceil_keeps_all(number, axis) ? "ceil mode, or " : "")
      << "padding " << axis.lo << ":" << axis.hi + loss.padding << " on this axis";
  return std::move(out).text();
}

std::string gap_sentence(const Axis& axis, int number) {
  Index unseen = 0;
  for (Index cell = 0; cell < axis.input; ++cell) unseen += axis.outputs_seeing(cell).count == 0 ? 1 : 0;
  const Index between = unseen - axis.loss().cells;
  if (between <= 0) return {};
  Sentence out;
  out << "on axis " << number << " " << Count{between, "cell is", "cells are"}
      << " between windows or their taps, and never seen";
  return std::move(out).text();
}

}  // namespace ndpool
