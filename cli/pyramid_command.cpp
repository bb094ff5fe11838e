// ndpool pyramid: smaller and smaller versions of an array, from one pass over it.
//
// Level l pools the array itself with windows of kernel^l cells, never level l-1: an average is made of the cells and
// rounded once, however high its level. The array is cut where windows of the highest level end, and all levels of a
// piece are made while it is in memory.
#include "commands.hpp"
#include "files.hpp"
#include "operators.hpp"
#include "problem.hpp"
#include "tiles.hpp"

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

struct PyramidCommand {
  std::string in, folder, op = "avg", edges = "keep", dtype;
  OperatorOptions options;
  CommonOptions common;
  int levels = 1;

  void run() const;

 private:
  InputFile open_source() const;
  Level make_level(int number, const Pool& first, const InputFile& source, const Shape& scale) const;
  std::vector<Level> make_levels(const InputFile& source) const;
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
  ReadOptions read{common.memory_bytes(), {}};
  if (!dtype.empty()) read.void_as = Dtype::bf16;
  return InputFile(in, read);
}

/// The level whose windows have `scale` cells.
Level PyramidCommand::make_level(int number, const Pool& first, const InputFile& source, const Shape& scale) const {
  const Shape& shape = source.array().shape;
  const Geometry windows = first.geometry(shape);
  Window window;
  window.ceil_mode = edges == "keep";
  for (int a = 0; a < windows.rank; ++a) {
    if (!windows.axes[a].pooled) continue;
    const bool exceeds = scale[a] > shape[a];
    if (exceeds && edges == "drop")
      throw WrongArguments(
          fmt::format("level {} would have nothing on axis {}: {} cells, and blocks of {}; ask for "
                      "fewer --levels, or --edges keep",
                      number, a, shape[a], scale[a]));
    window.axes.push_back(a);
    // A window that is as large as the axis already holds all of it.
    window.kernel.push_back(exceeds ? shape[a] : scale[a]);
  }
  const Pool pool = first.over(spec::make_geometry(window, shape));
  return {pool, pool.geometry(shape), scale, fmt::format("level-{}.{}", number, source.is_picture() ? "png" : "npy")};
}

std::vector<Level> PyramidCommand::make_levels(const InputFile& source) const {
  // The kernel as the operator's own option, so that every rule for it holds here too.
  const Shape& shape = source.array().shape;
  const Pool first = make_pool(find_operator(op), options, shape.size(), source.is_picture());
  const Geometry windows = first.geometry(shape);
  std::vector<Level> all;
  Shape scale = Shape::filled(windows.rank, 1);
  for (int number = 1; number <= levels; ++number) {
    for (int a = 0; a < windows.rank; ++a)
      if (__builtin_mul_overflow(scale[a], windows.axes[a].kernel, &scale[a]))
        throw WrongArguments("--levels is too large");
    all.push_back(make_level(number, first, source, scale));
  }
  return all;
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
                                     refine(tiling.box(i), highest, levels[l]), guard, progress.watch());
      if (!finished || is_interrupted()) throw Problem("interrupted");
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
      "  \"kernel\": {},\n  \"edges\": \"{}\",\n",
      quoted(source.path()), list_of(source.array().shape), name_of(source.array().dtype), op,
      list_of(all.front().scale), edges);
  if (op == "avg")
    text += fmt::format("  \"rounding\": \"{}\",\n", options.rounding.empty() ? "half_even" : options.rounding);
  text += "  \"levels\": [\n";
  for (std::size_t l = 0; l < all.size(); ++l)
    text += fmt::format("    {{\"level\": {}, \"file\": \"{}\", \"shape\": {}, \"scale\": {}}}{}\n", l + 1, all[l].name,
                        list_of(all[l].geometry.output_shape()), list_of(all[l].scale), l + 1 < all.size() ? "," : "");
  return text + "  ]\n}\n";
}

void PyramidCommand::run() const {
  use_threads(common);
  const InputFile source = open_source();
  const Array& x = source.array();
  const std::vector<Level> all = make_levels(source);
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
  for (OutputFile& file : files) file.commit();
  description.commit();
  if (!common.quiet)
    for (const Level& level : all)
      fmt::print("{}/{}: {}\n", folder, level.name, text_of(level.geometry.output_shape()));
}

}  // namespace

void add_pyramid_command(CLI::App& program) {
  const auto command = std::make_shared<PyramidCommand>();
  CLI::App* app = program.add_subcommand("pyramid", "Smaller and smaller versions of an array, from one pass over it");
  app->add_option("in", command->in, "Array: .npy, .png, or - for a .npy on standard input")->required();
  app->add_option("-o,--out", command->folder, "Folder for level-1, level-2, ... and pyramid.json")->required();
  app->add_option("--op", command->op, "How cells are pooled")
      ->check(CLI::IsMember({"avg", "max", "min"}))
      ->capture_default_str();
  app->add_option("-k,--kernel", command->options.kernel, "Cells that become one from level to level, such as 2,2,2")
      ->required();
  app->add_option("--levels", command->levels, "Number of levels, without the array itself")
      ->required()
      ->check(CLI::Range(1, 62));
  app->add_option("--axes", command->options.axes, "Axes to pool, such as 1,2; the last ones if not given");
  app->add_option("--edges", command->edges, "Blocks that are not full: keep them, or drop their cells")
      ->check(CLI::IsMember({"keep", "drop"}))
      ->capture_default_str();
  app->add_option("--rounding", command->options.rounding, "How averages of integers are rounded, on every level once")
      ->check(CLI::IsMember({"half_even", "toward_zero", "floor", "half_away"}));
  app->add_option("--dtype", command->dtype, "What elements without a type are")->check(CLI::IsMember({"bfloat16"}));
  add_common_options(*app, command->common);
  app->footer(
      "Examples:\n"
      "  ndpool pyramid volume.npy -o levels --op avg --kernel 2,2,2 --levels 5 --memory 512M\n"
      "  ndpool pyramid photo.png -o thumbnails --kernel 2 --levels 4 --edges drop\n");
  app->callback([command] { command->run(); });
}

}  // namespace ndpool::cli
