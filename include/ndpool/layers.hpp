// Pools as layers of a network: they make their results, and in training mode keep what the way back needs.
//
//   ndpool::nn::MaxPool2D pool(2, 2);
//   pool.set_training(true);
//   ndpool::nn::Tensor y = pool.forward(x);            // [batch, channels, height, width]
//   ndpool::nn::Tensor gx = pool.backward(gy);
//
//   ndpool::nn::IndexTensor mask = pool.mask();        // row and column of every maximum
//
// A layer is parameters and a plan for the last shape that it met. All throw `ndpool::Error` before they change
// anything. A layer that was moved from keeps its parameters and forgets the rest.
#pragma once

#include <ndpool/api.h>
#include <ndpool/edges.hpp>
#include <ndpool/nn/tensor.hpp>
#include <ndpool/plan.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ndpool::nn {

/// A layer with a forward and a backward map. Not safe to share between threads: a layer keeps what its backward map
/// needs.
class NDPOOL_API Layer {
 public:
  virtual ~Layer() = default;

  /// y = R(x). Allocates the result, a plan when the shape is new, and in training mode what `backward` needs. Throws
  /// before it changes anything.
  virtual Tensor forward(const Tensor& x) = 0;
  /// The gradient of the input of the last `forward`, which must have run in training mode. May be called again.
  virtual Tensor backward(const Tensor& grad_out) = 0;
  /// The name of the layer's class.
  virtual std::string name() const = 0;
  /// Shape of the result for an input of this shape. Throws if the layer cannot take it.
  virtual Shape output_shape(const Shape& input) const = 0;

  /// Layers begin in inference mode, in which they keep nothing. Leaving training mode forgets what was kept.
  virtual void set_training(bool training) { training_ = training; }
  /// True in training mode.
  bool training() const { return training_; }

 private:
  bool training_ = false;
};

/// What all pools share: axes 0 and 1 are batch and channels, the others are pooled.
class NDPOOL_API PoolLayer : public Layer {
 public:
  /// y = R(x). Allocates the result, a plan when the shape is new, and in training mode what `backward` needs. Throws
  /// before it changes anything.
  Tensor forward(const Tensor& x) final;
  Tensor backward(const Tensor& grad_out) final;
  /// The name of the layer's class.
  std::string name() const final { return name_; }
  /// Shape of the result for an input of this shape. Throws if the layer cannot take it.
  Shape output_shape(const Shape& input) const final { return pool_.output_shape(checked(input)); }
  void set_training(bool training) final;

  /// One line: the name, both shapes, and the elements behind the last window of an axis, which no window sees.
  std::string summary(const Shape& input) const;

  /// Bytes that are kept for `backward` now.
  virtual std::size_t kept_bytes() const = 0;

 protected:
  /// `name` is a literal. Throws if the pool's parameters fit no shape.
  PoolLayer(const char* name, const Pool& pool, int pooled_axes, Edges edges = Edges::drop);
  /// Copies share nothing but the plan.
  PoolLayer(const PoolLayer&) = default;
  /// Shares nothing but the plan afterwards.
  PoolLayer& operator=(const PoolLayer&) = default;
  /// Leaves the other layer its parameters, and nothing else.
  PoolLayer(PoolLayer&& other) noexcept;
  /// Leaves the other layer its parameters, and nothing else.
  PoolLayer& operator=(PoolLayer&& other) noexcept;

  /// The plan for the last shape.
  const Plan<float>& plan() const { return *plan_; }
  /// The geometry of the plan.
  Geometry geometry() const { return pool_.geometry(planned_); }
  /// Throws, with a sentence about `argument`, unless the last forward has kept what `backward` needs.
  void require_kept(Argument argument) const;

 private:
  virtual void run_and_keep(const Tensor& x, Tensor& y) = 0;
  virtual void run_back(const Tensor& grad_out, Tensor& grad_in) const = 0;
  virtual void forget() = 0;

  /// The shape itself, if the layer can take it.
  const Shape& checked(const Shape& input) const;

  const char* name_;
  Pool pool_;
  int pooled_axes_;
  Edges edges_;
  std::optional<Plan<float>> plan_;
  Shape planned_;       ///< input shape of the plan
  bool keeps_ = false;  ///< `backward` has what it needs
};

/// Max. Keeps for each output the number of the winner's tap, in 1 byte up to 255 taps, 2 up to 65535, then 4 or 8; of
/// global pools with ties `all` and `split` one bit per input element.
class NDPOOL_API MaxLayer : public PoolLayer {
 public:
  ~MaxLayer() override = default;
  std::size_t kept_bytes() const final;

