#include "report/demo_page.hpp"

#include "report/inspection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

namespace ndpool::cli {

namespace {

using nlohmann::json;

/// Side of the windows of the page, and of the part that is enlarged, in windows.
constexpr Index window_size = 5, crop_size = 12;
/// Rows and columns of the plane whose single windows are shown.
constexpr Index inspected_rows = 24, inspected_columns = 32;

/// The eye of the photograph; the middle of any other picture.
Box enlarged_part(const Floats& scene, bool is_photograph) {
  const Index rows = scene.extent(0) / window_size, columns = scene.extent(1) / window_size;
  const Index size = std::min({crop_size, rows, columns});
  if (is_photograph) return {5, 13, size, size};
  return {(rows - size) / 2, (columns - size) / 2, size, size};
}

/// Without the rows and columns that no window of the page would see, so that pictures before and after a pool have one
/// shape.
Floats without_rest(const Floats& scene) {
  return cropped(scene,
                 {0, 0, scene.extent(0) / window_size * window_size, scene.extent(1) / window_size * window_size});
}

/// A heat map with the number that its white end stands for.
json heat_of(const Floats& plane) {
  json picture = picture_of(heat_map(plane, largest(plane)));
  picture["largest"] = largest(plane);
  return picture;
}

Floats part_of(const Floats& plane, const Box& box) {
  Floats part({box.rows, box.columns});
  for (Index r = 0; r < box.rows; ++r)
    std::copy_n(plane.data() + (box.row + r) * plane.extent(1) + box.column, box.columns,
                part.data() + r * box.columns);
  return part;
}

}  // namespace

/// A reducer by name, as the pool of one description, and how its result becomes colours: factor and offset.
struct DemoPage::Shown {
  std::string name;
  std::variant<reduction::Max, reduction::Min, reduction::Sum, reduction::Average, reduction::SmoothMax, reduction::Lp>
      reducer;
  float factor = 1, offset = 0;
  std::string note = {};

