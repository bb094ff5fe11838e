#include "report/inspection.hpp"

#include "report/pictures.hpp"

#include <cmath>

namespace ndpool::cli {

namespace {

using nlohmann::json;

/// Four digits, which is what the page shows.
json rounded(const std::vector<float>& values) {
  json list = json::array();
  for (const float value : values) list.push_back(std::round(static_cast<double>(value) * 1e4) / 1e4);
  return list;
}

/// First cell and number of cells of each output on the array, and first output and number of outputs of each cell.
json axis_of(const Axis& axis) {
  json outputs = json::array(), cells = json::array();
  for (Index o = 0; o < axis.output; ++o) {
    const Taps taps = axis.taps(o);
    outputs.push_back({taps.first, taps.count});
  }
  for (Index c = 0; c < axis.input; ++c) {
    const auto seeing = axis.outputs_seeing(c);
    cells.push_back({seeing.first, seeing.count});
  }
  return {{"outputs", outputs}, {"cells", cells}};
}

}  // namespace

json inspect(const Floats& plane) {
  const Window window{.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};
  struct Inspected {
    const char *name, *title;
    Pool pool;
    bool has_winners = false;
  };
  const Geometry geometry = max_pool(window).geometry(plane.shape);
  json inspection = {{"rows", axis_of(geometry.axes[0])},
                     {"columns", axis_of(geometry.axes[1])},
                     {"window", "3 x 3 windows, stride 2, padding 1"},
                     {"input", rounded(plane.values)},
                     {"operators", json::array()}};
  for (const Inspected& inspected :
       {Inspected{"max", "Maximum", max_pool(window), true}, Inspected{"min", "Minimum", min_pool(window), true},
        Inspected{"avg", "Average", avg_pool(window, {.count_include_pad = false})},
        Inspected{"smooth-max", "Smooth max, beta 16",
                  smooth_max_pool(window, {.beta = 16, .pad_mode = PadMode::ignore})},
        Inspected{"lp", "Lp, p 2", lp_pool(2, window)}}) {
    Floats y(inspected.pool.output_shape(plane.shape));
    const View<const float> x(plane.data(), plane.shape);
    json entry = {{"name", inspected.name}, {"title", inspected.title}};
    if (inspected.has_winners) {
      std::vector<Index> winners(y.values.size());
      inspected.pool.forward(x, View<float>(y.data(), y.shape), View<Index>(winners.data(), y.shape));
      entry["winners"] = winners;
    } else {
      inspected.pool.forward(x, View<float>(y.data(), y.shape));
    }
    entry["values"] = rounded(y.values);
    entry["gradient"] = rounded(gradient_of_ones(inspected.pool, plane).values);
    inspection["operators"].push_back(entry);
  }
  return inspection;
}

}  // namespace ndpool::cli
