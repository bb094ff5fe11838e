// ndpool pyramid: smaller and smaller versions of an array, from one pass over it.
//
// Level l pools the array itself with windows of kernel^l cells, never level l-1: an average is made of the cells and
// rounded once, however high its level. The array is cut where windows of the highest level end, and all levels of a
// piece are made while it is in memory.
#include "commands/arguments.hpp"
#include "commands/commands.hpp"
#include "commands/operators.hpp"
#include "errors.hpp"
#include "io/files.hpp"
#include "io/output_names.hpp"
#include "out_of_core/tiles.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <list>
#include <memory>

namespace ndpool::cli {

namespace {

struct Level {
  Pool pool;
  Geometry geometry;
  Shape scale;  ///< cells of the array per output, on every axis
  std::string name;
};

struct Pyramid {
  std::vector<Level> levels;
  std::string end;  ///< why there are fewer levels than were asked for
};

struct PyramidCommand {
  std::string in, folder, op = "avg", edges = "keep", dtype;
  OperatorOptions options;
  CommonOptions common;
  int levels = 1;

  void run() const;

 private:
  InputFile open_source() const;
  Level make_level(int number, const Pool& first, const InputFile& source, const Shape& scale) const;
  std::string end_at(const Geometry& windows, const Level& level, const Shape& next_scale) const;
  Pyramid make_levels(const InputFile& source) const;
  void check_names(const std::vector<Level>& all) const;
  void pool(const std::vector<Level>& all, const std::vector<Operands>& operands) const;
  std::string json(const InputFile& source, const std::vector<Level>& all) const;
};

/// Boxes of the highest level, as outputs of a lower one.
Box refine(const Box& box, const Level& highest, const Level& level) {
  Box fine = box;
  for (int a = 0; a < level.geometry.rank; ++a) {
    const auto i = static_cast<std::size_t>(a);
    const Index factor = highest.scale[a] / level.scale[a], outputs = level.geometry.axes[a].output;
    fine[i].begin = std::min(box[i].begin * factor, outputs);
    // What the highest level has dropped at the edge belongs to its last window.
    fine[i].end = box[i].end == highest.geometry.axes[a].output ? outputs : std::min(box[i].end * factor, outputs);
  }
  return fine;
}

/// A folder that is removed again if nothing came of it.
class NewFolder {
 public:
  explicit NewFolder(const std::string& path) : path_(path) {
    is_new_ = mkdir(path.c_str(), 0777) == 0;
    if (!is_new_ && errno != EEXIST) raise_errno("make the folder", path);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() {
    if (is_new_) rmdir(path_.c_str());  // leaves it alone if it holds anything
  }

 private:
  std::string path_;
  bool is_new_ = false;
};

std::string list_of(const Shape& numbers) {
  std::string text;
  for (const Index number : numbers) text += fmt::format("{}{}", text.empty() ? "" : ", ", number);
  return "[" + text + "]";
}

/// A text as JSON writes it.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      result += c;
  }
  return result + "\"";
}

InputFile PyramidCommand::open_source() const {
  return InputFile(in, {common.memory_bytes(), dtype.empty() ? Untyped::refuse : Untyped::require});
}

/// The level whose windows have `scale` cells.
Level PyramidCommand::make_level(int number, const Pool& first, const InputFile& source, const Shape& scale) const {
  const Shape& shape = source.array().shape;
  const Geometry windows = first.geometry(shape);
  Window window;
  window.ceil_mode = edges == "keep";
  for (int a = 0; a < windows.rank; ++a) {
    if (!windows.axes[a].pooled) continue;
    window.axes.push_back(a);
    // A window that is as large as the axis already holds all of it.
    window.kernel.push_back(std::min(scale[a], shape[a]));
  }
  const Pool pool = first.over(spec::make_geometry(window, shape));
  return {pool, pool.geometry(shape), scale, fmt::format("level-{}.{}", number, source.is_picture() ? "png" : "npy")};
}

/// Why no level follows the one with blocks of `scale` cells, or nothing if one does.
std::string PyramidCommand::end_at(const Geometry& windows, const Level& level, const Shape& next_scale) const {
  bool shrinks = false;
  for (int a = 0; a < windows.rank; ++a) {
    const Axis& axis = windows.axes[a];
    if (!axis.pooled) continue;
    shrinks = shrinks || (axis.kernel > 1 && level.geometry.axes[a].output > 1);
    if (edges == "drop" && next_scale[a] > axis.input)
      return fmt::format("no block of {} cells fits the {} of axis {}", next_scale[a], axis.input, a);
  }
  return shrinks ? "" : "nothing is left to pool";
}

Pyramid PyramidCommand::make_levels(const InputFile& source) const {
  // The kernel as the operator's own option, so that every rule for it holds here too.
  const Shape& shape = source.array().shape;
  const Pool first = make_pool(find_operator(op), options, shape.size(), source.is_picture());
  const Geometry windows = first.geometry(shape);
  Pyramid pyramid;
  Shape scale = Shape::filled(windows.rank, 1);
  for (int number = 1; number <= levels; ++number) {
    for (int a = 0; a < windows.rank; ++a)
      if (__builtin_mul_overflow(scale[a], windows.axes[a].kernel, &scale[a]))
        throw WrongArguments(fmt::format("--levels {} needs blocks of more than 2^63 cells on axis {}", levels, a));
    if (number > 1) pyramid.end = end_at(windows, pyramid.levels.back(), scale);
    if (!pyramid.end.empty()) break;
    pyramid.levels.push_back(make_level(number, first, source, scale));
  }
  return pyramid;
}

/// All levels of a piece of the array while it is in memory, piece by piece.
void pool_together(const std::vector<Level>& levels, const std::vector<Operands>& operands, const MemoryGuard& guard,
                   Progress& progress) {
  const Level& highest = levels.back();
  const Tiling tiling(Map::forward, highest.geometry, operands[levels.size() - 1], tile_bytes(guard.bound()));
  const double steps = static_cast<double>(tiling.count()) * static_cast<double>(levels.size());
  double step = 0;
  for (Index i = 0; i < tiling.count(); ++i) {
    for (std::size_t l = 0; l < levels.size(); ++l, ++step) {
      progress.stage(step / steps, (step + 1) / steps);
      const bool finished = run_tile(Map::forward, levels[l].pool, levels[l].geometry, operands[l],
                                     refine(tiling.box(i), highest, levels[l]), guard, progress.callback());
      stop_if_interrupted(finished);
      guard.trim(guard.bound() / 2);
    }
  }
}

void PyramidCommand::pool(const std::vector<Level>& all, const std::vector<Operands>& operands) const {
  const Array& x = operands.front().x;
  if (element_count(x.shape) == 0) return;
  const MemoryGuard guard(common.memory_bytes());
  Progress progress("pyramid", static_cast<double>(element_count(x.shape) * item_size(x.dtype)), common.quiet);
  // Levels whose windows are larger than a piece are made one by one.
  std::size_t together = all.size();
  while (together > 0 &&
         !Tiling(Map::forward, all[together - 1].geometry, operands[together - 1], tile_bytes(guard.bound())).fits())
    --together;
  if (together > 0)
    pool_together({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(together)}, operands, guard, progress);
  for (std::size_t l = together; l < all.size(); ++l)
    run_tiled(Map::forward, all[l].pool, operands[l], guard, progress);
}

std::string PyramidCommand::json(const InputFile& source, const std::vector<Level>& all) const {
  std::string text = fmt::format(
      "{{\n  \"source\": {{\"file\": {}, \"shape\": {}}},\n  \"dtype\": \"{}\",\n  \"operator\": \"{}\",\n"
      "  \"kernel\": {},\n  \"edges\": \"{}\",\n  \"requested_levels\": {},\n",
      quoted(source.path()), list_of(source.array().shape), name_of(source.array().dtype), op,
      list_of(all.front().scale), edges, levels);
  if (op == "avg")
    text += fmt::format("  \"rounding\": \"{}\",\n", options.rounding.empty() ? "half_even" : options.rounding);
  text += "  \"levels\": [\n";
  for (std::size_t l = 0; l < all.size(); ++l)
    text += fmt::format("    {{\"level\": {}, \"file\": \"{}\", \"shape\": {}, \"scale\": {}}}{}\n", l + 1, all[l].name,
                        list_of(all[l].geometry.output_shape()), list_of(all[l].scale), l + 1 < all.size() ? "," : "");
  return text + "  ]\n}\n";
}

/// Links in the folder can make two levels one file.
void PyramidCommand::check_names(const std::vector<Level>& all) const {
  std::vector<Output> outputs = {{"pyramid.json", folder + "/pyramid.json"}};
  for (const Level& level : all) outputs.push_back({level.name, folder + "/" + level.name});
  check_distinct(outputs);
}

void PyramidCommand::run() const {
  use_threads(common);
  check_folder(folder);
  if (!options.rounding.empty() && op != "avg")
    throw WrongArguments(fmt::format("--rounding is for --op avg, not for --op {}", op));
  const InputFile source = open_source();
  const Array& x = source.array();
  check_rounding(options, x.dtype, in);
  const auto [all, end] = make_levels(source);
  check_names(all);
  check_output(all.back().name, x.dtype, all.back().geometry.output_shape());

  const NewFolder made(folder);
  std::list<OutputFile> files;
  std::vector<Operands> operands;
  for (const Level& level : all) {
    files.emplace_back(folder + "/" + level.name, x.dtype, level.geometry.output_shape(), source.is_fortran());
    operands.push_back({x, {}, files.back().array(), {}});
  }
  pool(all, operands);
  NewFile description(folder + "/pyramid.json");
  const std::string text = json(source, all);
  description.write(text.data(), text.size());
  stop_if_interrupted();
  for (OutputFile& file : files) file.commit();
  description.commit();
  if (common.quiet) return;
  for (const Level& level : all) fmt::print("{}/{}: {}\n", folder, level.name, text_of(level.geometry.output_shape()));
  if (!end.empty()) fmt::print("{} of {} levels: {} after level {}\n", all.size(), levels, end, all.size());
}

}  // namespace

