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

struct PyramidCommand {
  std::string in, folder, op = "avg", edges = "keep", dtype;
  OperatorOptions options;
  CommonOptions common;
  int levels = 1;

  void run() const;

 private:
  std::string json(const InputFile& source, const Shape& kernel, const std::vector<std::string>& entries) const;
};

struct Level {
  Pool pool;
  Geometry geometry;
  Shape scale;  ///< cells of the array per output, on every axis
  std::string name;
};

/// Boxes of the highest level, as outputs of a lower one.
std::vector<Range> refine(const std::vector<Range>& box, const Level& highest, const Level& level) {
  std::vector<Range> fine = box;
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

std::string PyramidCommand::json(const InputFile& source, const Shape& kernel,
                                 const std::vector<std::string>& entries) const {
  std::string text = fmt::format(
      "{{\n  \"source\": {{\"file\": {}, \"shape\": {}}},\n  \"dtype\": \"{}\",\n  \"operator\": \"{}\",\n"
      "  \"kernel\": {},\n  \"edges\": \"{}\",\n",
      quoted(source.path()), list_of(source.array().shape), name_of(source.array().dtype), op, list_of(kernel), edges);
  if (op == "avg")
    text += fmt::format("  \"rounding\": \"{}\",\n", options.rounding.empty() ? "half_even" : options.rounding);
  text += "  \"levels\": [\n";
  for (std::size_t i = 0; i < entries.size(); ++i) text += entries[i] + (i + 1 < entries.size() ? ",\n" : "\n");
  return text + "  ]\n}\n";
}

void PyramidCommand::run() const {
  use_threads(common);
  ReadOptions read{common.memory_bytes(), {}};
  if (!dtype.empty()) read.void_as = Dtype::bf16;
  const InputFile source(in, read);
  const Array& x = source.array();
  const Operator found = *std::ranges::find(operators(), op, &Operator::name);
  const char* ending = source.is_picture() ? "png" : "npy";

  // The kernel of each level as the operator's own options, so that every rule for them holds here too.
  const Pool first = make_pool(found, options, x.shape.size(), source.is_picture());
  const Geometry windows = first.geometry(x.shape);
  std::vector<Level> all;
  Shape kernel = Shape::filled(x.shape.size(), 1), scale = kernel;
  for (int a = 0; a < windows.rank; ++a) kernel[a] = windows.axes[a].pooled ? windows.axes[a].kernel : 1;
  for (int l = 1; l <= levels; ++l) {
    Window window;
    window.ceil_mode = edges == "keep";
    for (int a = 0; a < windows.rank; ++a) {
      if (__builtin_mul_overflow(scale[a], kernel[a], &scale[a])) throw WrongArguments("--levels is too large");
      if (!windows.axes[a].pooled) continue;
      window.axes.push_back(a);
      // A window that is as large as the axis already holds all of it.
      const bool whole = edges == "keep" && scale[a] > x.shape[a];
      window.kernel.push_back(whole ? x.shape[a] : scale[a]);
      if (edges == "drop" && scale[a] > x.shape[a])
        throw WrongArguments(
            fmt::format("level {} would have nothing on axis {}: {} cells, and blocks of {}; ask for "
                        "fewer --levels, or --edges keep",
                        l, a, x.shape[a], scale[a]));
    }
    const Pool pool =
        make_pool(found, options, x.shape.size(), source.is_picture()).over(spec::make_geometry(window, x.shape));
    all.push_back({pool, pool.geometry(x.shape), scale, fmt::format("level-{}.{}", l, ending)});
  }
  check_output(fmt::format("level.{}", ending), x.dtype, all.back().geometry.output_shape());

  const NewFolder made(folder);
  std::list<OutputFile> files;
  std::vector<Operands> operands;
  std::vector<std::string> entries;
  for (std::size_t l = 0; l < all.size(); ++l) {
    const Shape shape = all[l].geometry.output_shape();
    files.emplace_back(folder + "/" + all[l].name, x.dtype, shape, source.is_fortran());
    operands.push_back({x, {}, files.back().array(), {}});
    entries.push_back(fmt::format("    {{\"level\": {}, \"file\": \"{}\", \"shape\": {}, \"scale\": {}}}", l + 1,
                                  all[l].name, list_of(shape), list_of(all[l].scale)));
  }

  const MemoryGuard guard(common.memory_bytes());
  {
    Progress progress("pyramid", static_cast<double>(element_count(x.shape) * item_size(x.dtype)), common.quiet);
    const Tiling tiling(Map::forward, all.back().geometry, operands.back(), tile_bytes(guard.bound()));
    const double steps = static_cast<double>(tiling.count()) * static_cast<double>(all.size());
    double step = 0;
    for (Index i = 0; i < tiling.count() && element_count(x.shape) > 0; ++i) {
      for (std::size_t l = 0; l < all.size(); ++l, ++step) {
        progress.stage(step / steps, (step + 1) / steps);
        const bool finished = run_tile(Map::forward, all[l].pool, all[l].geometry, operands[l],
                                       refine(tiling.box(i), all.back(), all[l]), progress.watch());
        if (!finished || is_interrupted()) throw Problem("interrupted");
      }
      guard.trim(guard.bound() / 2);
    }
  }
  NewFile description(folder + "/pyramid.json");
  const std::string text = json(source, kernel, entries);
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