  /// Where the maximum of each output is: its position on every pooled axis, counted without padding. The shape is that
  /// of the output with the last axis as many times longer as axes are pooled: `[B, C, L]`, `[B, C, OH, OW * 2]` with
  /// pairs (ih, iw). Of equal maxima the first. Needs a forward in training mode, from whose memory it is computed.
  IndexTensor mask() const;

 protected:
  /// A layer of a pool; `name` is a literal.
  MaxLayer(const char* name, const Pool& pool, int pooled_axes, Edges edges = Edges::drop, Ties ties = Ties::first)
      : PoolLayer(name, pool, pooled_axes, edges), ties_(ties) {}
  /// Shares nothing but the plan.
  MaxLayer(const MaxLayer&) = default;
  /// Leaves the other layer its parameters, and nothing else.
  MaxLayer(MaxLayer&&) = default;
  /// By a copy that is moved: without memory for it, this layer stays what it is.
  MaxLayer& operator=(const MaxLayer& other) { return *this = MaxLayer(other); }
  /// Takes parameters, plan and what is kept; leaves the other layer its parameters.
  MaxLayer& operator=(MaxLayer&&) = default;

 private:
  template <class T>
  using Winners = std::vector<T>;
  struct Bits {
    std::vector<std::uint8_t> bytes;
  };

  void run_and_keep(const Tensor& x, Tensor& y) final;
  void run_back(const Tensor& grad_out, Tensor& grad_in) const final;
  void forget() final { kept_ = {}; }

  /// The flat index over the pooled axes of the first maximum of an output, the `number`-th in row-major order.
  Index winner(const Geometry& geometry, const Shape& output, Index number) const;

  Ties ties_;
  /// Tap numbers; flat indices where a window has too many taps for those; the extremes of global pools.
  std::variant<Winners<std::uint8_t>, Winners<std::uint16_t>, Winners<std::uint32_t>, Winners<Index>, Bits> kept_;
};

/// Average: keeps nothing, since its derivative does not depend on the input.
class NDPOOL_API AverageLayer : public PoolLayer {
 public:
  std::size_t kept_bytes() const final { return 0; }

 protected:
  /// A layer of a pool; `name` is a literal.
  using PoolLayer::PoolLayer;

 private:
  void run_and_keep(const Tensor& x, Tensor& y) final { plan().forward(x.data(), y.data()); }
  void run_back(const Tensor& grad_out, Tensor& grad_in) const final;
  void forget() final {}
};

/// Smooth max: keeps the input, on which all its weights depend.
class NDPOOL_API SmoothMaxLayer : public PoolLayer {
 public:
  ~SmoothMaxLayer() override = default;
  std::size_t kept_bytes() const final { return static_cast<std::size_t>(x_.size()) * sizeof(float); }

 protected:
  /// A layer of a pool; `name` is a literal.
  using PoolLayer::PoolLayer;
  /// Shares nothing but the plan.
  SmoothMaxLayer(const SmoothMaxLayer&) = default;
  /// Leaves the other layer its parameters, and nothing else.
  SmoothMaxLayer(SmoothMaxLayer&&) = default;
  /// As that of MaxLayer.
  SmoothMaxLayer& operator=(const SmoothMaxLayer& other) { return *this = SmoothMaxLayer(other); }
  /// Takes parameters, plan and what is kept; leaves the other layer its parameters.
  SmoothMaxLayer& operator=(SmoothMaxLayer&&) = default;

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
  /// Cells around the input.
  Padding padding = {};
  /// Cells from tap to tap.
  Shape dilation = {};
  /// What happens to cells behind the last window.
  Edges edges = Edges::drop;
};

/// `MaxPoolND({3, 3, 3}, {2, 2, 2})`; as many axes are pooled as the kernel has entries.
class NDPOOL_API MaxPoolND : public MaxLayer {
 public:
  /// An empty stride is the kernel. Throws if the numbers fit no shape.
  explicit MaxPoolND(const Shape& kernel, const Shape& stride = {}, const WindowOptions& options = {})
      : MaxPoolND("MaxPoolND", kernel, stride, options) {}

 protected:
  /// An empty stride is the kernel. Throws if the numbers fit no shape.
  MaxPoolND(const char* name, const Shape& kernel, const Shape& stride, const WindowOptions& options);
};