void add_pyramid_command(CLI::App& program) {
  const auto command = std::make_shared<PyramidCommand>();
  CLI::App* app = program.add_subcommand("pyramid", "Smaller and smaller versions of an array, from one pass over it");
  app->add_option("IN", command->in, "Array: .npy, .png, or - for a .npy on standard input")->required();
  app->add_option("-o,--out", command->folder, "Folder for level-1, level-2, ... and pyramid.json")->required();
  app->add_option("--op", command->op, "How cells are pooled")
      ->transform(CLI::IsMember({"avg", "max", "min"}, CLI::ignore_case))
      ->capture_default_str();
  app->add_option("-k,--kernel", command->options.kernel, "Cells that become one from level to level, such as 2,2,2")
      ->required();
  app->add_option("--levels", command->levels, "Number of levels, without the array itself")
      ->required()
      ->check(whole_number("--levels", 1, 62));
  app->add_option("--axes", command->options.axes, "Axes to pool, such as 1,2; the last ones if not given");
  app->add_option("--edges", command->edges, "Blocks that are not full: keep them, or drop their cells")
      ->transform(CLI::IsMember({"keep", "drop"}, CLI::ignore_case))
      ->capture_default_str();
  app->add_option("--rounding", command->options.rounding, "How averages of integers are rounded, on every level once")
      ->transform(CLI::IsMember({"half_even", "toward_zero", "floor", "half_away"}, CLI::ignore_case));
  app->add_option("--dtype", command->dtype, "What elements without a type are")
      ->transform(CLI::IsMember({"bfloat16"}, CLI::ignore_case));
  add_common_options(*app, command->common);
  app->footer(
      "Examples:\n"
      "  ndpool pyramid volume.npy -o levels --op avg --kernel 2,2,2 --levels 5 --memory 512M\n"
      "  ndpool pyramid photo.png -o thumbnails --kernel 2 --levels 4 --edges drop\n");
  app->callback([command] { command->run(); });
}

}  // namespace ndpool::cli
