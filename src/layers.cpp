#include <ndpool/layers.hpp>

#include <sstream>

namespace ndpool::nn {

namespace {

/// Batch and channels stand before the pooled axes.
constexpr int leading_axes = 2;

Window window_of(const Shape& kernel, const Shape& stride, const WindowOptions& options) {
  Window window{.kernel = kernel,
                .stride = stride,
                .padding = options.padding,
                .dilation = options.dilation,
                .ceil_mode = options.edges == Edges::ceil};
  for (int a = 0; a < stride.size() && a < kernel.size(); ++a)
    if (stride[a] == stride_of_kernel) window.stride[a] = kernel[a];
  // What is wrong for axes of any length is refused now, not by the first forward.
  Geometry geometry;
  const Fault fault = resolve(window, Shape::filled(leading_axes + kernel.size(), Index{1} << 60), geometry);
  if (fault.code != Code::overflow) require(fault);
  return window;
}

Global global_of(int pooled_axes, bool keepdims) {
  Global global{.keepdims = keepdims};
  for (int a = 0; a < pooled_axes; ++a) global.axes.push_back(leading_axes + a);
  if (pooled_axes < 1) raise({Code::nothing_to_pool, Argument::axes, -1, {leading_axes}});
  return global;
}

Index checked_count(const Shape& shape) {
  if (shape.size() > max_rank) raise({Code::rank_too_large, Argument::shape, -1, {shape.size(), max_rank}});
  for (int a = 0; a < shape.size(); ++a)
    if (shape[a] < 0) raise({Code::negative, Argument::shape, a, {shape[a]}});
  const Index count = element_count(shape);
  if (count < 0) raise({Code::overflow, Argument::shape, -1, {}});
  return count;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  const char* before = "[";
  for (Index extent : shape) {
    out << before << extent;
    before = ", ";
  }
  return out << (shape.empty() ? "[]" : "]");
}

}  // namespace

Tensor::Tensor(const Shape& shape, float fill)
    : shape_(shape), values_(static_cast<std::size_t>(checked_count(shape)), fill) {}

Tensor::Tensor(const Shape& shape, std::vector<float> values) : shape_(shape), values_(std::move(values)) {
  if (const Index count = checked_count(shape); count != size())
    raise({Code::too_few_elements, Argument::shape, -1, {size(), count}});
}

const Shape& PoolLayer::checked(const Shape& input) const {
  const int rank = leading_axes + pooled_axes_;
  if (input.size() != rank) raise({Code::rank_mismatch, Argument::x, -1, {input.size(), rank}});
  if (edges_ == Edges::error) require(check_edges(pool_.geometry(input)));
  return input;
}

Tensor PoolLayer::forward(const Tensor& x) {
  if (!plan_ || planned_ != x.shape()) {
    plan_ = pool_.plan<float>(checked(x.shape()));
    planned_ = x.shape();
  }
  Tensor y(plan_->output_shape());
  keeps_ = false;
  if (training())
    run_and_keep(x, y);
  else
    plan_->forward(x.data(), y.data());
  keeps_ = training();
  return y;
}

Tensor PoolLayer::backward(const Tensor& grad_out) {
  if (!keeps_) raise({Code::nothing_kept, Argument::grad_out, -1, {}});
  require(check_view(View<const float>(grad_out.data(), grad_out.shape()), plan_->output_shape(), Argument::grad_out));
  Tensor grad_in(planned_);
  run_back(grad_out, grad_in);
  return grad_in;
}

void PoolLayer::set_training(bool training) {
  Layer::set_training(training);
  if (training) return;
  keeps_ = false;
  forget();
}

std::string PoolLayer::summary(const Shape& input) const {
  const Geometry geometry = pool_.geometry(checked(input));
  std::ostringstream out;
  out << name_ << ": " << input << " -> " << pool_.output_shape(input);
  Index seen = 1;
  const char* before = ", loses ";
  for (int a = 0; a < geometry.rank; ++a) {
    const Index length = geometry.axes[a].input, dropped = geometry.axes[a].loss().cells;
    seen *= length - dropped;
    if (dropped == 0) continue;
    out << before << dropped << " of " << length << " at the end of axis " << a;
    before = " and ";
  }
  if (const Index all = element_count(input); seen != all) out << " (" << all - seen << " of " << all << " elements)";
  return out.str();
}

void MaxLayer::run_and_keep(const Tensor& x, Tensor& y) {
  const auto count = static_cast<std::size_t>(y.size());
  switch (spec::compact_bytes(pool().geometry(x.shape()))) {
    case 1: taps_ = std::vector<std::uint8_t>(count); break;
    case 2: taps_ = std::vector<std::uint16_t>(count); break;
    default: taps_ = std::vector<std::uint32_t>(count);
  }
  std::visit([&](auto& taps) { plan().forward(x.data(), y.data(), taps.data()); }, taps_);
}

void MaxLayer::run_back(const Tensor& grad_out, Tensor& grad_in) const {
  std::visit([&](const auto& taps) { plan().vjp_from_indices(taps.data(), grad_out.data(), grad_in.data()); }, taps_);
}

std::size_t MaxLayer::kept_bytes() const {
  return std::visit([](const auto& taps) { return taps.size() * sizeof(taps[0]); }, taps_);
}

void AverageLayer::run_back(const Tensor& grad_out, Tensor& grad_in) const {
  plan().vjp_of_linear(grad_out.data(), grad_in.data());
}

void SmoothMaxLayer::run_and_keep(const Tensor& x, Tensor& y) {
  x_ = x;
  plan().forward(x.data(), y.data());
}

void SmoothMaxLayer::run_back(const Tensor& grad_out, Tensor& grad_in) const {
  plan().vjp(x_.data(), grad_out.data(), grad_in.data());
}

MaxPoolND::MaxPoolND(const char* name, const Shape& kernel, const Shape& stride, const WindowOptions& options)
    : MaxLayer(name, max_pool(window_of(kernel, stride, options)), kernel.size(), options.edges) {}

AvgPoolND::AvgPoolND(const char* name, const Shape& kernel, const Shape& stride, const WindowOptions& options,
                     const AverageOptions& average)
    : AverageLayer(name, avg_pool(window_of(kernel, stride, options), average), kernel.size(), options.edges) {}

SmoothMaxPoolND::SmoothMaxPoolND(const Shape& kernel, const Shape& stride, const WindowOptions& options,
                                 const SmoothMaxOptions& smooth)
    : SmoothMaxLayer("SmoothMaxPoolND", smooth_max_pool(window_of(kernel, stride, options), smooth), kernel.size(),
                     options.edges) {}

AdaptiveMaxPoolND::AdaptiveMaxPoolND(const Shape& output_size)
    : MaxLayer("AdaptiveMaxPoolND", adaptive_max_pool({.output_size = output_size}), output_size.size()) {}

AdaptiveAvgPoolND::AdaptiveAvgPoolND(const Shape& output_size)
    : AverageLayer("AdaptiveAvgPoolND", adaptive_avg_pool({.output_size = output_size}), output_size.size()) {}

GlobalMaxPool::GlobalMaxPool(int pooled_axes, bool keepdims)
    : MaxLayer("GlobalMaxPool", global_max_pool(global_of(pooled_axes, keepdims)), pooled_axes) {}

GlobalAvgPool::GlobalAvgPool(int pooled_axes, bool keepdims)
    : AverageLayer("GlobalAvgPool", global_avg_pool(global_of(pooled_axes, keepdims)), pooled_axes) {}

}  // namespace ndpool::nn
