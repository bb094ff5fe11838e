// What the page has chosen: a pool and the shape of an array.
#pragma once

#include <ndpool/geometry.hpp>
#include <ndpool/reducer.hpp>
#include <ndpool/spec/average.hpp>
#include <ndpool/spec/lp.hpp>
#include <ndpool/spec/max.hpp>
#include <ndpool/spec/min.hpp>
#include <ndpool/spec/smooth_max.hpp>
#include <ndpool/spec/sum.hpp>

namespace ndpool::explorer {

// The order of these is that of the lists in engine.js.
enum class Operator { max, min, sum, avg, smooth_max, lp };
enum class Kind { windowed, adaptive, global };
enum class Option {
  op,
  geometry,
  padding_rule,
  ceil_mode,
  keepdims,
  ties,
  nan,
  empty,
  count_include_pad,
  divisor,
  beta,
  pad_mode,
  p
};
enum class List { shape, axes, kernel, stride, padding_before, padding_after, dilation, output_size };

struct Settings {
  Operator op = Operator::max;
  Kind geometry = Kind::windowed;
  Shape shape, axes, kernel, stride, padding_before, padding_after, dilation, output_size;
  PaddingRule padding_rule = PaddingRule::given;
  bool ceil_mode = false, keepdims = false;
  Ties ties = Ties::standard;
  Nan nan = Nan::propagate;
  Empty empty = Empty::error;
  AverageOptions average;
  SmoothMaxOptions smooth_max;
  double p = 2;

  void set(Option option, double value);
  void append(List list, double value);

  /// The geometry for an array of `shape`.
  Fault resolve_geometry(Geometry& geometry) const;

  bool has_winners() const { return op == Operator::max || op == Operator::min; }

  /// Calls `f` with the reference of the reducer for float64.
  template <class F>
  auto with_reducer(F f) const {
    const ExtremeOptions extreme{extreme_ties(), nan, empty};
    const bool is_largest_magnitude = p == std::numeric_limits<double>::infinity();
    switch (op) {
      case Operator::max: break;
      case Operator::min: return f(spec::Min<double>{{extreme}});
      case Operator::sum: return f(spec::Sum<double>{});
      case Operator::avg: return f(spec::Average<double>{{}, average_options()});
      case Operator::smooth_max: return f(spec::SmoothMax<double>{smooth_max_options()});
      case Operator::lp:
        if (is_largest_magnitude)
          return f(spec::LargestMagnitude<double>{{{{.ties = extreme_ties(), .empty = empty}}}});
        return f(spec::Lp<double>{p, {.ties = ties, .empty = empty}});
    }
    return f(spec::Max<double>{{extreme}});
  }

 private:
  /// As the families of pool.hpp have it: global pools give their derivative to every extreme unless told otherwise.
  Ties extreme_ties() const { return ties == Ties::standard && geometry == Kind::global ? Ties::all : ties; }
  AverageOptions average_options() const;
  SmoothMaxOptions smooth_max_options() const;
  Padding padding() const;
};

}  // namespace ndpool::explorer
