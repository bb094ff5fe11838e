// Pools of C++ as the C interface describes them.
#pragma once

#include <ndpool/c.h>
#include <ndpool/ndpool.hpp>

#include <deque>
#include <memory>
#include <vector>

namespace ndpool::testing {

/// The description of a pool, with the numbers that its lists point to.
class Described {
 public:
  explicit Described(const Pool& described) {
    std::visit([this](const auto& description) { describe(description); }, described.description());
    std::visit([this](const auto& reduction) { describe(reduction); }, described.reduction());
  }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;

  ndpool_pool pool = NDPOOL_POOL_INIT;

 private:
  ndpool_list keep(const std::vector<std::int64_t>& numbers) {
    kept_.push_back(numbers);
    return {kept_.back().data(), static_cast<std::int64_t>(numbers.size())};
  }
  ndpool_list keep(const Shape& numbers) { return keep(std::vector<std::int64_t>(numbers.begin(), numbers.end())); }

  void describe(const Window& window) {
    pool.geometry = ndpool_geometry_window;
    pool.kernel = keep(window.kernel);
    pool.stride = keep(window.stride);
    pool.dilation = keep(window.dilation);
    pool.axes = keep(window.axes);
    pool.ceil_mode = window.ceil_mode ? 1 : 0;
    pool.padding_rule = static_cast<std::int32_t>(window.padding.rule());
    std::vector<std::int64_t> before, after;
    for (int i = 0; i < window.padding.size(); ++i) {
      before.push_back(window.padding[i].lo);
      after.push_back(window.padding[i].hi);
    }
    pool.padding_before = keep(before);
    if (before != after) pool.padding_after = keep(after);
  }
  void describe(const Adaptive& adaptive) {
    pool.geometry = ndpool_geometry_adaptive;
    pool.output_size = keep(adaptive.output_size);
    pool.axes = keep(adaptive.axes);
  }
  void describe(const Global& global) {
    pool.geometry = ndpool_geometry_global;
    pool.axes = keep(global.axes);
    pool.keepdims = global.keepdims ? 1 : 0;
  }
  void describe(const std::shared_ptr<const Geometry>&) { throw std::logic_error("C has no pools over geometries"); }

  template <class Enum>
  static std::int32_t number(Enum value) {
    return static_cast<std::int32_t>(value);
  }
  void describe(const reduction::Max& max) {
    pool.reducer = ndpool_reducer_max;
    describe(max.options);
  }
  void describe(const reduction::Min& min) {
    pool.reducer = ndpool_reducer_min;
    describe(min.options);
  }
  void describe(const ExtremeOptions& options) {
    pool.ties = number(options.ties);
    pool.nan = number(options.nan);
    pool.empty = number(options.empty);
  }
  void describe(const reduction::Sum&) { pool.reducer = ndpool_reducer_sum; }
  void describe(const reduction::Average& average) {
    pool.reducer = ndpool_reducer_avg;
    pool.exclude_padding = average.options.count_include_pad ? 0 : 1;
    pool.divisor = average.options.divisor;
    pool.rounding = number(average.options.rounding);
    pool.empty = number(average.options.empty);
  }
  void describe(const reduction::SmoothMax& smooth_max) {
    pool.reducer = ndpool_reducer_smooth_max;
    pool.beta = smooth_max.options.beta;
    pool.pad_mode = number(smooth_max.options.pad_mode);
    pool.empty = number(smooth_max.options.empty);
  }
  void describe(const reduction::Lp& lp) {
    pool.reducer = ndpool_reducer_lp;
    pool.p = lp.p;
    pool.ties = number(lp.options.ties);
    pool.empty = number(lp.options.empty);
  }

  std::deque<std::vector<std::int64_t>> kept_;
};

struct DestroyPlan {
  void operator()(ndpool_plan* plan) const { ndpool_plan_destroy(plan); }
};
using PlanPointer = std::unique_ptr<ndpool_plan, DestroyPlan>;

}  // namespace ndpool::testing
