// ndpool demo: a page with every operator on one picture, and this machine's speed.
#include "commands/bench_command.hpp"
#include "commands/commands.hpp"
#include "errors.hpp"
#include "io/new_file.hpp"
#include "io/output_names.hpp"
#include "report/page.hpp"
#include "report/pictures.hpp"
#include "report/progress.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cmath>
#include <memory>

namespace ndpool::cli {

namespace {

struct DemoCommand {
  std::string folder = "demo", input;
  bool without_bench = false;

  void run() const;
};

struct Row {
  std::string op, window;
  Shape in, out;
};

class Demo {
 public:
  explicit Demo(Floats scene)
      : page_("ndpool: one picture, every operator"), scene_(std::move(scene)), grey_(brightness(scene_)) {}

  void draw() {
    page_.section("The picture",
                  "Every picture below is pooled from this one. Colours are numbers from 0 to 1, and the "
                  "colour axis is never pooled.");
    page_.picture(scene_, fmt::format("{} pixels", text_of(scene_.shape)), 2);
    windows();
    bins();
    winners();
    gradients();
    betas();
    edges();
  }

  const std::vector<Row>& rows() const { return rows_; }
  Page& page() { return page_; }

 private:
  void add(const std::string& op, const std::string& window, const Pool& pool, const Floats& x) {
    rows_.push_back({op, window, x.shape, pool.output_shape(x.shape)});
  }

  /// All six reducers by name, as the pool of one description, and how its result is shown: factor and offset.
  template <class Description>
  void each_reducer(const Description& description, Index taps, const std::string& prefix, const std::string& window,
                    int scale) {
    const float n = static_cast<float>(taps);
    const std::string per = "shown divided by the taps";
    struct Shown {
      std::string name;
      Pool pool;
      float factor = 1, offset = 0;
      std::string note = {};
    };
    for (const Shown& shown :
         {Shown{"max", {description, reduction::Max{}}}, Shown{"min", {description, reduction::Min{}}},
          Shown{"avg", {description, reduction::Average{}}},
          Shown{"sum", {description, reduction::Sum{}}, 1 / n, 0, ", " + per},
          Shown{"smooth-max",
                {description, reduction::SmoothMax{{.beta = 16}}},
                1,
                -std::log(n) / 16,
                ", beta 16, less log(taps) / beta"},
          Shown{"lp", {description, reduction::Lp{2}}, 1 / std::sqrt(n), 0, ", p 2, shown divided by sqrt(taps)"}}) {
      const Floats y = pooled(shown.pool, scene_);
      add(prefix + shown.name, window, shown.pool, scene_);
      page_.picture(scaled(y, shown.factor, shown.offset),
                    fmt::format("{}{} {}{}", prefix, shown.name, text_of(y.shape), shown.note), scale);
    }
  }

  void windows() {
    page_.section("Windows of 8 x 8", "Each block of 64 pixels becomes one.");
    each_reducer(Window{.kernel = {8, 8}, .axes = {0, 1}}, 64, "", "8x8", 8);
  }

  void bins() {
    const Index rows = 9, columns = 12;
    page_.section("Adaptive and global",
                  "Adaptive pools have as many bins as asked for, however large the picture is; "
                  "global ones have one bin.");
    const Index taps = (scene_.extent(0) / rows) * (scene_.extent(1) / columns);
    each_reducer(Adaptive{{rows, columns}, {0, 1}}, taps, "adaptive-", fmt::format("{} x {} bins", rows, columns), 16);
    each_reducer(Global{{0, 1}, true}, scene_.extent(0) * scene_.extent(1), "global-", "all", 64);
  }

  void winners() {
    page_.section("Who won",
                  "Max pooling also tells where it found each maximum. The winner of every 8 x 8 block of the "
                  "brightness is marked.");
    const Pool pool = max_pool({.kernel = {8, 8}});
    Floats y(pool.output_shape(grey_.shape));
    std::vector<Index> indices(y.values.size());
    pool.forward(View<const float>(grey_.data(), grey_.shape), View<float>(y.data(), y.shape),
                 View<Index>(indices.data(), y.shape));
    Floats overlay({grey_.extent(0), grey_.extent(1), 3});
    for (std::size_t i = 0; i < overlay.values.size(); ++i) overlay.values[i] = 0.6F * grey_.values[i / 3];
    for (const Index index : indices) {
      const auto at = static_cast<std::size_t>(3 * index);
      overlay.values[at] = 1, overlay.values[at + 1] = 0.2F, overlay.values[at + 2] = 0.1F;
    }
    page_.picture(overlay, fmt::format("{} winners, one in each block", indices.size()), 2);
  }

