// What `ndpool explain` says, as data for programs.
#pragma once

#include <ndpool/ndpool.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace ndpool::cli {

/// Whom the cells and the windows of one pooled axis have to do with.
struct AxisCounts {
  int number = 0;
  std::vector<Index> seen;      ///< outputs that see each cell
  std::vector<Index> divisors;  ///< taps that an average of each window counts; over several axes the product
};

/// Sizes, windows and counts of every pooled axis. `warnings` are sentences.
nlohmann::json explanation_of(const std::string& op, const Shape& shape, const Shape& output_shape,
                              const Geometry& geometry, const std::vector<AxisCounts>& counts,
                              const std::vector<std::string>& warnings);

}  // namespace ndpool::cli
