// Pools as layers of a network: they make their results, and in training mode keep what the way back needs.
//
//   ndpool::nn::MaxPool2D pool(2, 2);
//   pool.set_training(true);
//   ndpool::nn::Tensor y = pool.forward(x);            // [batch, channels, height, width]
//   ndpool::nn::Tensor gx = pool.backward(gy);
//
// A layer is parameters and a plan for the last shape that it met. All throw `ndpool::Error` before they change
// anything. The first of equal maxima is the winner, global pools included, since one number per output is all that is
// kept.
#pragma once

#include <ndpool/edges.hpp>
#include <ndpool/plan.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ndpool::nn {

/// An array of floats in row-major order that owns its memory.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(const Shape& shape, float fill = 0);
  /// Throws if there are not as many values as the shape has elements.
  Tensor(const Shape& shape, std::vector<float> values);

  const Shape& shape() const { return shape_; }
  Index size() const { return static_cast<Index>(values_.size()); }
  float* data() { return values_.data(); }
  const float* data() const { return values_.data(); }
  float* begin() { return data(); }
  float* end() { return data() + size(); }
  const float* begin() const { return data(); }
  const float* end() const { return data() + size(); }
  float& operator[](Index i) { return values_[static_cast<std::size_t>(i)]; }
  float operator[](Index i) const { return values_[static_cast<std::size_t>(i)]; }

  bool operator==(const Tensor&) const = default;

 private:
  Shape shape_{0};
  std::vector<float> values_;
};

class Layer {
 public:
  virtual ~Layer() = default;

  virtual Tensor forward(const Tensor& x) = 0;
  /// The gradient of the input of the last `forward`, which must have run in training mode. May be called again.
  virtual Tensor backward(const Tensor& grad_out) = 0;
  virtual std::string name() const = 0;
  virtual Shape output_shape(const Shape& input) const = 0;

  /// Layers begin in inference mode, in which they keep nothing. Leaving training mode forgets what was kept.
  virtual void set_training(bool training) { training_ = training; }
  bool training() const { return training_; }

 private:
  bool training_ = false;
};

/// What all pools share: axes 0 and 1 are batch and channels, the others are pooled.
class PoolLayer : public Layer {
 public:
  Tensor forward(const Tensor& x) final;
  Tensor backward(const Tensor& grad_out) final;
  std::string name() const final { return name_; }
  Shape output_shape(const Shape& input) const final { return pool_.output_shape(checked(input)); }
  void set_training(bool training) final;

  /// One line: the name, both shapes, and the elements that no window sees because of the edges.
  std::string summary(const Shape& input) const;

  /// Bytes that are kept for `backward` now.
  virtual std::size_t kept_bytes() const = 0;

 protected:
  PoolLayer(std::string name, const Pool& pool, int pooled_axes, Edges edges = Edges::drop)
      : name_(std::move(name)), pool_(pool), pooled_axes_(pooled_axes), edges_(edges) {}

  const Pool& pool() const { return pool_; }
  const Plan<float>& plan() const { return *plan_; }

 private:
  virtual void run_and_keep(const Tensor& x, Tensor& y) = 0;
  virtual void run_back(const Tensor& grad_out, Tensor& grad_in) const = 0;
  virtual void forget() = 0;

  /// The shape itself, if the layer can take it.
  const Shape& checked(const Shape& input) const;

  std::string name_;
  Pool pool_;
  int pooled_axes_;
  Edges edges_;
  std::optional<Plan<float>> plan_;
  Shape planned_;  ///< input shape of the plan
  bool keeps_ = false;
};

/// Max: keeps the number of each winner's tap, in one byte up to 255 taps.
class MaxLayer : public PoolLayer {
 public:
  std::size_t kept_bytes() const final;

 protected:
  using PoolLayer::PoolLayer;

 private:
  void run_and_keep(const Tensor& x, Tensor& y) final;
  void run_back(const Tensor& grad_out, Tensor& grad_in) const final;
  void forget() final { taps_ = {}; }

  std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>> taps_;
};

/// Average: keeps nothing, since its derivative does not depend on the input.
class AverageLayer : public PoolLayer {
 public:
  std::size_t kept_bytes() const final { return 0; }

 protected:
  using PoolLayer::PoolLayer;