  void gradients() {
    page_.section("Gradients",
                  "The gradient of the sum of all outputs: what each pixel gives to them. Black is nothing, "
                  "white is the most in the picture.");
    const Window window{.kernel = {5, 5}, .stride = {2, 2}, .padding = {2, 2}};
    for (const auto& [name, pool] : {std::pair<const char*, Pool>{"max 5x5 stride 2", max_pool(window)},
                                     {"avg 5x5 stride 2", avg_pool(window)},
                                     {"smooth-max 5x5 stride 2, beta 16", smooth_max_pool(window, {.beta = 16})}}) {
      const Floats gx = gradient_of_ones(pool, grey_);
      page_.picture(heat_map(gx, largest(gx)), fmt::format("{}: up to {:.3g}", name, largest(gx)), 2);
    }
  }

  void betas() {
    page_.section("Smooth max",
                  "log(sum(exp(beta x))) / beta, less log(taps) / beta. A small beta is close to the "
                  "average of a window, a large one to its maximum.");
    const Window window{.kernel = {8, 8}, .axes = {0, 1}};
    page_.picture(pooled(avg_pool(window), scene_), "average", 5);
    for (const double beta : {0.1, 4.0, 16.0, 64.0, 512.0}) {
      const float less = static_cast<float>(std::log(64.0) / beta);
      page_.picture(scaled(pooled(smooth_max_pool(window, {.beta = beta}), scene_), 1, -less),
                    fmt::format("beta {}", beta), 5);
    }
    page_.picture(pooled(max_pool(window), scene_), "maximum", 5);
  }

  /// A part of the picture whose sides are no multiple of the window, with the pixels that no window sees marked.
  void edges() {
    page_.section("Edges",
                  "Where windows do not divide a picture, floor mode leaves out what is over, and ceil mode has a "
                  "last window that is not full. The pixels that no window sees are red.");
    const Index rows = scene_.extent(0) / 8 * 8 - 3, columns = scene_.extent(1) / 8 * 8 - 2;
    const Floats part = cropped(scene_, rows, columns);
    for (const bool ceil_mode : {false, true}) {
      const Pool pool = max_pool({.kernel = {8, 8}, .axes = {0, 1}, .ceil_mode = ceil_mode});
      const Geometry geometry = pool.geometry(part.shape);
      Floats marked = part;
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < columns; ++c)
          if (geometry.axes[0].outputs_seeing(r).count == 0 || geometry.axes[1].outputs_seeing(c).count == 0)
            marked.at(r, c, 0) = 1, marked.at(r, c, 1) = marked.at(r, c, 2) = 0;
      const std::string name = ceil_mode ? "ceil" : "floor";
      add("max", "8x8, " + name, pool, part);
      page_.picture(marked, fmt::format("{}: what is seen of {}", name, text_of(part.shape)), 1);
      const Floats y = pooled(pool, part);
      page_.picture(y, fmt::format("{}: {}", name, text_of(y.shape)), 8);
    }
  }

  Page page_;
  Floats scene_, grey_;
  std::vector<Row> rows_;
};

void DemoCommand::run() const {
  check_folder(folder);
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) raise_errno("make the folder", folder);
  Demo demo(input.empty() ? draw_scene() : read_picture(input));
  demo.draw();
  Page& page = demo.page();

  page.section("Shapes", "What each operator makes of the shape of its input.");
  std::vector<std::vector<std::string>> cells;
  fmt::print("{:<22} {:<14} {:>14} {:>12}\n", "operator", "window", "in", "out");
  for (const Row& row : demo.rows()) {
    cells.push_back({row.op, row.window, text_of(row.in), text_of(row.out)});
    fmt::print("{:<22} {:<14} {:>14} {:>12}\n", row.op, row.window, text_of(row.in), text_of(row.out));
  }
  page.table({"operator", "window", "in", "out"}, cells);

  if (!without_bench) {
    fmt::print("\n");
    const bench::Report speed = measure_families({5, 0.05});
    page.section("Speed",
                 "Time of a kernel on this machine, divided by the time it takes to read its input once and to "
                 "write its output once. One thread, arrays larger than the caches; 1 is as fast as memory is. " +
                     limit_of(speed) + ".");
    page.chart(speed.svg(), "Times of kernels relative to the streaming limit");
  }

  stop_if_interrupted();
  NewFile file(folder + "/index.html");
  const std::string html = page.html();
  file.write(html.data(), html.size());
  file.commit();
  fmt::print("\nThe page is {}/index.html\n", folder);
}

}  // namespace

void add_demo_command(CLI::App& program) {
  const auto command = std::make_shared<DemoCommand>();
  CLI::App* app = program.add_subcommand("demo", "A page with every operator on one picture, and this machine's speed");
  app->add_option("-o,--out", command->folder, "Folder for index.html")->capture_default_str();
  app->add_option("--input", command->input, "A .png to use instead of the picture that the command draws");
  app->add_flag("--no-bench", command->without_bench, "Leave out the measurements");
  app->footer("Examples:\n  ndpool demo --out demo\n  ndpool demo --input photo.png\n");
  app->callback([command] { command->run(); });
}

}  // namespace ndpool::cli
