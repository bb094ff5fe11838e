#include "draw.hpp"

#include "support/generated.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace ndpool::bench {

namespace {

using testing::Generator;
using testing::GeometryKind;
using Numbers = std::vector<Index>;

std::string joined(const Numbers& numbers) {
  return testing::list(numbers.size(), [&](std::size_t i) { return std::to_string(numbers[i]); });
}

Index product_of(const Numbers& numbers) {
  Index product = 1;
  for (const Index number : numbers) product *= number;
  return product;
}

Index number_of(Generator& make, const Numbers& choices) {
  return choices[static_cast<std::size_t>(make.between(0, static_cast<Index>(choices.size()) - 1))];
}

double real_between(Generator& make, double low, double high) {
  return low + (high - low) * static_cast<double>(make.between(0, 1000000)) / 1e6;
}

/// As many numbers between 1 and 2 as between 32 and 64.
Index log_uniform(Generator& make, Index low, Index high) {
  const double exponent = real_between(make, std::log(low), std::log(high + 1));
  return std::clamp(static_cast<Index>(std::exp(exponent)), low, high);
}

Map draw_map(Generator& make) {
  const Index draw = make.between(1, 20);
  if (draw <= 8) return Map::forward;
  if (draw <= 12) return Map::vjp;
  if (draw <= 14) return Map::jvp;
  if (draw <= 16) return Map::indices_i64;
  if (draw <= 18) return Map::vjp_from_i64;
  return draw == 19 ? Map::indices_u8 : Map::vjp_from_u8;
}

std::string draw_operator(Generator& make, Map map) {
  if (has_indices(map)) return make.one_of({"max", "max", "min"});
  return make.one_of({"max", "max", "avg", "avg", "min", "sum", "smooth-max", "lp"});
}

std::string draw_scalar(Generator& make, Map map, const std::string& op) {
  if (is_derivative(map) || problem::is_transcendental(op)) return make.one_of({"f32", "f32", "f64", "f16", "bf16"});
  if (map == Map::forward && make.sometimes(12)) return make.one_of({"u8->f32", "u8->f32", "bf16->f32"});
  return make.one_of({"f32", "f32", "f32", "f32", "u8",  "u8",  "bf16", "bf16", "f64", "f64",
                      "f16", "f16", "i8",  "i16", "u16", "i32", "i64",  "u32",  "u64", "boolean"});
}

/// Bytes of an element of the input.
Index item_size_of(const std::string& scalar) {
#define NDPOOL_ROW(name, type) \
  if (scalar.substr(0, scalar.find('-')) == #name) return static_cast<Index>(sizeof(type));
  NDPOOL_DTYPES(NDPOOL_ROW)
#undef NDPOOL_ROW
  throw std::invalid_argument("there is no scalar '" + scalar + "'");
}

/// Sides of the pooled axes, and the channels.
struct Plane {
  Numbers sides;
  Index channels = 1;
};

/// Tiny planes, planes of networks, short rows, or any sides, so that `count` elements make 1 to 512 planes.
Plane draw_plane(Generator& make, std::size_t rank, Index count) {
  const Index style = make.between(1, 10);
  Plane plane;
  const bool tiny = style == 1, network = style == 2, short_rows = style == 3;
  plane.channels = tiny || network ? number_of(make, {1, 1, 3, 64, 256, 1000})
                                   : number_of(make, {1, 1, 1, 3, make.between(2, 40), 64, 256});
  const Index top = network ? number_of(make, {14, 28, 56}) : 8;
  const double planes = static_cast<double>(plane.channels * number_of(make, {1, 4, 64, 512}));
  const double side = std::pow(std::max(1.0, static_cast<double>(count) / planes), 1.0 / static_cast<double>(rank));
  for (std::size_t a = 0; a < rank; ++a) {
    Index drawn = std::max<Index>(2, static_cast<Index>(side * std::exp(real_between(make, -0.5, 0.5))));
    if (tiny || network) drawn = make.between(network ? top / 2 : 1, top);
    if (short_rows && a + 1 == rank) drawn = make.between(1, 15);
    if (make.sometimes(4)) drawn = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(drawn)));
    plane.sides.push_back(drawn);
  }
  while (product_of(plane.sides) * plane.channels > count) *std::ranges::max_element(plane.sides) /= 2;
  return plane;
}

