// A node of the user's own: three functions that see arrays as views.
#pragma once

#include <ndpool/graph/elementwise.hpp>
#include <ndpool/graph/node.hpp>
#include <ndpool/view.hpp>

#include <functional>
#include <string>
#include <vector>

namespace ndpool {

/// What one call of a user's map can see. Views are packed.
template <class T>
class CustomCall {
 public:
  /// Which map is called.
  enum class Map { forward, jvp, vjp };

  /// The value of an input. Throws if the node has no such input.
  View<const T> x(int input) const {
    const Shape& shape = shape_of(input);
    return {x_[static_cast<std::size_t>(input)], shape};
  }
  /// In derivatives: the value of the node.
  View<const T> y() const {
    require_map(map_ != Map::forward, "y, which only jvp and vjp have");
    return {y_, output_};
  }
  /// In jvp: the tangent of an input, zeros if it has none.
  View<const T> dx(int input) const {
    require_map(map_ == Map::jvp, "dx, which only jvp has");
    const Shape& shape = shape_of(input);
    const T* tangent = dx_[static_cast<std::size_t>(input)];
    return {tangent == nullptr ? zeros_ : tangent, shape};
  }
  /// In vjp: the gradient of the node.
  View<const T> gy() const {
    require_map(map_ == Map::vjp, "gy, which only vjp has");
    return {gy_, output_};
  }
  /// In vjp: the number of the input whose gradient is asked for.
  int slot() const {
    require_map(map_ == Map::vjp, "slot, which only vjp has");
    return slot_;
  }

  /// Where the map writes: y in forward, dy in jvp, the gradient of input `slot` in vjp. The map says which shape it
  /// writes, and is stopped if that is another one than it must be.
  View<T> out(const Shape& shape) const {
    const bool is_gradient = map_ == Map::vjp;
    const Shape& right = is_gradient ? shape_of(slot_) : output_;
    if (!(shape == right))
      graph::fail(Code::shape_mismatch,
                  describe_map() + " writes " + graph::text(shape) +
                      (is_gradient ? ", but its input " + std::to_string(slot_) + " is " + graph::text(right)
                                   : ", but the node is " + graph::text(right)));
    asked_ = true;
    return {out_, right};
  }

 private:
  template <class>
  friend class CustomOperation;
  CustomCall(Map map, const std::string& name, const Shape& output, std::span<const Shape> shapes,
             std::span<const T* const> x)
      : map_(map), name_(name), output_(output), shapes_(shapes), x_(x) {}
  CustomCall(const CustomCall&) = delete;  // it refers to the run
  CustomCall& operator=(const CustomCall&) = delete;

  const Shape& shape_of(int input) const {
    if (input < 0 || input >= static_cast<int>(shapes_.size()))
      graph::fail(Code::index_out_of_range, describe_map() + " asks for input " + std::to_string(input) +
                                                ", but the node has " + std::to_string(shapes_.size()) +
                                                (shapes_.size() == 1 ? " input" : " inputs"));
    return shapes_[static_cast<std::size_t>(input)];
  }
  void require_map(bool has, const char* what) const {
    if (!has) graph::fail(Code::null_data, describe_map() + " asks for " + what);
  }
  std::string describe_map() const {
    static constexpr const char* maps[] = {"forward map", "jvp", "vjp"};
    return "custom node " + graph::text(name_, output_) + ": its " + maps[static_cast<int>(map_)];
  }

  Map map_;
  const std::string& name_;
  const Shape& output_;
  std::span<const Shape> shapes_;
  std::span<const T*const> x_, dx_ = {};
  const T *y_ = nullptr, *gy_ = nullptr, *zeros_ = nullptr;
  int slot_ = 0;
  T* out_ = nullptr;
  mutable bool asked_ = false;
};

/// The maps of a node of the user's own. They must be the derivatives they claim to be; `vjp` is called once per input
/// that takes a derivative. Several threads may call them at a time.
template <class T>
struct CustomMaps {
  /// A map. It writes `call.out(shape)`.
  using Function = std::function<void(const CustomCall<T>&)>;
  Function forward = {};  ///< y = f(x)
  Function jvp = {};      ///< dy = (derivative) dx
  Function vjp = {};      ///< gx = (derivative by input `slot`)^T gy
};

/// Calls those maps.
template <class T>
class CustomOperation final : public graph::Operation<T> {
  using Map = typename CustomCall<T>::Map;

