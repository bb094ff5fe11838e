#include "kernels/indices/layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ndpool::indices {

namespace {

constexpr double min_tile_bytes = 64 << 10, max_tile_bytes = 256 << 10;
constexpr Index lane_unit = 1024;  // chunks of lanes are whole blocks
constexpr double cell_bytes = 4;

/// From the first cell of a window up to one past its last; of bins the least.
Index span_of(const Axis& axis) { return axis.adaptive ? std::max<Index>(1, axis.kernel - 1) : axis.span(1); }

Dim batch_dim(const LoopAxis& axis) {
  Dim dim;
  dim.window = batch_axis(axis.extent);
  dim.outputs = dim.cells = axis.extent;
  dim.index_stride = axis.stride.out;
  dim.value_stride = axis.stride.tangent_out;
  dim.cell_stride = axis.stride.tangent_in;
  return dim;
}
Dim pooled_dim(const PooledAxis& axis) {
  Dim dim = batch_dim({axis.window.output, axis.stride});
  dim.window = axis.window;
  dim.is_pooled = true;
  dim.cells = axis.window.input;
  dim.tap_weight = axis.tap_stride;
  dim.flat_weight = axis.cell_stride;
  return dim;
}

/// Planes and lanes may be visited in any order: cells that are far apart outermost, and as one dimension what all
/// arrays step through like one.
std::vector<Dim> batch_dims(const Rows& rows) {
  std::vector<Dim> dims;
  dims.reserve(static_cast<std::size_t>(rows.loop_count + rows.vertical_count + 4));
  for (int i = 0; i < rows.loop_count; ++i) dims.push_back(batch_dim(rows.loops[i]));
  if (rows.inner.extent > 1) dims.push_back(batch_dim(rows.inner));
  const auto is_farther = [](const Dim& a, const Dim& b) { return std::abs(a.cell_stride) > std::abs(b.cell_stride); };
  for (auto dim = dims.begin(); dim != dims.end(); ++dim)  // a stable sort without a buffer
    std::rotate(std::upper_bound(dims.begin(), dim, *dim, is_farther), dim, dim + 1);
  std::size_t kept = 0;
  for (const Dim& dim : dims) {
    Dim& before = dims[kept == 0 ? 0 : kept - 1];
    const bool is_one = kept > 0 && before.cell_stride == dim.cell_stride * dim.cells &&
                        before.index_stride == dim.index_stride * dim.cells &&
                        before.value_stride == dim.value_stride * dim.cells;
    if (is_one) {
      Dim both = dim;
      both.outputs = both.cells = both.window.input = both.window.output = before.cells * dim.cells;
      before = both;
    } else {
      dims[kept++] = Dim(dim);
    }
  }
  dims.resize(kept);
  return dims;
}

void add_dims(const Rows& rows, Layout& layout) {
  layout.dims = batch_dims(rows);
  std::vector<Dim>& dims = layout.dims;
  // Lanes are nearer to one another than the cells of a row.
  Dim lanes = batch_dim({});
  if (!dims.empty() && std::abs(dims.back().cell_stride) < std::abs(rows.horizontal.stride.tangent_in)) {
    lanes = dims.back();
    dims.pop_back();
  }
  if (dims.empty()) dims.push_back(batch_dim({}));
  layout.pooled_begin = static_cast<int>(dims.size());
  for (int v = 0; v < rows.vertical_count; ++v) dims.push_back(pooled_dim(rows.vertical[v]));
  dims.push_back(pooled_dim(rows.horizontal));
  layout.pooled_end = static_cast<int>(dims.size());
  dims.push_back(lanes);
  layout.count = static_cast<int>(dims.size());
  for (int d = layout.pooled_begin; d < layout.pooled_end; ++d) layout.cell_count *= layout.dim(d).cells;
  layout.slab_dim = layout.pooled_begin;
  while (layout.slab_dim + 1 < layout.pooled_end && layout.dim(layout.slab_dim).cells == 1) ++layout.slab_dim;
}

Index ceil_of(Index a, Index b) { return (a + b - 1) / b; }

/// Of dimensions whose innermost `behind` are `bytes` large: as many as make a tile.
void cut(const Layout& layout, int last, double bytes, double target, Tiling& tiling) {
  tiling.dim = last;
  while (tiling.dim > 0 && bytes * static_cast<double>(layout.dim(tiling.dim).outputs) <= target)
    bytes *= static_cast<double>(layout.dim(tiling.dim--).outputs);
  const Index outputs = layout.dim(tiling.dim).outputs;
  tiling.step = std::clamp<Index>(static_cast<Index>(target / bytes), 1, outputs);
  tiling.count = ceil_of(outputs, tiling.step);
  for (int d = 0; d < tiling.dim; ++d) tiling.count *= layout.dim(d).outputs;
}

double product(const Layout& layout, int first, int end, Index Dim::*extent) {
  double all = 1;
  for (int d = first; d < end; ++d) all *= static_cast<double>(layout.dim(d).*extent);
  return all;
}

/// Slabs so tall that few outputs are visited for two of them, but at least two of a plane that is more than a tile.
Index slab_of(const Layout& layout, double outputs, double cells, double target) {
  const Dim& dim = layout.dim(layout.slab_dim);
  const double row_bytes = (outputs + cells) * cell_bytes / static_cast<double>(dim.cells);
  auto slab = std::max<Index>(1, static_cast<Index>(target / row_bytes));
  const Index step = dim.window.adaptive ? dim.cells / dim.outputs : dim.window.stride;
  const Index shared = std::max<Index>(0, std::min(span_of(dim.window), dim.cells) - step);
  if (8 * outputs > cells) slab = std::max(slab, 4 * shared);
  slab = std::min(slab, ceil_of(dim.cells, 2));
  return ceil_of(dim.cells, ceil_of(dim.cells, slab));  // all about as tall
}

void cut_cells(Layout& layout) {
  const int begin = layout.pooled_begin, end = layout.pooled_end;
  const Index lanes = layout.dim(end).outputs;
  double cells = product(layout, begin, end + 1, &Dim::cells), outputs = product(layout, begin, end + 1, &Dim::outputs);
  const double planes = product(layout, 0, begin, &Dim::outputs);
  const double target = std::clamp(planes * (cells + outputs) * cell_bytes / 8, min_tile_bytes, max_tile_bytes);
  Tiling& tiling = layout.by_cells;
  tiling.lanes = lanes;
  double bytes = (cells + outputs) * cell_bytes;
  if (bytes <= 1.5 * target) {
    cut(layout, begin - 1, bytes, target, tiling);
  } else {
    if (lanes >= 2 * lane_unit) {
      const double unit_bytes = bytes / static_cast<double>(lanes) * static_cast<double>(lane_unit);
      tiling.lanes = std::min(lanes, std::max<Index>(1, static_cast<Index>(target / unit_bytes)) * lane_unit);
      const double share = static_cast<double>(tiling.lanes) / static_cast<double>(lanes);
      cells *= share;
      outputs *= share;
      bytes *= share;
    }
    tiling.dim = begin - 1;
    if (bytes > 1.5 * target && layout.dim(layout.slab_dim).cells > 1)
      tiling.slab = slab_of(layout, outputs, cells, target);
    tiling.count = ceil_of(lanes, std::max<Index>(1, tiling.lanes));
    if (tiling.slab > 0) tiling.count *= ceil_of(layout.dim(layout.slab_dim).cells, tiling.slab);
    for (int d = 0; d < begin; ++d) tiling.count *= layout.dim(d).outputs;
  }
  layout.max_tile_cells = tiling.lanes * tiling.step;
  for (int d = tiling.dim + 1; d < end; ++d)
    layout.max_tile_cells *= d == layout.slab_dim && tiling.slab > 0 ? tiling.slab : layout.dim(d).cells;
}

void cut_outputs(Layout& layout) {
  const double outputs = product(layout, 0, layout.count, &Dim::outputs);
  const double target = std::clamp(outputs * cell_bytes * 2 / 8, min_tile_bytes, max_tile_bytes);
  cut(layout, layout.count - 1, cell_bytes * 2, target, layout.by_outputs);
}

/// Elements from the first to the last cell of the planes of a tile.
double span_of(const Layout& layout, const Tiling& tiling) {
  double span = 0;
  for (int d = tiling.dim; d < layout.count; ++d) {
    const Dim& dim = layout.dim(d);
    const Index cells = d == tiling.dim && !dim.is_pooled ? tiling.step : dim.cells;
    span += static_cast<double>(cells - 1) * std::abs(static_cast<double>(dim.cell_stride));
  }
  for (int d = layout.pooled_begin; d < tiling.dim; ++d)
    span += static_cast<double>(layout.dim(d).cells - 1) * std::abs(static_cast<double>(layout.dim(d).cell_stride));
  return span;
}

/// True if every number that a tile computes has 31 bits: offsets from the first cell of its planes, and indices.
bool is_narrow(const Layout& layout) {
  constexpr double limit = std::numeric_limits<std::int32_t>::max();
  const Dim& slab = layout.dim(layout.slab_dim);
  const double reach = (static_cast<double>(slab.window.lo) + static_cast<double>(slab.cells) +
                        2 * static_cast<double>(layout.slack) + 2 * static_cast<double>(span_of(slab.window))) *
                       static_cast<double>(slab.flat_weight);
  for (int d = layout.pooled_begin; d < layout.pooled_end; ++d) {
    const Axis& axis = layout.dim(d).window;
    if (static_cast<double>(axis.lo) + static_cast<double>(axis.input) +
            static_cast<double>(axis.kernel) * static_cast<double>(axis.dilation) >=
        limit)
      return false;
  }
  return std::max(span_of(layout, layout.by_cells), span_of(layout, layout.by_outputs)) < limit && reach < limit &&
         static_cast<double>(layout.tap_count) < limit && static_cast<double>(layout.cell_count) < limit &&
         static_cast<double>(layout.max_tile_cells) < limit;
}

/// True if the cells of a slab are between those of its neighbours in memory.
bool is_nested(const Layout& layout) {
  double span = 0;
  for (int d = layout.pooled_begin; d < layout.count; ++d)
    if (d != layout.slab_dim)
      span += static_cast<double>(layout.dim(d).cells - 1) * std::abs(static_cast<double>(layout.dim(d).cell_stride));
  return span < std::abs(static_cast<double>(layout.dim(layout.slab_dim).cell_stride));
}

/// The outputs of an axis whose windows have a cell in a range, or between cells of it.
Range outputs_reaching(const Axis& axis, Range cells) {
  cells = {std::max<Index>(cells.begin, 0), std::min(cells.end, axis.input)};
  if (axis.adaptive) {
    const Progression last = axis.outputs_seeing(cells.end - 1);
    return {axis.outputs_seeing(cells.begin).first, last.first + last.count};
  }
  const Index first = detail::ceil_divide(cells.begin + axis.lo - (axis.span(1) - 1), axis.stride);
  const Index last = (cells.end - 1 + axis.lo) / axis.stride;
  const Index begin = std::clamp<Index>(first, 0, axis.output);
  return {begin, std::clamp(last + 1, begin, axis.output)};
}

}  // namespace