/// Kernel, stride, dilation and padding of each axis.
std::string window_words(Generator& make, const Numbers& sides) {
  Numbers kernel, stride, dilation;
  std::string padding;
  const bool equal = make.sometimes(2), dilated = make.sometimes(7), beyond = make.sometimes(12);
  const Index longest = std::ranges::max_element(sides) - sides.begin(), large_axis = make.sometimes(6) ? longest : -1;
  for (const Index side : sides) {
    const bool large = static_cast<Index>(kernel.size()) == large_axis && side > 64;
    Index taps =
        large ? log_uniform(make, 65, std::min<Index>(side, 1000)) : log_uniform(make, 1, std::min<Index>(side, 64));
    if (equal && !large && !kernel.empty()) taps = std::min(kernel[0], side);
    kernel.push_back(taps);
    stride.push_back(number_of(make, {1, taps, std::max<Index>(1, taps / 2), 2, make.between(1, taps + 1)}));
    Index step = dilated ? make.between(1, make.sometimes(8) ? 32 : 3) : 1;
    if (step * (taps - 1) + 1 > side) step = 1;
    dilation.push_back(step);
    const Index before = beyond ? make.between(taps, 2 * taps) : number_of(make, {0, taps / 2});
    const Index behind = make.sometimes(6) ? make.between(0, before) : before;
    if (!padding.empty()) padding += ',';
    padding += std::to_string(before);
    if (behind != before) padding.append(":").append(std::to_string(behind));
  }
  if (!beyond && make.sometimes(12)) padding = make.one_of({"same", "same_lower"});
  std::string words = " kernel=" + joined(kernel) + " stride=" + joined(stride) + " padding=" + padding;
  if (dilated) words += " dilation=" + joined(dilation);
  if (make.sometimes(8)) words += " ceil";
  return words;
}

/// The shape and the axes as words: channels first or last.
std::string shape_words(Generator& make, const Plane& plane, Index count) {
  const Index planes = std::max<Index>(1, count / (product_of(plane.sides) * plane.channels));
  const bool last = plane.channels > 1 && make.between(1, 5) <= 3;
  Numbers shape, axes;
  if (planes > 1 || make.sometimes(2)) shape.push_back(planes);
  if (plane.channels > 1 && !last) shape.push_back(plane.channels);
  for (const Index side : plane.sides) {
    axes.push_back(static_cast<Index>(shape.size()));
    shape.push_back(side);
  }
  if (last) shape.push_back(plane.channels);
  return " shape=" + joined(shape) + " axes=" + joined(axes);
}

Layout draw_layout(Generator& make) {
  const Index draw = make.between(1, 20);
  if (draw <= 2) return Layout::fortran;
  return draw == 3 ? Layout::crop : draw == 4 ? Layout::every_second : Layout::packed;
}

/// True if the problem makes sense at its size: results that are not far larger than the input, and windows whose tap
/// numbers fit the indices.
bool can_be_measured(const Case& drawn) {
  if (!testing::is_valid(drawn.line)) return false;
  const Geometry geometry = drawn.problem.pool.geometry(drawn.problem.shape);
  if (element_count(geometry.output_shape()) > 2 * element_count(drawn.problem.shape)) return false;
  return !drawn.has_compact_indices() || spec::compact_bytes(geometry) == 1;
}

std::string draw_line(Generator& make, const std::string& op, Index count) {
  const std::size_t rank = static_cast<std::size_t>(number_of(make, {1, 1, 2, 2, 2, 2, 3, 3, 4, 5}));
  const Plane plane = draw_plane(make, rank, count);
  const std::string shape = shape_words(make, plane, count);
  const Index kind = make.between(1, 8);
  if (kind == 1) return "global-" + op + shape + testing::option_words(make, op, GeometryKind::global);
  if (kind == 2) {
    Numbers bins;
    for (const Index side : plane.sides)
      bins.push_back(make.between(1, make.sometimes(2) ? side : std::min<Index>(side, 8)));
    return "adaptive-" + op + shape + " output_size=" + joined(bins) +
           testing::option_words(make, op, GeometryKind::adaptive);
  }
  std::string line = op + shape + window_words(make, plane.sides);
  line += testing::option_words(make, op, GeometryKind::windowed);
  if (!testing::is_valid(line) && op != "sum") line += " empty=identity";
  return line;
}

}  // namespace

Case draw_case(std::uint64_t seed, Index number, Index bytes) {
  std::seed_seq sequence{seed & 0xffffffff, seed >> 32, static_cast<std::uint64_t>(number),
                         static_cast<std::uint64_t>(bytes)};
  std::mt19937_64 random(sequence);
  Generator make(random);
  const Map map = draw_map(make);
  for (;;) {
    const std::string op = draw_operator(make, map), scalar = draw_scalar(make, map, op);
    const Layout layout = draw_layout(make);
    const std::string line = draw_line(make, op, bytes / item_size_of(scalar));
    Case drawn = parse_unnamed_case(line + " | " + scalar + " | " + name_of(map) + " | layout=" + name_of(layout));
    drawn.file = "generated";
    drawn.name = std::to_string(number);
    if (can_be_measured(drawn) && can_be_measured(with_longer_last_axis(drawn))) return drawn;
  }
}

}  // namespace ndpool::bench
