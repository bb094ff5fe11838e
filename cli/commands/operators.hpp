// Operators as words of a command line: their names, their options, and the pools they mean.
#pragma once

#include "io/array.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace ndpool::cli {

enum class Kind : unsigned char { windowed, adaptive, global };

enum class Reducer : unsigned char { max, min, sum, avg, smooth_max, lp };

/// A geometry times a reducer, under the name that the command gives it.
struct Operator {
  std::string name;
  Kind geometry;
  Reducer reducer;

  bool has_winners() const { return reducer == Reducer::max || reducer == Reducer::min; }
};

/// All of them: `max`, `adaptive-max`, `global-max`, ...
const std::vector<Operator>& operators();
/// The one with this name. Throws WrongArguments with the nearest name if there is none.
const Operator& find_operator(const std::string& name);

/// What was written behind an operator's options. Lists are texts such as `3,3` until the array is known.
struct OperatorOptions {
  std::string kernel, stride, padding, dilation, axes, output_size;
  bool ceil_mode = false, keepdims = false;
  std::string ties, nan, empty, rounding, pad_mode;
  bool count_exclude_pad = false;
  Index divisor = AverageOptions::no_divisor;
  double beta = 1, p = 2;
};

/// Gives a command the two options that say what averages are divided by, of which it accepts one.
void add_divisors(CLI::App& command, bool has_window, OperatorOptions& options);

/// Gives a command the options that the operator has, and no others.
void add_options(CLI::App& command, const Operator& op, OperatorOptions& options);

/// Throws WrongArguments if `--rounding` was given for elements that are not rounded: floats.
void check_rounding(const OperatorOptions& options, Dtype elements, const std::string& path);

/// The pool of an operator for arrays with this many axes. The channels of a picture, its third axis, are never pooled.
Pool make_pool(const Operator& op, const OperatorOptions& options, int rank, bool is_picture);

}  // namespace ndpool::cli