Layout make_layout(const Rows& rows, bool is_unpool) {
  Layout layout;
  add_dims(rows, layout);
  layout.tap_count = is_unpool ? 1 : rows.tap_count;
  const Axis& slab = layout.dim(layout.slab_dim).window;
  // Bins differ by a cell; unpooling knows its windows by their distance alone.
  if (slab.adaptive || is_unpool) layout.slack = is_unpool ? 2 * span_of(slab) + 4 : 1;
  cut_cells(layout);
  cut_outputs(layout);
  layout.is_narrow = is_narrow(layout);
  layout.is_nested = is_nested(layout);
  return layout;
}

namespace {

/// Positions of the dimensions up to the one that is cut; answers the rest of the number.
void place(const Layout& layout, const Tiling& tiling, Index number, Box& box) {
  const Dim& last = layout.dim(tiling.dim);
  const Index parts = ceil_of(last.outputs, tiling.step), part = number % parts;
  box.outputs[tiling.dim] = {part * tiling.step, std::min(last.outputs, (part + 1) * tiling.step)};
  number /= parts;
  for (int d = tiling.dim - 1; d >= 0; --d) {
    const Index at = number % layout.dim(d).outputs;
    box.outputs[d] = {at, at + 1};
    number /= layout.dim(d).outputs;
  }
  for (int d = tiling.dim + 1; d < layout.count; ++d) box.outputs[d] = {0, layout.dim(d).outputs};
}

void cells_of_outputs(const Layout& layout, Box& box) {
  for (int d = 0; d < layout.count; ++d)
    box.cells[d] = layout.dim(d).is_pooled ? Range{0, layout.dim(d).cells} : box.outputs[d];
}

}  // namespace

