// Plans of recent runs: a run on arrays with the scalars, shapes and strides of an earlier one needs no checks but for
// overlap, and nothing prepared.
#pragma once

#include "array.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ndpool::python {

enum class Map : unsigned char {
  forward,
  forward_with_indices,
  jvp,
  vjp,
  vjp_by_shape,
  jvp_from_indices,
  vjp_from_indices
};

/// Everything on which the plan of a run depends, as bytes.
class PlanKey {
 public:
  explicit PlanKey(Map map) { push(static_cast<std::int64_t>(map)); }

  /// An array without an owner is yet to be made.
  void add(const Array& array) {
    if (!array.owner.is_valid()) return push(-1);
    push(static_cast<std::int64_t>(array.scalar) | (array.strides_in_bytes ? 1 << 8 : 0) |
         (array.strides == nullptr ? 1 << 9 : 0) | static_cast<std::int64_t>(array.rank) << 16);
    append(array.extents, array.rank);
    if (array.strides != nullptr) append(array.strides, array.rank);
  }
  std::string_view bytes() const { return {reinterpret_cast<const char*>(values_), sizeof(values_[0]) * count_}; }
  bool fits() const { return !overflows_; }

 private:
  static constexpr std::size_t capacity = 256;  // ranks for which this is too little are not worth remembering

  void push(std::int64_t value) { append(&value, 1); }
  void append(const std::int64_t* values, int count) {
    const std::size_t more = static_cast<std::size_t>(count);
    if (more > capacity - count_) {
      overflows_ = true;
      return;
    }
    for (std::size_t i = 0; i < more; ++i) values_[count_ + i] = values[i];
    count_ += more;
  }

  std::int64_t values_[capacity];
  std::size_t count_ = 0;
  bool overflows_ = false;
};

/// Lets a map of strings be asked without making one.
struct BytesHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view bytes) const { return std::hash<std::string_view>()(bytes); }
};

struct KnownPlan {
  detail::CompiledMaps kernels;
  Shape result_shape;
};

/// Held by the GIL, like everything that Python sees.
class PlanCache {
 public:
  const KnownPlan* find(const PlanKey& key) const {
    if (!key.fits()) return nullptr;
    const auto found = plans_.find(key.bytes());
    return found == plans_.end() ? nullptr : &found->second;
  }
  void insert(const PlanKey& key, KnownPlan plan) {
    if (!key.fits() || !plan.kernels) return;
    if (plans_.size() >= most_plans) plans_.clear();
    plans_.emplace(std::string(key.bytes()), std::move(plan));
  }

 private:
  static constexpr std::size_t most_plans = 256;
  std::unordered_map<std::string, KnownPlan, BytesHash, std::equal_to<>> plans_;
};

}  // namespace ndpool::python
