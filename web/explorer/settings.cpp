#include "settings.hpp"

namespace ndpool::explorer {

void Settings::set(Option option, double value) {
  const auto number = static_cast<int>(value);
  switch (option) {
    case Option::op: op = static_cast<Operator>(number); break;
    case Option::geometry: geometry = static_cast<Kind>(number); break;
    case Option::padding_rule: padding_rule = static_cast<PaddingRule>(number); break;
    case Option::ceil_mode: ceil_mode = number != 0; break;
    case Option::keepdims: keepdims = number != 0; break;
    case Option::ties: ties = static_cast<Ties>(number); break;
    case Option::nan: nan = static_cast<Nan>(number); break;
    case Option::empty: empty = static_cast<Empty>(number); break;
    case Option::count_include_pad: average.count_include_pad = number != 0; break;
    case Option::divisor: average.divisor = static_cast<Index>(value); break;
    case Option::beta: smooth_max.beta = value; break;
    case Option::pad_mode: smooth_max.pad_mode = static_cast<PadMode>(number); break;
    case Option::p: p = value; break;
  }
}

void Settings::append(List list, double value) {
  Shape* const lists[] = {&shape, &axes, &kernel, &stride, &padding_before, &padding_after, &dilation, &output_size};
  lists[static_cast<int>(list)]->push_back(static_cast<Index>(value));
}

Fault Settings::resolve_geometry(Geometry& resolved) const {
  switch (geometry) {
    case Kind::windowed: break;
    case Kind::adaptive: return resolve(Adaptive{output_size, axes}, shape, resolved);
    case Kind::global: return resolve(Global{axes, keepdims}, shape, resolved);
  }
  const Window window{kernel, stride, padding(), dilation, axes, ceil_mode};
  return resolve(window, shape, resolved);
}

AverageOptions Settings::average_options() const {
  AverageOptions options = average;
  options.empty = empty;
  return options;
}

SmoothMaxOptions Settings::smooth_max_options() const {
  SmoothMaxOptions options = smooth_max;
  options.empty = empty;
  return options;
}

Padding Settings::padding() const {
  if (padding_rule != PaddingRule::given) return padding_rule;
  Padding pads;
  for (int i = 0; i < padding_before.size(); ++i) pads.push_back({padding_before[i], padding_after[i]});
  return pads;
}

}  // namespace ndpool::explorer
