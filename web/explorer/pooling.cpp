#include "pooling.hpp"

#include "drawn_axis.hpp"
#include "sentences.hpp"

#include <ndpool/error.hpp>
#include <ndpool/spec/core.hpp>

namespace ndpool::explorer {

namespace {

/// More than a page can show, or compute while a slider moves.
constexpr Index max_drawn = 4096, max_taps = 1 << 20;

Numbers numbers_of(const Shape& shape) {
  Numbers numbers;
  for (const Index extent : shape) numbers.push_back(static_cast<double>(extent));
  return numbers;
}

void add_line(std::string& lines, const std::string& line) {
  if (line.empty()) return;
  if (!lines.empty()) lines += '\n';
  lines += line;
}

Index flat_position(const Shape& position, const Shape& shape) {
  const Shape strides = packed_strides(shape);
  Index flat = 0;
  for (int a = 0; a < shape.size(); ++a) flat += position[a] * strides[a];
  return flat;
}

Shape picture_of(const Geometry& geometry) {
  Shape shape;
  for (int a = 0; a < geometry.rank; ++a) {
    const Range drawn = drawn_positions(geometry.axes[a]);
    shape.push_back(drawn.end - drawn.begin);
  }
  return shape;
}

/// Where a position of the array is in the picture.
Shape in_picture(const Geometry& geometry, Shape position) {
  for (int a = 0; a < geometry.rank; ++a) position[a] -= drawn_positions(geometry.axes[a]).begin;
  return position;
}

Ground ground_at(const Geometry& geometry, const Shape& position) {
  Ground worst = Ground::cell;
  for (int a = 0; a < geometry.rank; ++a) {
    const Ground ground = ndpool::ground_at(geometry.axes[a], position[a]);
    if (worst < ground) worst = ground;
  }
  return worst;
}

std::string too_many(const char* what, Index count, Index limit) {
  return std::string("this page draws at most ") + std::to_string(limit) + " " + what + ", and these settings have " +
         (count < 0 ? "more than 64 bits can count" : std::to_string(count));
}

/// Why the page cannot show a geometry that the library would accept; empty if it can.
std::string reason_not_to_draw(const Geometry& geometry) {
  const Index drawn = element_count(picture_of(geometry));
  if (drawn < 0 || drawn > max_drawn) return too_many("cells, padding included", drawn, max_drawn);
  const Index outputs = element_count(geometry.output_shape());
  if (outputs < 0 || outputs > max_drawn) return too_many("outputs", outputs, max_drawn);
  if (outputs > 0 && geometry.tap_count() > max_taps / outputs)
    return too_many("taps in a window", geometry.tap_count(), max_taps / outputs);
  return {};
}

}  // namespace

Shape Pooling::position_in(const Shape& shape, Index flat) const {
  Shape position = shape;
  for (int a = shape.size() - 1; a >= 0; --a) {
    position[a] = flat % shape[a];
    flat /= shape[a];
  }
  return position;
}

Outcome Pooling::prepare(const Settings& settings) {
  *this = {};
  settings_ = settings;
  const Fault fault = settings.resolve_geometry(geometry_);
  sentence = fault ? message(fault) : reason_not_to_draw(geometry_);
  if (!sentence.empty()) return Outcome::nothing;
  output_shape = numbers_of(geometry_.output_shape());
  const bool drops_axes = settings.geometry == Kind::global && !settings.keepdims;
  visible_shape = drops_axes ? numbers_of(drop_pooled_axes(geometry_)) : output_shape;
  x.resize(static_cast<std::size_t>(element_count(geometry_.input_shape())));
  gy.resize(static_cast<std::size_t>(element_count(geometry_.output_shape())));
  explain();
  draw_cells();
  draw_boxes();
  const Fault unusable =
      settings.with_reducer([&](const auto& reducer) { return spec::core::check_value(geometry_, reducer); });
  has_numbers_ = !unusable;
  if (has_numbers_) return Outcome::fine;
  sentence = message(unusable);
  return Outcome::no_numbers;
}

void Pooling::run() {
  if (!has_numbers_) return;
  y.resize(gy.size());
  gx.assign(x.size(), 0);
  const Shape shape = geometry_.output_shape();
  settings_.with_reducer([&](const auto& reducer) {
    const View<const double> in(x.data(), geometry_.input_shape());
    spec::core::forward(
        geometry_, reducer, in, View<double>(y.data(), shape), [&](const Shape& output, const auto& summary) {
          if constexpr (requires { reducer.winner(summary); })
            if (settings_.has_winners())
              indices.push_back(static_cast<double>(spec::core::winner_index(geometry_, reducer, summary, output)));
        });
    spec::core::add_vjp(geometry_, reducer, in, View<const double>(gy.data(), shape),
                        View<double>(gx.data(), geometry_.input_shape()));
  });
}

void Pooling::look_at_output(Index output) {
  taps.clear();
  window_winner = -1;
  const Shape at = position_in(geometry_.output_shape(), output), picture = picture_of(geometry_);
  const spec::WindowAt<max_rank> window(geometry_, at);
  window_padded = static_cast<double>(window.counts().counted - window.counts().real);
  const auto nth = static_cast<std::size_t>(output);
  if (nth < indices.size() && indices[nth] >= 0) {
    const Shape winner = geometry_.cell_from_flat(at, static_cast<Index>(indices[nth]));
    window_winner = static_cast<double>(flat_position(winner, geometry_.input_shape()));
  }
  Shape lengths;
  for (int a = 0; a < geometry_.rank; ++a) lengths.push_back(window.taps[a].length);
  settings_.with_reducer([&](const auto& reducer) {
    const View<const double> in(x.data(), geometry_.input_shape());
    const auto summary = spec::core::summarise(reducer, window, in);
    if (has_numbers_) window_scale = reducer.scale(summary);
    spec::for_each_position(lengths, [&](const Shape& tap) {
      Shape position = at;
      Index number = 0;
      for (int a = 0; a < geometry_.rank; ++a) {
        position[a] = position_of_tap(geometry_.axes[a], at[a], tap[a]);
        number += tap[a] * geometry_.tap_stride[a];
      }
      const Ground ground = ground_at(geometry_, position);
      DrawnTap drawn{static_cast<double>(flat_position(in_picture(geometry_, position), picture)),
                     static_cast<double>(ground), -1, 0};
      if (ground == Ground::cell) {
        drawn.cell = static_cast<double>(flat_position(position, geometry_.input_shape()));
        if (has_numbers_) drawn.weight = reducer.weight(summary, in[position], number) / window_scale;
      }
      taps.push_back(drawn);
    });
  });
}

void Pooling::look_at_cell(Index cell) {
  seeing.clear();
  const Shape position = position_in(geometry_.input_shape(), cell), outputs = geometry_.output_shape();
  Shape counts;
  for (int a = 0; a < geometry_.rank; ++a) counts.push_back(geometry_.axes[a].outputs_seeing(position[a]).count);
  spec::for_each_position(counts, [&](const Shape& nth) {
    Shape at = position;
    for (int a = 0; a < geometry_.rank; ++a) {
      const Progression those = geometry_.axes[a].outputs_seeing(position[a]);
      at[a] = those.first + nth[a] * those.step;
    }
    const Index output = flat_position(at, outputs);
    look_at_output(output);
    Seeing one{static_cast<double>(output), 0, 0};
    for (const DrawnTap& tap : taps)
      if (tap.cell == static_cast<double>(cell)) one.weight = tap.weight;
    one.share = one.weight * gy[static_cast<std::size_t>(output)];
    seeing.push_back(one);
  });
}

void Pooling::explain() {
  for (int a = 0; a < geometry_.rank; ++a) {
    const Axis& axis = geometry_.axes[a];
    if (!axis.pooled) continue;
    add_line(arithmetic, output_size_sentence(axis, a, settings_.ceil_mode));
    add_line(arithmetic, dilation_sentence(axis));
    add_line(warnings, edge_sentence(axis, a));
    add_line(warnings, gap_sentence(axis, a));
  }
}

void Pooling::draw_cells() {
  const Shape picture = picture_of(geometry_);
  picture_shape = numbers_of(picture);
  for (int a = 0; a < geometry_.rank; ++a)
    picture_begin.push_back(static_cast<double>(drawn_positions(geometry_.axes[a]).begin));
  spec::for_each_position(picture, [&](const Shape& drawn) {
    Shape position = drawn;
    for (int a = 0; a < geometry_.rank; ++a) position[a] += drawn_positions(geometry_.axes[a]).begin;
    const Ground ground = ground_at(geometry_, position);
    Index outputs = 1;
    for (int a = 0; a < geometry_.rank; ++a)
      outputs *= ground == Ground::cell ? geometry_.axes[a].outputs_seeing(position[a]).count : 0;
    grounds.push_back(static_cast<double>(ground));
    cells.push_back(ground == Ground::cell ? static_cast<double>(flat_position(position, geometry_.input_shape()))
                                           : -1);
    seen.push_back(static_cast<double>(outputs));
  });
}

void Pooling::draw_boxes() {
  spec::for_each_position(geometry_.output_shape(), [&](const Shape& output) {
    for (int a = 0; a < geometry_.rank; ++a) {
      const Axis& axis = geometry_.axes[a];
      const Index before = drawn_positions(axis).begin, last_tap = axis.taps(output[a]).length - 1;
      boxes.push_back(static_cast<double>(position_of_tap(axis, output[a], 0) - before));
      boxes.push_back(static_cast<double>(position_of_tap(axis, output[a], last_tap) - before));
    }
  });
}

}  // namespace ndpool::explorer