/// Max over [batch, channels, length]; a stride that is not given is the kernel.
struct MaxPool1D : MaxPoolND {
  /// Max over [batch, channels, length]; a stride that is not given is the kernel.
  explicit MaxPool1D(int kernel_size, int stride = stride_of_kernel, const WindowOptions& options = {})
      : MaxPoolND("MaxPool1D", {kernel_size}, {stride}, options) {}
};

/// Max over [batch, channels, height, width]; strides that are not given are the kernel.
struct MaxPool2D : MaxPoolND {
  /// Max over [batch, channels, height, width]; strides that are not given are the kernel.
  MaxPool2D(int kH, int kW, int sH = stride_of_kernel, int sW = stride_of_kernel, const WindowOptions& options = {})
      : MaxPoolND("MaxPool2D", {kH, kW}, {sH, sW}, options) {}
};

/// Average over as many axes as the kernel has entries; an empty stride is the kernel.
class NDPOOL_API AvgPoolND : public AverageLayer {
 public:
  /// Average over as many axes as the kernel has entries; an empty stride is the kernel.
  explicit AvgPoolND(const Shape& kernel, const Shape& stride = {}, const WindowOptions& options = {},
                     const AverageOptions& average = {})
      : AvgPoolND("AvgPoolND", kernel, stride, options, average) {}

 protected:
  /// Average over as many axes as the kernel has entries; an empty stride is the kernel.
  AvgPoolND(const char* name, const Shape& kernel, const Shape& stride, const WindowOptions& options,
            const AverageOptions& average);
};

/// Average over [batch, channels, length]; a stride that is not given is the kernel.
struct AvgPool1D : AvgPoolND {
  /// Average over [batch, channels, length]; a stride that is not given is the kernel.
  explicit AvgPool1D(int kernel_size, int stride = stride_of_kernel, const WindowOptions& options = {},
                     const AverageOptions& average = {})
      : AvgPoolND("AvgPool1D", {kernel_size}, {stride}, options, average) {}
};

/// Average over [batch, channels, height, width]; strides that are not given are the kernel.
struct AvgPool2D : AvgPoolND {
  /// Average over [batch, channels, height, width]; strides that are not given are the kernel.
  AvgPool2D(int kH, int kW, int sH = stride_of_kernel, int sW = stride_of_kernel, const WindowOptions& options = {},
            const AverageOptions& average = {})
      : AvgPoolND("AvgPool2D", {kH, kW}, {sH, sW}, options, average) {}
};

/// Smooth max over as many axes as the kernel has entries; an empty stride is the kernel.
struct NDPOOL_API SmoothMaxPoolND : SmoothMaxLayer {
  /// Smooth max over as many axes as the kernel has entries; an empty stride is the kernel.
  explicit SmoothMaxPoolND(const Shape& kernel, const Shape& stride = {}, const WindowOptions& options = {},
                           const SmoothMaxOptions& smooth = {});
};

/// Bins of nearly equal length: `AdaptiveMaxPoolND({7, 7})`.
struct NDPOOL_API AdaptiveMaxPoolND : MaxLayer {
  /// One number of bins per pooled axis.
  explicit AdaptiveMaxPoolND(const Shape& output_size);
};
/// Average over bins of nearly equal length: `AdaptiveAvgPoolND({7, 7})`.
struct NDPOOL_API AdaptiveAvgPoolND : AverageLayer {
  /// Average over bins of nearly equal length: `AdaptiveAvgPoolND({7, 7})`.
  explicit AdaptiveAvgPoolND(const Shape& output_size);
};

/// One bin for the `pooled_axes` axes behind batch and channels, which are dropped unless `keepdims` keeps them with
/// length 1: `GlobalAvgPool(2)` makes [batch, channels] of [batch, channels, height, width].
///
/// `ties` says which of equal maxima get the gradient: `all` of them, each in full (the default); the `first`; or all,
/// with the gradient `split` evenly. For n elements per output, training keeps n / 8 bytes per output, for `first` 1
/// byte up to 255 elements, 2 up to 65535, then 4.
struct NDPOOL_API GlobalMaxPool : MaxLayer {
  /// Pools the last `pooled_axes` axes.
  explicit GlobalMaxPool(int pooled_axes, bool keepdims = false, Ties ties = Ties::all);
};
/// Average of all cells of `pooled_axes` axes. See GlobalMaxPool.
struct NDPOOL_API GlobalAvgPool : AverageLayer {
  /// Average of all cells of `pooled_axes` axes. See GlobalMaxPool.
  explicit GlobalAvgPool(int pooled_axes, bool keepdims = false);
};

}  // namespace ndpool::nn
