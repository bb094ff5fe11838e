// ndpool explain: the arithmetic of a window and a picture of it, without an array.
#include "commands/arguments.hpp"
#include "commands/commands.hpp"
#include "commands/lists.hpp"
#include "commands/operators.hpp"
#include "drawn_axis.hpp"
#include "errors.hpp"
#include "report/explanation.hpp"
#include "report/terminal.hpp"
#include "sentences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

namespace ndpool::cli {

namespace {

/// Longer axes are not drawn, wider tables not printed.
constexpr Index drawn_limit = 72, column_limit = 24, window_limit = 16;
/// What stands before the drawing of a window.
constexpr Index margin = 14;

/// Cells that fit a line: those of the terminal, or as many as everybody's has.
Index drawn_cells() {
  const int columns = terminal_columns();
  return columns == 0 ? drawn_limit : std::max<Index>(columns - margin, 1);
}

struct ExplainCommand {
  std::string shape, op = "max", dtype;
  bool plan = false, json = false;
  OperatorOptions options;

  void run() const;

 private:
  void check_options(const Operator& found) const;
  std::vector<AxisCounts> count(const Geometry& geometry) const;
  void print(const Geometry& geometry, const std::vector<AxisCounts>& counts) const;
  nlohmann::json planned(const Pool& pool, const Shape& extents) const;
};

void print_arithmetic(int number, const Axis& axis, bool ceil_mode) {
  fmt::print("{}\n", wrapped(output_size_sentence(axis, number, ceil_mode), 8));
  if (const std::string dilated = dilation_sentence(axis); !dilated.empty())
    fmt::print("{}\n", wrapped("        " + dilated, 8));
}

/// One line per window: `#` is a tap on a cell, `o` a tap on padding, `.` a cell, `-` padding.
void draw_windows(const Axis& axis) {
  const Range drawn = drawn_positions(axis);
  if (drawn.end - drawn.begin > drawn_cells()) {
    fmt::print("        (too long to draw)\n");
    return;
  }
  std::string cells, ground;
  for (Index c = drawn.begin; c < drawn.end; ++c) {
    const bool is_cell = ground_at(axis, c) == Ground::cell;
    cells += is_cell ? static_cast<char>('0' + c % 10) : '-';
    ground += is_cell ? '.' : '-';
  }
  fmt::print("  {:>10}  {}\n", "cells", cells);
  for (Index o = 0; o < axis.output; ++o) {
    if (o == window_limit - 1 && axis.output > window_limit) {
      fmt::print("  {:>10}  {} more\n", "...", axis.output - o);
      break;
    }
    std::string line = ground;
    for (Index t = 0; t < axis.taps(o).length; ++t) {
      const Index position = position_of_tap(axis, o, t);
      line[static_cast<std::size_t>(position - drawn.begin)] = ground_at(axis, position) == Ground::cell ? '#' : 'o';
    }
    fmt::print("  {:>10}  {}\n", fmt::format("window {}", o), coloured(line));
  }
}

std::vector<Index> seen_by(const Axis& axis) {
  std::vector<Index> counts;
  for (Index c = 0; c < axis.input; ++c) counts.push_back(axis.outputs_seeing(c).count);
  return counts;
}

/// Digits of the largest product of these counts.
int digits_of_products(const std::vector<std::vector<Index>>& lists) {
  Index largest = 1;
  for (const std::vector<Index>& list : lists) largest *= list.empty() ? 1 : std::max<Index>(std::ranges::max(list), 1);
  return static_cast<int>(std::to_string(largest).size());
}

/// Products of two lists as a table, or of the only one as a row.
void print_products(const std::vector<std::vector<Index>>& lists) {
  const std::vector<Index> one = {1};
  const std::vector<Index>& rows = lists.size() == 2 ? lists[0] : one;
  const std::vector<Index>& columns = lists.back();
  const int width = digits_of_products(lists);
  for (const Index r : rows) {
    fmt::print("   ");
    for (const Index c : columns) fmt::print(" {:>{}}", r * c, width);
    fmt::print("\n");
  }
}

/// True if the table of their products is readable, and fits the terminal.
bool is_small(const std::vector<std::vector<Index>>& lists) {
  if (lists.empty() || lists.size() > 2) return false;
  const int terminal = terminal_columns(),
            widest = 3 + static_cast<int>(lists.back().size()) * (1 + digits_of_products(lists));
  if (terminal != 0 && widest > terminal) return false;
  return std::ranges::all_of(lists, [](const auto& list) { return static_cast<Index>(list.size()) <= column_limit; });
}

void print_table(const std::string& title, const std::vector<int>& axes, const std::vector<std::vector<Index>>& lists) {
  if (is_small(lists)) {
    fmt::print("\n{}\n", wrapped(title + ":", 4));
    print_products(lists);
    return;
  }
  fmt::print("\n{}\n", wrapped(title + ": the product over the axes of", 4));
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const auto [least, most] = std::ranges::minmax_element(lists[i]);
    fmt::print("    axis {}: {} to {}\n", axes[i], *least, *most);
  }
}

void add_sentence(const std::string& sentence, std::vector<std::string>& sentences) {
  if (!sentence.empty()) sentences.push_back(sentence);
}

Dtype find_dtype(const std::string& name) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Dtype::boolean); ++i) {
    names.emplace_back(name_of(static_cast<Dtype>(i)));
    if (names.back() == name) return static_cast<Dtype>(i);
  }
  throw WrongArguments(fmt::format("--dtype must be one of {}, not '{}'", fmt::join(names, ", "), name));
}

