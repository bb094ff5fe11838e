// ndpool explain: the arithmetic of a window and a picture of it, without an array.
#include "commands/arguments.hpp"
#include "commands/commands.hpp"
#include "commands/lists.hpp"
#include "commands/operators.hpp"
#include "errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

namespace ndpool::cli {

namespace {

/// Longer axes are not drawn, wider tables not printed.
constexpr Index most_drawn = 72, most_columns = 24, most_windows = 16;

struct ExplainCommand {
  std::string shape, op = "max", dtype;
  bool plan = false;
  OperatorOptions options;

  void run() const;

 private:
  void check_options(const Operator& found) const;
};

void print_arithmetic(int number, const Axis& axis, bool ceil_mode) {
  if (axis.adaptive) {
    fmt::print("Axis {}: {} bins over {} cells; bin i is [floor(i * {} / {}), ceil((i + 1) * {} / {}))\n", number,
               axis.output, axis.input, axis.input, axis.output, axis.input, axis.output);
    return;
  }
  fmt::print("Axis {}: {}(({} cells + {} before + {} after - window of {}) / stride {}) + 1 = {} outputs\n", number,
             ceil_mode ? "ceil" : "floor", axis.input, axis.lo, axis.hi, axis.span(1), axis.stride, axis.output);
  if (axis.dilation > 1)
    fmt::print("        a window of {} taps, {} apart, reaches over ({} - 1) * {} + 1 = {} cells\n", axis.kernel,
               axis.dilation, axis.kernel, axis.dilation, axis.span(1));
}

/// One line per window: `#` is a tap on a cell, `o` a tap on padding, `.` a cell, `-` padding.
void draw_windows(const Axis& axis) {
  const Index reach =
      axis.adaptive ? axis.input : std::max(axis.input + axis.hi, axis.start(axis.output - 1) + axis.span(1));
  if (axis.lo + reach > most_drawn) {
    fmt::print("        (too long to draw)\n");
    return;
  }
  std::string cells;
  for (Index c = -axis.lo; c < reach; ++c) cells += c < 0 || c >= axis.input ? '-' : static_cast<char>('0' + c % 10);
  fmt::print("  {:>10}  {}\n", "cells", cells);
  for (Index o = 0; o < axis.output; ++o) {
    if (o == most_windows - 1 && axis.output > most_windows) {
      fmt::print("  {:>10}  {} more\n", "...", axis.output - o);
      break;
    }
    std::string line;
    for (Index c = -axis.lo; c < reach; ++c) line += c < 0 || c >= axis.input ? '-' : '.';
    const Taps taps = axis.taps(o);
    for (Index t = 0; t < taps.length; ++t) {
      const Index cell = axis.start(o) + t * taps.step;
      line[static_cast<std::size_t>(cell + axis.lo)] = cell < 0 || cell >= axis.input ? 'o' : '#';
    }
    fmt::print("  {:>10}  {}\n", fmt::format("window {}", o), line);
  }
}

std::vector<Index> seen_by(const Axis& axis) {
  std::vector<Index> counts;
  for (Index c = 0; c < axis.input; ++c) counts.push_back(axis.outputs_seeing(c).count);
  return counts;
}

/// Products of two lists as a table, or of the only one as a row.
void print_products(const std::vector<std::vector<Index>>& lists) {
  Index widest = 1;
  const std::vector<Index> one = {1};
  const std::vector<Index>& rows = lists.size() == 2 ? lists[0] : one;
  const std::vector<Index>& columns = lists.back();
  for (const Index r : rows)
    for (const Index c : columns) widest = std::max(widest, r * c);
  const auto width = static_cast<int>(std::to_string(widest).size());
  for (const Index r : rows) {
    fmt::print("   ");
    for (const Index c : columns) fmt::print(" {:>{}}", r * c, width);
    fmt::print("\n");
  }
}

bool is_small(const std::vector<std::vector<Index>>& lists) {
  if (lists.empty() || lists.size() > 2) return false;
  return std::ranges::all_of(lists, [](const auto& list) { return static_cast<Index>(list.size()) <= most_columns; });
}

void print_table(const std::string& title, const std::vector<int>& axes, const std::vector<std::vector<Index>>& lists) {
  if (is_small(lists)) {
    fmt::print("\n{}:\n", title);
    print_products(lists);
    return;
  }
  fmt::print("\n{}: the product over the axes of\n", title);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const auto [least, most] = std::ranges::minmax_element(lists[i]);
    fmt::print("    axis {}: {} to {}\n", axes[i], *least, *most);
  }
}

std::string cells_are(Index count) { return count == 1 ? "1 cell is" : fmt::format("{} cells are", count); }

/// True if ceil mode would leave out nothing at the end of the axis.
bool ceil_keeps_all(int number, const Axis& axis) {
  Axis rounded;
  const AxisWindow window{axis.kernel, axis.stride, axis.lo, axis.hi, axis.dilation, true};
  return !windowed_axis(axis.input, window, number, rounded) && rounded.loss().cells == 0;
}

void warn_of_edges(int number, const Axis& axis, Index unseen) {
  const Loss loss = axis.loss();
  if (loss.cells > 0)
    fmt::print("\nWarning: {} at the end of axis {}, in no window. To keep {}: {}--padding with {}:{} on this axis\n",
               cells_are(loss.cells), number, loss.cells == 1 ? "it" : "them",
               ceil_keeps_all(number, axis) ? "--ceil, or " : "", axis.lo, axis.hi + loss.padding);
  if (unseen > loss.cells)
    fmt::print("\nWarning: on axis {} {} between windows or their taps, and never seen\n", number,
               cells_are(unseen - loss.cells));
}

Dtype find_dtype(const std::string& name) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Dtype::boolean); ++i) {
    names.emplace_back(name_of(static_cast<Dtype>(i)));
    if (names.back() == name) return static_cast<Dtype>(i);
  }
  throw WrongArguments(fmt::format("--dtype must be one of {}, not '{}'", fmt::join(names, ", "), name));
}

