#include "commands/operators.hpp"

#include "commands/arguments.hpp"
#include "commands/lists.hpp"
#include "errors.hpp"

#include <fmt/format.h>
#include <ndpool/words.hpp>

#include <cmath>
#include <utility>
#include <variant>

namespace ndpool::cli {

namespace {

template <class Enum, std::size_t Count>
Enum choose(const Word<Enum> (&words)[Count], const std::string& text, Enum otherwise) {
  for (const Word<Enum>& word : words)
    if (word.text == text) return word.value;
  return otherwise;
}

template <class Enum, std::size_t Count>
void add_choice(CLI::App& command, const std::string& name, std::string& text, const Word<Enum> (&words)[Count],
                const std::string& help) {
  std::vector<std::string> known;
  for (const Word<Enum>& word : words) known.emplace_back(word.text);
  command.add_option(name, text, help)->transform(CLI::IsMember(known, CLI::ignore_case));
}

void add_real(CLI::App& command, const std::string& name, double& number, const std::string& help) {
  const auto read = [&number, name](const std::string& text) { number = parse_real(text, name); };
  command.add_option_function<std::string>(name, read, help)->default_str(fmt::format("{}", number));
}

/// One number stands for all axes.
Shape spread(const Shape& list, int axes) { return list.size() == 1 && axes > 1 ? Shape::filled(axes, list[0]) : list; }
Padding spread(const Padding& padding, int axes) {
  if (padding.size() != 1 || axes <= 1) return padding;
  Padding all;
  for (int i = 0; i < axes; ++i) all.push_back(padding[0]);
  return all;
}

/// The axes that are pooled if nothing else is said: those of a picture without its channels.
Shape named_axes(const OperatorOptions& options, int rank, bool is_picture) {
  if (options.axes.empty()) return is_picture ? Shape{0, 1} : Shape{};
  const Shape axes = parse_list(options.axes, "--axes");
  if (is_picture && rank == 3)
    for (const Index axis : axes)
      if (axis == 2 || axis == -1)
        throw WrongArguments("--axes names the colours of a picture, which are never pooled");
  return axes;
}

/// The list that says the sizes: one number is meant for every named axis.
Shape sizes(const std::string& text, const std::string& what, const Shape& axes, int rank) {
  const Shape list = parse_list(text, what);
  if (list.size() == 1 && axes.empty() && rank > 1)
    throw WrongArguments(
        fmt::format("{} {} is one number for an array with {} axes: give one for each pooled axis, or "
                    "name the axes, as in --axes -1",
                    what, text, rank));
  return spread(list, axes.size());
}

std::variant<Window, Adaptive, Global> describe(const Operator& op, const OperatorOptions& options, int rank,
                                                bool is_picture) {
  const Shape axes = named_axes(options, rank, is_picture);
  switch (op.geometry) {
    case Kind::windowed: {
      Window window;
      window.axes = axes;
      window.kernel = sizes(options.kernel, "--kernel", axes, rank);
      const int count = window.kernel.size();
      if (!options.stride.empty()) window.stride = spread(parse_list(options.stride, "--stride"), count);
      if (!options.dilation.empty()) window.dilation = spread(parse_list(options.dilation, "--dilation"), count);
      if (!options.padding.empty()) window.padding = spread(parse_padding(options.padding), count);
      window.ceil_mode = options.ceil_mode;
      return window;
    }
    case Kind::adaptive: return Adaptive{sizes(options.output_size, "--output-size", axes, rank), axes};
    case Kind::global: return Global{axes, options.keepdims};
  }
  __builtin_unreachable();
}

}  // namespace

const std::vector<Operator>& operators() {
  static const std::vector<Operator> all = [] {
    std::vector<Operator> list;
    for (const auto& [prefix, geometry] :
         {std::pair{"", Kind::windowed}, {"adaptive-", Kind::adaptive}, {"global-", Kind::global}})
      for (const auto& [name, reducer] : {std::pair{"max", Reducer::max},
                                          {"min", Reducer::min},
                                          {"sum", Reducer::sum},
                                          {"avg", Reducer::avg},
                                          {"smooth-max", Reducer::smooth_max},
                                          {"lp", Reducer::lp}})
        list.push_back({std::string(prefix) + name, geometry, reducer});
    return list;
  }();
  return all;
}

const Operator& find_operator(const std::string& name) {
  for (const Operator& op : operators())
    if (op.name == name) return op;
  std::vector<std::string> names;
  for (const Operator& op : operators()) names.push_back(op.name);
  const std::string nearest = suggestion(name, names);
  throw WrongArguments(
      fmt::format("there is no operator '{}'{}", name, nearest.empty() ? "; ndpool --help lists them" : nearest));
}

void add_divisors(CLI::App& command, bool has_window, OperatorOptions& options) {
  const auto read = [&options](const std::string& text) { options.divisor = parse_integer(text, "--divisor"); };
  CLI::Option* divisor =
      command.add_option_function<std::string>("--divisor", read, "Divide by this instead of the number of cells");
  if (has_window)
    command.add_flag("--count-exclude-pad", options.count_exclude_pad, "Divide by the cells on the array only")
        ->excludes(divisor);
}

void add_options(CLI::App& command, const Operator& op, OperatorOptions& options) {
  switch (op.geometry) {
    case Kind::windowed:
      command.add_option("-k,--kernel", options.kernel, "Size of the window on each pooled axis, such as 3,3")
          ->required();
      command.add_option("-s,--stride", options.stride, "Cells from window to window; the kernel if not given");
      command.add_option("-p,--padding", options.padding,
                         "Cells around the array: 1,1, 0:1,0:1, same, same_lower or valid");
      command.add_option("-d,--dilation", options.dilation, "Cells from tap to tap of a window; 1 if not given");
      command.add_flag("--ceil", options.ceil_mode, "Also a last window that is not full");
      break;
    case Kind::adaptive:
      command.add_option("--output-size", options.output_size, "Bins on each pooled axis, such as 7,7")->required();
      break;
    case Kind::global: command.add_flag("--keepdims", options.keepdims, "Keep the pooled axes, with length 1"); break;
  }
  command.add_option("--axes", options.axes,
                     op.geometry == Kind::global ? "Axes to pool, such as 1,2 or -2,-1; all if not given"
                                                 : "Axes to pool, such as 1,2 or -2,-1; the last ones if not given");
  const bool has_window = op.geometry == Kind::windowed;
  switch (op.reducer) {
    case Reducer::max:
    case Reducer::min:
      add_choice(command, "--ties", options.ties, ties_words, "Which of equal extremes have the derivative");
      add_choice(command, "--nan", options.nan, nan_words, "What a NaN does; it propagates if not given");
      break;
    case Reducer::sum: break;
    case Reducer::avg:
      add_divisors(command, has_window, options);
      add_choice(command, "--rounding", options.rounding, rounding_words, "How averages of integers are rounded");
      break;
    case Reducer::smooth_max:
      add_real(command, "--beta", options.beta, "Sharpness: large is close to max, small to an average");
      if (has_window)
        add_choice(command, "--pad-mode", options.pad_mode, pad_mode_words, "What padding is: zero cells, or nothing");
      break;
    case Reducer::lp:
      add_real(command, "--p", options.p, "The exponent; inf is the largest magnitude");
      add_choice(command, "--ties", options.ties, ties_words,
                 "For --p inf: which of equal magnitudes have the derivative");
      break;
  }
  if (has_window && op.reducer != Reducer::sum)
    add_choice(command, "--empty", options.empty, empty_words, "What windows on padding alone do");
}

void check_rounding(const OperatorOptions& options, Dtype elements, const std::string& path) {
  const bool is_float = with_dtype(elements, []<class T>() { return !std::integral<T>; });
  if (is_float && !options.rounding.empty())
    throw WrongArguments(fmt::format("--rounding is for integers; the elements of {} are {}", path, name_of(elements)));
}

Pool make_pool(const Operator& op, const OperatorOptions& options, int rank, bool is_picture) {
  const Empty empty = choose(empty_words, options.empty, Empty::error);
  const Ties ties = choose(ties_words, options.ties, Ties::standard);
  const ExtremeOptions extreme{ties, choose(nan_words, options.nan, Nan::propagate), empty};
  const auto make = [&]<class D>(const D& description) {
    switch (op.reducer) {
      case Reducer::max: return PoolFamily<D, reduction::Max>{}(description, extreme);
      case Reducer::min: return PoolFamily<D, reduction::Min>{}(description, extreme);
      case Reducer::sum: return PoolFamily<D, reduction::Sum>{}(description);
      case Reducer::avg:
        return PoolFamily<D, reduction::Average>{}(
            description, {.count_include_pad = !options.count_exclude_pad,
                          .divisor = options.divisor,
                          .rounding = choose(rounding_words, options.rounding, Rounding::half_even),
                          .empty = empty});
      case Reducer::smooth_max:
        return PoolFamily<D, reduction::SmoothMax>{}(
            description, {.beta = options.beta,
                          .pad_mode = choose(pad_mode_words, options.pad_mode, PadMode::zero),
                          .empty = empty});
      case Reducer::lp:
        if (!options.ties.empty() && !std::isinf(options.p))
          throw WrongArguments(fmt::format("--ties is for --p inf, not for --p {}", options.p));
        return LpFamily<D>{}(options.p, description, {.ties = ties, .empty = empty});
    }
    __builtin_unreachable();
  };
  return std::visit(make, describe(op, options, rank, is_picture));
}

}  // namespace ndpool::cli