 public:
  /// For inputs of these shapes.
  CustomOperation(std::string name, const Shape& output, std::vector<Shape> shapes, CustomMaps<T> maps)
      : name_(std::move(name)), output_(output), shapes_(std::move(shapes)), maps_(std::move(maps)) {}
  const char* kind() const override { return "custom"; }

  /// Calls the map.
  void forward(const graph::Arrays<T>& a) const override { forward_call(a); }
  void jvp(const graph::Arrays<T>& a, std::span<const T* const> dx, T* dy) const override { jvp_call(a, dx, dy); }
  void vjp(const graph::Arrays<T>& a, const T* gy, int slot, T* gx) const override { vjp_call(a, gy, slot, gx); }
  bool reads_input(int, int) const override { return true; }
  bool reads_output() const override { return true; }

  /// Zeros, as many as the largest input has, stand in for every tangent that is missing.
  Index scratch_elements() const override {
    Index most = 0;
    for (const Shape& shape : shapes_) most = std::max(most, element_count(shape));
    return most;
  }

  /// Calls every map once on arrays of ones, so that a map that writes a wrong shape, or nothing, is found when the
  /// node is built. `takes_derivative` has one entry per input.
  void try_out(const std::vector<bool>& takes_derivative) const {
    if (!maps_.forward || !maps_.jvp || !maps_.vjp)
      graph::fail(Code::null_data, "custom node " + graph::text(name_, output_) + " needs forward, jvp and vjp");
    std::vector<std::vector<T>> ones;
    std::vector<const T*> x;
    ones.reserve(shapes_.size());
    x.reserve(shapes_.size());
    for (const Shape& shape : shapes_) ones.emplace_back(static_cast<std::size_t>(element_count(shape)), T(1));
    for (const std::vector<T>& array : ones) x.push_back(array.data());
    std::vector<T> y(static_cast<std::size_t>(element_count(output_)), T(1)),
        dy = y, gy = y, scratch(static_cast<std::size_t>(scratch_elements()), T(0));
    const graph::Arrays<T> arrays{x, y.data(), nullptr, scratch.data()};
    require_asked(forward_call(arrays), "forward map");
    require_asked(jvp_call(arrays, x, dy.data()), "jvp");
    for (int slot = 0; slot < static_cast<int>(shapes_.size()); ++slot)
      if (takes_derivative[static_cast<std::size_t>(slot)]) {
        std::vector<T> gx = ones[static_cast<std::size_t>(slot)];
        require_asked(vjp_call(arrays, gy.data(), slot, gx.data()), "vjp");
      }
  }

 private:
  bool forward_call(const graph::Arrays<T>& a) const {
    CustomCall<T> call(Map::forward, name_, output_, shapes_, a.x);
    call.out_ = a.y;
    maps_.forward(call);
    return call.asked_;
  }
  bool jvp_call(const graph::Arrays<T>& a, std::span<const T* const> dx, T* dy) const {
    CustomCall<T> call(Map::jvp, name_, output_, shapes_, a.x);
    graph::fill(a.scratch, scratch_elements(), T(0));
    call.zeros_ = a.scratch;
    call.dx_ = dx;
    call.y_ = a.y;
    call.out_ = dy;
    maps_.jvp(call);
    return call.asked_;
  }
  bool vjp_call(const graph::Arrays<T>& a, const T* gy, int slot, T* gx) const {
    CustomCall<T> call(Map::vjp, name_, output_, shapes_, a.x);
    call.y_ = a.y;
    call.gy_ = gy;
    call.slot_ = slot;
    call.out_ = gx;
    maps_.vjp(call);
    return call.asked_;
  }
  void require_asked(bool asked, const char* map) const {
    if (!asked)
      graph::fail(Code::null_data, "custom node " + graph::text(name_, output_) + ": its " + map + " writes no result");
  }

  std::string name_;
  Shape output_;
  std::vector<Shape> shapes_;
  CustomMaps<T> maps_;
};

}  // namespace ndpool
