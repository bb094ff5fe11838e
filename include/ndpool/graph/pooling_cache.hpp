// The pools of a graph, made once each.
#pragma once

#include <ndpool/graph/packed_pooling.hpp>

#include <bit>
#include <map>
#include <vector>

namespace ndpool::graph {

/// Nodes with the same reducer, options and geometry share one operation, and with it its plan.
template <class T>
class PoolingCache {
 public:
  /// The operation for a pool of arrays of this shape; made once.
  std::shared_ptr<const Operation<T>> find_or_make(const Pool& pool, const Shape& shape) {
    const Key wanted = key(pool, shape);
    if (const auto found = made_.find(wanted); found != made_.end()) return found->second;
    // Throws for what is wrong with the pool, so that only good ones are kept.
    std::shared_ptr<const Operation<T>> made = make_pooling<T>(pool, shape);
    made_.emplace(wanted, made);
    return made;
  }

 private:
  /// Bit patterns, which have a total order: NaN, of floats, equals nothing.
  using Key = std::vector<std::uint64_t>;

  static Key key(const Pool& pool, const Shape& shape) {
    const Geometry geometry = pool.geometry(shape);
    Key key;
    const auto put = [&](auto... values) { (key.push_back(static_cast<std::uint64_t>(values)), ...); };
    const auto put_bits = [&](double value) { key.push_back(std::bit_cast<std::uint64_t>(value)); };
    for (int i = 0; i < geometry.rank; ++i) {
      const Axis& axis = geometry.axes[i];
      put(axis.input, axis.output, axis.kernel, axis.stride, axis.dilation, axis.lo, axis.hi, axis.adaptive,
          axis.pooled);
    }
    // Global pools differ in whether they keep the axes that they pool, which the geometry does not tell.
    put(pool.output_shape(shape).size(), pool.reduction().index(), pool.uses_kernels());
    std::visit(
        [&](const auto& reduction) {
          if constexpr (requires { reduction.p; }) put_bits(reduction.p);
          if constexpr (requires { reduction.options.ties; }) put(reduction.options.ties);
          if constexpr (requires { reduction.options.nan; }) put(reduction.options.nan);
          if constexpr (requires { reduction.options.empty; }) put(reduction.options.empty);
          if constexpr (requires { reduction.options.beta; }) {
            put_bits(reduction.options.beta);
            put(reduction.options.pad_mode);
          }
          if constexpr (requires { reduction.options.divisor; })
            put(reduction.options.count_include_pad, reduction.options.divisor, reduction.options.rounding);
        },
        pool.reduction());
    return key;
  }

  std::map<Key, std::shared_ptr<const Operation<T>>> made_;
};

}  // namespace ndpool::graph
