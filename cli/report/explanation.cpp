#include "report/explanation.hpp"

#include <algorithm>

namespace ndpool::cli {

namespace {

using nlohmann::json;

json list_of(const Shape& shape) {
  json list = json::array();
  for (const Index extent : shape) list.push_back(extent);
  return list;
}

json windows_of(const Axis& axis) {
  json windows = json::array();
  for (Index o = 0; o < axis.output; ++o) {
    const Taps taps = axis.taps(o);
    windows.push_back(
        {{"first_cell", taps.first}, {"cells", taps.count}, {"step", taps.step}, {"padded", taps.padded}});
  }
  return windows;
}

}  // namespace

json explanation_of(const std::string& op, const Shape& shape, const Shape& output_shape, const Geometry& geometry,
                    const std::vector<AxisCounts>& counts, const std::vector<std::string>& warnings) {
  json axes = json::array();
  Index cells_seen = 1;
  for (const AxisCounts& count : counts) {
    const Axis& axis = geometry.axes[count.number];
    json entry = {{"axis", count.number},      {"input", axis.input},         {"output", axis.output},
                  {"adaptive", axis.adaptive}, {"windows", windows_of(axis)}, {"seen_by", count.seen},
                  {"divisors", count.divisors}};
    if (!axis.adaptive) {
      entry["kernel"] = axis.kernel;
      entry["stride"] = axis.stride;
      entry["dilation"] = axis.dilation;
      entry["padding"] = {axis.lo, axis.hi};
    }
    axes.push_back(entry);
    cells_seen *= axis.input - std::ranges::count(count.seen, 0);
  }
  return {{"operator", op},      {"shape", list_of(shape)},        {"output_shape", list_of(output_shape)},
          {"axes", axes},        {"cells", geometry.cell_count()}, {"never_seen", geometry.cell_count() - cells_seen},
          {"warnings", warnings}};
}

}  // namespace ndpool::cli