 private:
  void run_and_keep(const Tensor& x, Tensor& y) final { plan().forward(x.data(), y.data()); }
  void run_back(const Tensor& grad_out, Tensor& grad_in) const final;
  void forget() final {}
};

/// Smooth max: keeps the input, on which all its weights depend.
class SmoothMaxLayer : public PoolLayer {
 public:
  std::size_t kept_bytes() const final { return static_cast<std::size_t>(x_.size()) * sizeof(float); }

 protected:
  using PoolLayer::PoolLayer;

 private:
  void run_and_keep(const Tensor& x, Tensor& y) final;
  void run_back(const Tensor& grad_out, Tensor& grad_in) const final;
  void forget() final { x_ = {}; }

  Tensor x_;
};

/// The stride that means the kernel, as in `MaxPool1D(2)`.
inline constexpr int stride_of_kernel = -1;

/// What a windowed layer can be told beyond kernel and stride. Empty lists mean no padding and no dilation.
struct WindowOptions {
  Padding padding = {};
  Shape dilation = {};
  Edges edges = Edges::drop;
};

/// `MaxPoolND({3, 3, 3}, {2, 2, 2})`; as many axes are pooled as the kernel has entries.
class MaxPoolND : public MaxLayer {
 public:
  explicit MaxPoolND(const Shape& kernel, const Shape& stride = {}, const WindowOptions& options = {})
      : MaxPoolND("MaxPoolND", kernel, stride, options) {}

 protected:
  MaxPoolND(const char* name, const Shape& kernel, const Shape& stride, const WindowOptions& options);
};

struct MaxPool1D : MaxPoolND {
  explicit MaxPool1D(int kernel_size, int stride = stride_of_kernel, const WindowOptions& options = {})
      : MaxPoolND("MaxPool1D", {kernel_size}, {stride}, options) {}
};

struct MaxPool2D : MaxPoolND {
  MaxPool2D(int kH, int kW, int sH = stride_of_kernel, int sW = stride_of_kernel, const WindowOptions& options = {})
      : MaxPoolND("MaxPool2D", {kH, kW}, {sH, sW}, options) {}
};

class AvgPoolND : public AverageLayer {
 public:
  explicit AvgPoolND(const Shape& kernel, const Shape& stride = {}, const WindowOptions& options = {},
                     const AverageOptions& average = {})
      : AvgPoolND("AvgPoolND", kernel, stride, options, average) {}

 protected:
  AvgPoolND(const char* name, const Shape& kernel, const Shape& stride, const WindowOptions& options,
            const AverageOptions& average);
};

struct AvgPool1D : AvgPoolND {
  explicit AvgPool1D(int kernel_size, int stride = stride_of_kernel, const WindowOptions& options = {},
                     const AverageOptions& average = {})
      : AvgPoolND("AvgPool1D", {kernel_size}, {stride}, options, average) {}
};

struct AvgPool2D : AvgPoolND {
  AvgPool2D(int kH, int kW, int sH = stride_of_kernel, int sW = stride_of_kernel, const WindowOptions& options = {},
            const AverageOptions& average = {})
      : AvgPoolND("AvgPool2D", {kH, kW}, {sH, sW}, options, average) {}
};

struct SmoothMaxPoolND : SmoothMaxLayer {
  explicit SmoothMaxPoolND(const Shape& kernel, const Shape& stride = {}, const WindowOptions& options = {},
                           const SmoothMaxOptions& smooth = {});
};

/// Bins of nearly equal length: `AdaptiveMaxPoolND({7, 7})`.
struct AdaptiveMaxPoolND : MaxLayer {
  explicit AdaptiveMaxPoolND(const Shape& output_size);
};
struct AdaptiveAvgPoolND : AverageLayer {
  explicit AdaptiveAvgPoolND(const Shape& output_size);
};

/// One bin for the `pooled_axes` axes behind batch and channels, which are dropped unless `keepdims` keeps them with
/// length 1: `GlobalAvgPool(2)` makes [batch, channels] of [batch, channels, height, width].
struct GlobalMaxPool : MaxLayer {
  explicit GlobalMaxPool(int pooled_axes, bool keepdims = false);
};
struct GlobalAvgPool : AverageLayer {
  explicit GlobalAvgPool(int pooled_axes, bool keepdims = false);
};

}  // namespace ndpool::nn