/// What runs each map of the pool on packed arrays of `shape`, and what it takes.
std::string text_of_plan(const Pool& pool, const Shape& shape, Dtype dtype) {
  constexpr std::string_view row = "  {:<21} {:<16} {:>9} {:>14}  {}\n";
  std::string text = fmt::format("\nPlan for {}, packed, on {} with {} thread{}:\n", name_of(dtype), target(),
                                 get_threads(), get_threads() == 1 ? "" : "s");
  text += fmt::format(row, "map", "implementation", "tiles", "scratch bytes", "others that accept it");
  with_dtype(dtype, [&]<class T>() {
    const Plan<T> plan = pool.plan<T>(shape);
    for (const MapKind map : plan.maps()) {
      const MapSummary summary = plan.summary(map);
      std::vector<std::string_view> others = summary.implementations;
      std::erase(others, summary.implementation);
      text += fmt::format(row, name_of(map), summary.implementation, summary.tiles, summary.scratch_bytes,
                          fmt::join(others, ", "));
    }
  });
  return text;
}

void ExplainCommand::check_options(const Operator& found) const {
  const bool windowed = found.geometry == Kind::windowed, adaptive = found.geometry == Kind::adaptive;
  const auto check = [&](const char* option, bool given, bool known, bool required) {
    if (given && !known) throw WrongArguments(fmt::format("{} has no option {}", op, option));
    if (required && !given) throw WrongArguments(fmt::format("{} is required for {}", option, op));
  };
  check("--kernel", !options.kernel.empty(), windowed, windowed);
  check("--stride", !options.stride.empty(), windowed, false);
  check("--padding", !options.padding.empty(), windowed, false);
  check("--dilation", !options.dilation.empty(), windowed, false);
  check("--ceil", options.ceil_mode, windowed, false);
  check("--count-exclude-pad", options.count_exclude_pad, windowed, false);
  check("--output-size", !options.output_size.empty(), adaptive, adaptive);
}