/// What runs each map of the pool on packed arrays of `shape`, and what it takes. Nothing if windows that see no cell
/// are refused.
nlohmann::json plan_of(const Pool& pool, const Shape& shape, Dtype dtype) {
  nlohmann::json maps = nlohmann::json::array();
  with_dtype(dtype, [&]<class T>() {
    const Plan<T> plan = pool.plan<T>(shape);
    for (const MapKind map : plan.maps()) {
      const MapSummary summary = plan.summary(map);
      std::vector<std::string_view> others = summary.implementations;
      std::erase(others, summary.implementation);
      maps.push_back({{"map", name_of(map)},
                      {"implementation", summary.implementation},
                      {"tiles", summary.tiles},
                      {"scratch_bytes", summary.scratch_bytes},
                      {"others", others}});
    }
  });
  return {{"dtype", name_of(dtype)}, {"target", target()}, {"threads", get_threads()}, {"maps", maps}};
}

void print_plan(const nlohmann::json& plan) {
  if (plan.is_null()) {
    fmt::print("\nNo plan: pools by this operator refuse empty windows.\n");
    return;
  }
  constexpr const char* row = "  {:<21} {:<16} {:>9} {:>14}  {}\n";
  const int threads = plan["threads"];
  fmt::print("\nPlan for {}, packed, on {} with {} thread{}:\n", plan["dtype"].get<std::string>(),
             plan["target"].get<std::string>(), threads, threads == 1 ? "" : "s");
  fmt::print(row, "map", "implementation", "tiles", "scratch bytes", "others that accept it");
  for (const nlohmann::json& map : plan["maps"])
    fmt::print(row, map["map"].get<std::string>(), map["implementation"].get<std::string>(), map["tiles"].get<Index>(),
               map["scratch_bytes"].get<Index>(), fmt::join(map["others"].get<std::vector<std::string>>(), ", "));
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

std::vector<AxisCounts> ExplainCommand::count(const Geometry& geometry) const {
  std::vector<AxisCounts> counts;
  for (int a = 0; a < geometry.rank; ++a) {
    const Axis& axis = geometry.axes[a];
    if (!axis.pooled) continue;
    AxisCounts& count = counts.emplace_back(AxisCounts{a, seen_by(axis), {}});
    for (Index o = 0; o < axis.output; ++o) {
      const Taps taps = axis.taps(o);
      count.divisors.push_back(taps.count + (options.count_exclude_pad ? 0 : taps.padded));
    }
  }
  return counts;
}

std::vector<std::string> warnings_of(const Geometry& geometry, const std::vector<AxisCounts>& counts) {
  std::vector<std::string> warnings;
  for (const AxisCounts& count : counts) {
    add_sentence(edge_sentence(geometry.axes[count.number], count.number), warnings);
    add_sentence(gap_sentence(geometry.axes[count.number], count.number), warnings);
  }
  if (const Fault fault = geometry.empty_window()) warnings.push_back(message(fault));
  return warnings;
}

void ExplainCommand::print(const Geometry& geometry, const std::vector<AxisCounts>& counts) const {
  std::vector<int> axes;
  std::vector<std::vector<Index>> seen, divisors;
  Index cells_seen = 1;
  for (const AxisCounts& count : counts) {
    const Axis& axis = geometry.axes[count.number];
    print_arithmetic(count.number, axis, options.ceil_mode);
    draw_windows(axis);
    axes.push_back(count.number);
    seen.push_back(count.seen);
    divisors.push_back(count.divisors);
    cells_seen *= axis.input - std::ranges::count(count.seen, 0);
  }
  const std::string legend = fmt::format("'{}' is a tap on a cell, '{}' a tap on padding, '{}' padding.", coloured("#"),
                                         coloured("o"), coloured("-"));
  fmt::print("\n{}\n", wrapped(legend, 0));

  print_table("How many outputs see each cell", axes, seen);
  fmt::print("{}\n", wrapped(fmt::format("Never seen: {} of {} cells of the pooled axes",
                                         geometry.cell_count() - cells_seen, geometry.cell_count()),
                             4));
  if (options.divisor != AverageOptions::no_divisor)
    fmt::print("\nDivisor of every window of an average: {}\n", options.divisor);
  else
    print_table(options.count_exclude_pad ? "Divisor of each window of an average, padding left out"
                                          : "Divisor of each window of an average, padding counted",
                axes, divisors);
}

nlohmann::json ExplainCommand::planned(const Pool& pool, const Shape& extents) const {
  try {
    return plan_of(pool, extents, find_dtype(dtype.empty() ? "float32" : dtype));
  } catch (const Error& error) {
    if (error.code() == Code::no_transcendentals)
      throw WrongArguments(fmt::format("--dtype {} has no exp, log and pow, which {} needs", dtype, op));
    if (error.code() != Code::empty_window) throw;
    return nullptr;
  }
}

void ExplainCommand::run() const {
  const Operator& found = find_operator(op);
  check_options(found);
  if (!dtype.empty() && !plan) throw WrongArguments("--dtype is for --plan");
  if (options.divisor == 0) throw WrongArguments("--divisor 0 cannot divide; give another number or none");
  const Shape extents = parse_list(shape, "--shape");
  const Pool pool = make_pool(found, options, extents.size(), false);
  const Geometry geometry = pool.geometry(extents);
  const nlohmann::json plan_data = plan ? planned(pool, extents) : nullptr;
  const std::vector<AxisCounts> counts = count(geometry);
  const std::vector<std::string> warnings = warnings_of(geometry, counts);
  if (json) {
    nlohmann::json data = explanation_of(op, extents, pool.output_shape(extents), geometry, counts, warnings);
    if (options.divisor != AverageOptions::no_divisor) data["divisor"] = options.divisor;
    if (plan) data["plan"] = plan_data;
    fmt::print("{}\n", data.dump(2));
    return;
  }
  fmt::print("{} of {} -> {}\n\n", op, text_of(extents), text_of(pool.output_shape(extents)));
  print(geometry, counts);
  for (const std::string& warning : warnings) fmt::print("\n{}\n", wrapped("Warning: " + warning, 4));
  if (plan) print_plan(plan_data);
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
  app->add_flag("--json", command->json, "The same as JSON, for programs");
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
