// Pooling as an operation of a graph: any pool, through its plan.
#pragma once

#include <ndpool/graph/operation.hpp>
#include <ndpool/plan.hpp>

namespace ndpool::graph {

/// What the derivatives of a pool need of the forward run: the number of each winning tap, the input, or nothing.
enum class PoolKeeps { taps, input, nothing };

inline PoolKeeps what_to_keep(const Pool& pool, const Geometry& geometry) {
  const auto follows_first = [&](const ExtremeOptions& options) {
    const bool one_winner = options.ties == Ties::standard || options.ties == Ties::first;
    return one_winner && spec::compact_bytes(geometry) > 0 ? PoolKeeps::taps : PoolKeeps::input;
  };
  if (const auto* max = std::get_if<reduction::Max>(&pool.reduction())) return follows_first(max->options);
  if (const auto* min = std::get_if<reduction::Min>(&pool.reduction())) return follows_first(min->options);
  return pool.is_linear() ? PoolKeeps::nothing : PoolKeeps::input;
}

inline const char* kind_of_pool(const Pool& pool) {
  static constexpr const char* kinds[] = {"max_pool", "min_pool", "sum_pool", "avg_pool", "smooth_max_pool", "lp_pool"};
  static_assert(std::variant_size_v<Pool::Reduction> == std::size(kinds));
  return kinds[pool.reduction().index()];
}

/// The node of a pool, run by a plan.
template <class T>
class Pooling final : public Operation<T> {
 public:
  /// The node of a pool, run by a plan.
  Pooling(const Pool& pool, const Shape& shape) : Pooling(pool, pool.geometry(shape), shape) {}

  const char* kind() const override { return kind_; }

  /// y = f(x).
  void forward(const Arrays<T>& a) const override {
    if (keeps_ != PoolKeeps::taps || a.kept == nullptr)
      plan_.forward(a.x[0], a.y);
    else
      with_taps(a.kept, [&](auto* taps) { plan_.forward(a.x[0], a.y, taps); });
  }
  void jvp(const Arrays<T>& a, std::span<const T* const> dx, T* dy) const override {
    switch (keeps_) {
      case PoolKeeps::taps:
        with_taps(a.kept, [&](const auto* taps) { plan_.jvp_from_indices(taps, dx[0], dy); });
        break;
      case PoolKeeps::input: plan_.jvp(a.x[0], dx[0], dy); break;
      case PoolKeeps::nothing: plan_.forward(dx[0], dy); break;
    }
  }
  void vjp(const Arrays<T>& a, const T* gy, int, T* gx) const override {
    switch (keeps_) {
      case PoolKeeps::taps: with_taps(a.kept, [&](const auto* taps) { plan_.vjp_from_indices(taps, gy, gx); }); break;
      case PoolKeeps::input: plan_.vjp(a.x[0], gy, gx); break;
      case PoolKeeps::nothing: plan_.vjp_of_linear(gy, gx); break;
    }
  }
  bool reads_input(int, int) const override { return keeps_ == PoolKeeps::input; }
  /// Bytes that the forward map leaves to the derivatives.
  Index kept_bytes() const override {
    return keeps_ == PoolKeeps::taps ? tap_bytes_ * element_count(plan_.output_shape()) : 0;
  }
  bool needs_rehearsal() const override { return plan_.scratch_bytes() > 0; }

 private:
  Pooling(const Pool& pool, const Geometry& geometry, const Shape& shape)
      : kind_(kind_of_pool(pool)),
        keeps_(what_to_keep(pool, geometry)),
        tap_bytes_(spec::compact_bytes(geometry)),
        plan_(pool.plan<T>(shape)) {}

  /// Calls f with the kept bytes as tap numbers of the smallest type that can name every tap.
  template <class F>
  void with_taps(std::byte* kept, F f) const {
    if (tap_bytes_ == 1)
      f(reinterpret_cast<std::uint8_t*>(kept));
    else if (tap_bytes_ == 2)
      f(reinterpret_cast<std::uint16_t*>(kept));
    else
      f(reinterpret_cast<std::uint32_t*>(kept));
  }

  const char* kind_;
  PoolKeeps keeps_;
  int tap_bytes_;
  Plan<T> plan_;
};

}  // namespace ndpool::graph
