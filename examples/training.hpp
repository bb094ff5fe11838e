// What the training examples share: initial weights, gradient descent over a program, and a picture of the progress.
#pragma once

#include <ndpool/graph.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace training {

using ndpool::Index;
using ndpool::Node;

/// Random numbers that are the same with every standard library.
class Random {
 public:
  explicit Random(std::uint32_t seed) : bits_(seed) {}
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(std::uint64_t{bits_()} * bound >> 32); }
  /// Between -1 and 1.
  float uniform() { return static_cast<float>(bits_()) / 2147483648.0F - 1.0F; }
  template <class Range>
  void shuffle(Range& range) {
    for (auto i = range.size(); i > 1; --i) std::swap(range[i - 1], range[below(static_cast<std::uint32_t>(i))]);
  }

 private:
  std::mt19937 bits_;
};

/// Random weights of the size that keeps numbers as large as they are from layer to layer; `shape` starts with the
/// number of outputs.
inline std::vector<float> initial_weights(const ndpool::Shape& shape, Random& random) {
  const auto count = static_cast<std::size_t>(ndpool::element_count(shape));
  const float bound = std::sqrt(6.0F * static_cast<float>(shape[0]) / static_cast<float>(count));
  std::vector<float> values(count);
  for (float& value : values) value = bound * random.uniform();
  return values;
}

/// Gradient descent with momentum: velocity = momentum velocity + gradient, weights -= rate velocity.
class Descent {
 public:
  explicit Descent(ndpool::Program<float>& program, float momentum)
      : program_(program), parameters_(program.parameters()), momentum_(momentum) {
    for (const Node& node : parameters_) velocity_.emplace_back(program.parameter(node).size(), 0.0F);
  }
  void step(const ndpool::Results<float>& gradients, float rate) {
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const auto values = program_.parameter(parameters_[p]);
      const auto gradient = gradients.gradient(parameters_[p]);
      for (std::size_t i = 0; i < values.size(); ++i) {
        velocity_[p][i] = momentum_ * velocity_[p][i] + gradient[i];
        values[i] -= rate * velocity_[p][i];
      }
    }
  }

 private:
  ndpool::Program<float>& program_;
  std::vector<Node> parameters_;
  std::vector<std::vector<float>> velocity_;
  float momentum_;
};

/// A rate that falls to zero along half a wave of the cosine.
inline float falling_rate(float start, int step, int steps) {
  return start * 0.5F * (1.0F + std::cos(3.14159265F * static_cast<float>(step) / static_cast<float>(steps)));
}

/// The share of rows whose largest logit is that of their label.
inline double accuracy(std::span<const float> logits, const std::vector<float>& labels) {
  const std::size_t classes = logits.size() / labels.size();
  std::size_t right = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row * classes);
    const auto best = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(classes)) - begin;
    right += static_cast<float>(best) == labels[row] ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

/// Curves over the epochs, from 0 to 1, drawn as an SVG.
class Curves {
 public:
  void add(const std::string& name, const std::vector<double>& values) { curves_.push_back({name, values}); }
  void write(const std::string& file) const {
    std::ofstream svg(file);
    svg << R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 400" font-family="sans-serif" font-size="12">)"
        << "\n<rect width=\"640\" height=\"400\" fill=\"white\"/>\n";
    for (int tenth = 0; tenth <= 10; tenth += 2) {
      const double y = height(tenth / 10.0);
      svg << "<path d=\"M50 " << y << "H480\" stroke=\"#ddd\"/><text x=\"15\" y=\"" << y + 4 << "\">" << tenth * 10
          << " %</text>\n";
    }
    const char* colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b"};
    for (std::size_t c = 0; c < curves_.size(); ++c) {
      const auto& [name, values] = curves_[c];
      svg << "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" << colours[c % 6] << "\" points=\"";
      for (std::size_t i = 0; i < values.size(); ++i)
        svg << 50 + 430.0 * static_cast<double>(i) / std::max(1.0, static_cast<double>(values.size()) - 1) << ','
            << height(values[i]) << ' ';
      svg << "\"/><text x=\"490\" y=\"" << 30 + 18 * c << "\" fill=\"" << colours[c % 6] << "\">" << name
          << "</text>\n";
    }
    svg << "<text x=\"250\" y=\"390\">epochs</text>\n</svg>\n";
  }

 private:
  static double height(double share) { return 360 - 340 * share; }
  std::vector<std::pair<std::string, std::vector<double>>> curves_;
};

}  // namespace training