void cell_tile(const Layout& layout, Index tile, bool all_outputs, Box& box) {
  const Tiling& tiling = layout.by_cells;
  const Dim& lanes = layout.dim(layout.pooled_end);
  const Dim& slab_axis = layout.dim(layout.slab_dim);
  const Index slabs = tiling.slab > 0 ? ceil_of(slab_axis.cells, tiling.slab) : 1;
  const Index slab = tile % slabs;
  tile /= slabs;
  const Index chunks = ceil_of(lanes.outputs, tiling.lanes), chunk = tile % chunks;
  place(layout, tiling, tile / chunks, box);
  box.outputs[layout.pooled_end] = {chunk * tiling.lanes, std::min(lanes.outputs, (chunk + 1) * tiling.lanes)};
  cells_of_outputs(layout, box);
  if (slabs == 1) return;
  const Range cells = {slab * tiling.slab, std::min(slab_axis.cells, (slab + 1) * tiling.slab)};
  box.cells[layout.slab_dim] = cells;
  if (!all_outputs)
    box.outputs[layout.slab_dim] =
        outputs_reaching(slab_axis.window, {cells.begin - layout.slack, cells.end + layout.slack});
}

void output_tile(const Layout& layout, Index tile, Box& box) {
  place(layout, layout.by_outputs, tile, box);
  cells_of_outputs(layout, box);
}

}  // namespace ndpool::indices