  template <class Description>
  Pool pool(const Description& description) const {
    return std::visit([&](const auto& named) { return Pool(description, named); }, reducer);
  }
};

DemoPage::DemoPage(Floats scene, bool is_photograph)
    : scene_(without_rest(scene)), grey_(brightness(scene_)), crop_(enlarged_part(scene_, is_photograph)) {
  data_["isPhotograph"] = is_photograph;
  data_["window"] = fmt::format("{0} x {0}", window_size);
}

void DemoPage::draw() {
  data_["pictures"]["scene"] = picture_of(scene_);
  data_["crops"]["scene"] = picture_of(cropped(scene_, crop_.times(window_size)));
  windows();
  bins();
  winners();
  gradients();
  betas();
  edges();
  const Box part = crop_.times(window_size);
  const Index rows = std::min(inspected_rows, part.rows), columns = std::min(inspected_columns, part.columns);
  data_["inspection"] = inspect(
      part_of(grey_, {part.row + (part.rows - rows) / 2, part.column + (part.columns - columns) / 2, rows, columns}));
}

void DemoPage::add(const std::string& name, const std::string& window, const Pool& pool, const Floats& x) {
  shapes_.push_back({name, window, x.shape, pool.output_shape(x.shape)});
}

std::vector<DemoPage::Shown> DemoPage::reducers(Index taps) const {
  const float n = static_cast<float>(taps);
  return {
      {"max", reduction::Max{}},
      {"min", reduction::Min{}},
      {"avg", reduction::Average{}},
      {"sum", reduction::Sum{}, 1 / n, 0, "shown divided by the number of taps"},
      {"smooth-max", reduction::SmoothMax{{.beta = 16}}, 1, -std::log(n) / 16, "beta 16, shown less log(taps) / beta"},
      {"lp", reduction::Lp{2}, 1 / std::sqrt(n), 0, "p 2, shown divided by sqrt(taps)"}};
}

void DemoPage::windows() {
  const Window window{.kernel = {window_size, window_size}, .axes = {0, 1}};
  for (const Shown& shown : reducers(window_size * window_size)) {
    const Pool pool = shown.pool(window);
    const Floats y = scaled(pooled(pool, scene_), shown.factor, shown.offset);
    add(shown.name, data_["window"], pool, scene_);
    data_["pictures"][shown.name] = picture_of(y);
    data_["pictures"][shown.name]["note"] = shown.note;
    data_["crops"][shown.name] = picture_of(cropped(y, crop_));
  }
}

void DemoPage::bins() {
  const Index rows = 9, columns = 12;
  const Adaptive bins{{rows, columns}, {0, 1}};
  const Global all{{0, 1}, true};
  const Index taps = (scene_.extent(0) / rows) * (scene_.extent(1) / columns);
  for (const Shown& shown : reducers(taps)) {
    const Pool pool = shown.pool(bins);
    add("adaptive-" + shown.name, fmt::format("{} x {} bins", rows, columns), pool, scene_);
    data_["pictures"]["adaptive-" + shown.name] = picture_of(scaled(pooled(pool, scene_), shown.factor, shown.offset));
  }
  for (const Shown& shown : reducers(scene_.extent(0) * scene_.extent(1))) {
    const Pool pool = shown.pool(all);
    add("global-" + shown.name, "all", pool, scene_);
    data_["pictures"]["global-" + shown.name] = picture_of(scaled(pooled(pool, scene_), shown.factor, shown.offset));
  }
}

void DemoPage::winners() {
  const Pool pool = max_pool({.kernel = {window_size, window_size}});
  Floats y(pool.output_shape(grey_.shape));
  std::vector<Index> indices(y.values.size());
  pool.forward(View<const float>(grey_.data(), grey_.shape), View<float>(y.data(), y.shape),
               View<Index>(indices.data(), y.shape));
  Floats overlay({grey_.extent(0), grey_.extent(1), 3});
  for (std::size_t i = 0; i < overlay.values.size(); ++i) overlay.values[i] = 0.6F * grey_.values[i / 3];
  for (const Index index : indices) {
    const auto at = static_cast<std::size_t>(3 * index);
    overlay.values[at] = 1, overlay.values[at + 1] = 0.25F, overlay.values[at + 2] = 0.15F;
  }
  data_["pictures"]["winners"] = picture_of(overlay);
  data_["crops"]["winners"] = picture_of(cropped(overlay, crop_.times(window_size)));
  data_["winners"] = indices.size();
}

void DemoPage::gradients() {
  const Window window{.kernel = {window_size, window_size}, .stride = {2, 2}, .padding = {2, 2}};
  for (const auto& [name, pool] : {std::pair<const char*, Pool>{"max", max_pool(window)},
                                   {"avg", avg_pool(window)},
                                   {"smooth-max", smooth_max_pool(window, {.beta = 16})}}) {
    const Floats gx = gradient_of_ones(pool, grey_);
    data_["heat"][name] = heat_of(gx);
    data_["heatCrops"][name] = heat_of(part_of(gx, crop_.times(window_size)));
  }
}

void DemoPage::betas() {
  const Window window{.kernel = {window_size, window_size}, .axes = {0, 1}};
  const double taps = static_cast<double>(window_size * window_size);
  data_["betas"] = json::array();
  const auto frame = [&](const std::string& title, const Floats& y) {
    data_["betas"].push_back({{"title", title}, {"picture", picture_of(y)}, {"crop", picture_of(cropped(y, crop_))}});
  };
  frame("the average", pooled(avg_pool(window), scene_));
  for (const double beta : {1.0, 4.0, 8.0, 16.0, 32.0, 64.0, 256.0})
    frame(fmt::format("smooth max, beta {}", beta), scaled(pooled(smooth_max_pool(window, {.beta = beta}), scene_), 1,
                                                           -static_cast<float>(std::log(taps) / beta)));
  frame("the maximum", pooled(max_pool(window), scene_));
}

/// The enlarged part less some rows and columns, whose sides are no multiple of the window; what no window sees is red.
void DemoPage::edges() {
  Box box = crop_.times(window_size);
  box.rows -= 2, box.columns -= 3;
  const Floats part = cropped(scene_, box);
  for (const bool ceil_mode : {false, true}) {
    const Pool pool = max_pool({.kernel = {window_size, window_size}, .axes = {0, 1}, .ceil_mode = ceil_mode});
    const Geometry geometry = pool.geometry(part.shape);
    Floats marked = part;
    for (Index r = 0; r < box.rows; ++r)
      for (Index c = 0; c < box.columns; ++c)
        if (geometry.axes[0].outputs_seeing(r).count == 0 || geometry.axes[1].outputs_seeing(c).count == 0)
          marked.at(r, c, 0) = 0.9F, marked.at(r, c, 1) = marked.at(r, c, 2) = 0.1F;
    const std::string name = ceil_mode ? "ceil" : "floor";
    add("max", std::string(data_["window"]) + ", " + name, pool, part);
    data_["pictures"]["seen-" + name] = picture_of(marked);
    data_["pictures"]["edge-" + name] = picture_of(pooled(pool, part));
  }
}

}  // namespace ndpool::cli
