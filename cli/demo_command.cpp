// ndpool demo: a page with every operator on one picture, and this machine's speed.
#include "bench_command.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "operators.hpp"
#include "page.hpp"
#include "problem.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
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

/// A picture with what pools tell apart: edges, thin lines, a smooth sky, single bright dots.
Floats draw_scene() {
  Floats picture({192, 256, 3});
  const float height = 192, width = 256;
  unsigned noise = 12345;
  for (Index r = 0; r < 192; ++r)
    for (Index c = 0; c < 256; ++c) {
      const float y = static_cast<float>(r) / height, x = static_cast<float>(c) / width;
      float red = 0.25F + 0.5F * y, green = 0.45F + 0.35F * y, blue = 0.85F - 0.1F * y;
      if (std::hypot(x - 0.78F, (y - 0.22F) * height / width) < 0.08F) red = 1, green = 0.9F, blue = 0.4F;
      const float hill = 0.62F + 0.08F * std::sin(9 * x) + 0.03F * std::sin(23 * x + 1);
      if (y > hill) red = 0.18F + 0.2F * (y - hill), green = 0.42F - 0.3F * (y - hill), blue = 0.16F;
      if (x > 0.12F && x < 0.42F && y > 0.4F && y < 0.85F) {  // a house of fine stripes with windows
        const bool stripe = (c / 2) % 2 == 0;
        red = stripe ? 0.8F : 0.55F, green = stripe ? 0.72F : 0.45F, blue = stripe ? 0.6F : 0.38F;
        if ((r / 14) % 2 == 0 && (c / 14) % 2 == 0) red = 0.1F, green = 0.12F, blue = 0.2F;
      }
      if (x > 0.55F && x < 0.95F && y > 0.72F && y < 0.95F && ((r / 8) + (c / 8)) % 2 == 0) red = green = blue = 0.92F;
      noise = noise * 1664525U + 1013904223U;
      if (y < 0.5F && noise >> 22 == 0) red = green = blue = 1;
      picture.at(r, c, 0) = red, picture.at(r, c, 1) = green, picture.at(r, c, 2) = blue;
    }
  return picture;
}

/// The user's picture: colours of 0 to 1, and no larger than a page can show.
Floats read_picture(const std::string& path) {
  const InputFile file(path);
  if (!file.is_picture()) throw WrongArguments("--input must be a .png");
  const Array& array = file.array();
  const Index channels = array.shape.size() == 3 ? array.shape[2] : 1;
  Floats picture({array.shape[0], array.shape[1], 3});
  const float most = array.dtype == Dtype::u16 ? 65535.0F : 255.0F;
  for (std::size_t i = 0; i < picture.values.size(); ++i) {
    const std::size_t pixel = i / 3, colour = channels >= 3 ? i % 3 : 0;
    const std::size_t at = pixel * static_cast<std::size_t>(channels) + colour;
    const float value = array.dtype == Dtype::u16
                            ? static_cast<float>(reinterpret_cast<const std::uint16_t*>(array.data)[at])
                            : static_cast<float>(reinterpret_cast<const unsigned char*>(array.data)[at]);
    picture.values[i] = value / most;
  }
  const Index largest = std::max(picture.extent(0), picture.extent(1));
  if (std::min(picture.extent(0), picture.extent(1)) < 16)
    throw WrongArguments("--input needs at least 16 x 16 pixels");
  if (largest <= 512) return picture;
  const Index by = (largest + 511) / 512;
  const Pool shrink = avg_pool({.kernel = {by, by}, .axes = {0, 1}});
  Floats small(shrink.output_shape(picture.shape));
  shrink.forward(View<const float>(picture.data(), picture.shape), View<float>(small.data(), small.shape));
  return small;
}

Floats pooled(const Pool& pool, const Floats& x) {
  Floats y(pool.output_shape(x.shape));
  pool.forward(View<const float>(x.data(), x.shape), View<float>(y.data(), y.shape));
  return y;
}

/// The VJP of ones: what each cell gives to the sum of all outputs.
Floats gradient_of_ones(const Pool& pool, const Floats& x) {
  Floats gy(pool.output_shape(x.shape)), gx(x.shape);
  std::ranges::fill(gy.values, 1.0F);
  pool.vjp(View<const float>(x.data(), x.shape), View<const float>(gy.data(), gy.shape),
           View<float>(gx.data(), gx.shape));
  return gx;
}

Floats brightness(const Floats& picture) {
  Floats grey({picture.extent(0), picture.extent(1)});
  for (std::size_t i = 0; i < grey.values.size(); ++i)
    grey.values[i] =
        0.3F * picture.values[3 * i] + 0.59F * picture.values[3 * i + 1] + 0.11F * picture.values[3 * i + 2];
  return grey;
}

Floats scaled(Floats picture, float factor, float offset = 0) {
  for (float& value : picture.values) value = factor * value + offset;
  return picture;
}

Floats cropped(const Floats& picture, Index rows, Index columns) {
  Floats part({rows, columns, 3});
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c)
      for (Index k = 0; k < 3; ++k) part.at(r, c, k) = picture.at(r, c, k);
  return part;
}

float largest(const Floats& plane) { return *std::ranges::max_element(plane.values); }

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
    page.section("Speed",
                 "Time of a kernel on this machine, divided by the time it takes to read its input once and to "
                 "write its output once. One thread, arrays larger than the caches; 1 is as fast as memory is.");
    fmt::print("\n");
    print_bench_header();
    std::vector<std::pair<std::string, double>> ratios;
    std::vector<std::vector<std::string>> times;
    for (const bench::Result& result : measure_cases({5, 0.05}, [](const bench::Result& each) {
           print_bench_row(each);
           return !is_interrupted();
         })) {
      ratios.emplace_back(result.measured.name, result.ratio());
      times.push_back(
          {result.measured.name, result.measured.line, result.measured.scalar,
           fmt::format("{:.2f} ms", 1e3 * result.seconds), fmt::format("{:.2f} ms", 1e3 * result.limit_seconds),
           fmt::format("{:.1f}", bytes_of(result) / result.seconds / 1e9), fmt::format("{:.2f}", result.ratio())});
    }
    page.bars(ratios, "times the limit; shorter is better");
    page.table({"kernel", "problem", "scalar", "time", "limit", "GB/s", "ratio"}, times);
  }

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