void ExplainCommand::run() const {
  const Operator& found = find_operator(op);
  check_options(found);
  if (!dtype.empty() && !plan) throw WrongArguments("--dtype is for --plan");
  if (options.divisor == 0) throw WrongArguments("--divisor 0 cannot divide; give another number or none");
  const Shape extents = parse_list(shape, "--shape");
  const Pool pool = make_pool(found, options, extents.size(), false);
  const Geometry geometry = pool.geometry(extents);
  std::string plan_text;
  if (plan) {
    try {
      plan_text = text_of_plan(pool, extents, find_dtype(dtype.empty() ? "float32" : dtype));
    } catch (const Error& error) {
      if (error.code() == Code::no_transcendentals)
        throw WrongArguments(fmt::format("--dtype {} has no exp, log and pow, which {} needs", dtype, op));
      if (error.code() != Code::empty_window) throw;
      plan_text = "\nNo plan: pools by this operator refuse empty windows.\n";
    }
  }

  fmt::print("{} of {} -> {}\n\n", op, text_of(extents), text_of(pool.output_shape(extents)));
  std::vector<int> axes;
  std::vector<std::vector<Index>> seen, divisors;
  Index cells_seen = 1;
  for (int a = 0; a < geometry.rank; ++a) {
    const Axis& axis = geometry.axes[a];
    if (!axis.pooled) continue;
    print_arithmetic(a, axis, options.ceil_mode);
    draw_windows(axis);
    axes.push_back(a);
    seen.push_back(seen_by(axis));
    divisors.emplace_back();
    for (Index o = 0; o < axis.output; ++o) {
      const Taps taps = axis.taps(o);
      divisors.back().push_back(taps.count + (options.count_exclude_pad ? 0 : taps.padded));
    }
    cells_seen *= axis.input - std::ranges::count(seen.back(), 0);
  }
  fmt::print("\n'#' is a tap on a cell, 'o' a tap on padding, '-' padding.\n");

  print_table("How many outputs see each cell", axes, seen);
  fmt::print("Never seen: {} of {} cells of the pooled axes\n", geometry.cell_count() - cells_seen,
             geometry.cell_count());
  if (options.divisor != AverageOptions::no_divisor)
    fmt::print("\nDivisor of every window of an average: {}\n", options.divisor);
  else
    print_table(options.count_exclude_pad ? "Divisor of each window of an average, padding left out"
                                          : "Divisor of each window of an average, padding counted",
                axes, divisors);
  for (std::size_t i = 0; i < axes.size(); ++i)
    warn_of_edges(axes[i], geometry.axes[axes[i]], std::ranges::count(seen[i], 0));
  if (const Fault fault = geometry.empty_window()) fmt::print("\nWarning: {}\n", message(fault));
  fmt::print("{}", plan_text);
}

}  // namespace

void add_explain_command(CLI::App& program) {
  const auto command = std::make_shared<ExplainCommand>();
  CLI::App* app = program.add_subcommand("explain", "The arithmetic of a window, and a picture of what it sees");
  OperatorOptions& options = command->options;
  app->add_option("--shape", command->shape, "Shape of the array, such as 5,5")->required();
  app->add_option("--op", command->op, "Operator, such as max, avg or adaptive-max")
      ->transform(any_case())
      ->capture_default_str();
  app->add_option("-k,--kernel", options.kernel, "Size of the window on each pooled axis, such as 3,3");
  app->add_option("-s,--stride", options.stride, "Cells from window to window; the kernel if not given");
  app->add_option("-p,--padding", options.padding, "Cells around the array: 1,1, 0:1,0:1, same, same_lower or valid");
  app->add_option("-d,--dilation", options.dilation, "Cells from tap to tap of a window; 1 if not given");
  app->add_flag("--ceil", options.ceil_mode, "Also a last window that is not full");
  app->add_option("--output-size", options.output_size, "Bins on each pooled axis of an adaptive operator");
  app->add_option("--axes", options.axes, "Axes to pool, such as 1,2 or -2,-1; the last ones if not given");
  add_divisors(*app, true, options);
  app->add_flag("--plan", command->plan, "Also which implementation runs each map, its tiles and its scratch");
  app->add_option("--dtype", command->dtype, "Scalar of the array for --plan, such as float32, uint8 or bfloat16")
      ->transform(any_case());
  app->footer(
      "Examples:\n"
      "  ndpool explain --shape 5,5 --kernel 3,3 --stride 2,2 --padding 1,1\n"
      "  ndpool explain --shape 64,10 --kernel 3 --axes -1 --stride 2 --ceil\n"
      "  ndpool explain --shape 64,112,112 --kernel 3,3 --stride 2,2 --plan --dtype bfloat16\n"
      "  ndpool explain --shape 7,7 --op adaptive-avg --output-size 3,3\n");
  app->callback([command] { command->run(); });
}

}  // namespace ndpool::cli
