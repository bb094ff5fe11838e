#include <ndpool/layers.hpp>
#include <ndpool/spec/extreme_bits.hpp>

#include <algorithm>
#include <sstream>

namespace ndpool::nn {

namespace {

/// Batch and channels stand before the pooled axes.
constexpr int leading_axes = 2;

/// The description itself, unless it is wrong for axes of every length: that is refused now, not by the first forward.
template <class Description>
const Description& usable(const Description& description, int pooled_axes) {
  Geometry geometry;
  const Fault fault = resolve(description, Shape::filled(leading_axes + pooled_axes, Index{1} << 60), geometry);
  if (fault.code != Code::overflow) require(fault);
  return description;
}

Window window_of(const Shape& kernel, const Shape& stride, const WindowOptions& options) {
  Window window{.kernel = kernel,
                .stride = stride,
                .padding = options.padding,
                .dilation = options.dilation,
                .ceil_mode = options.edges == Edges::ceil};
  for (int a = 0; a < std::min({stride.size(), kernel.size(), max_rank}); ++a)
    if (stride[a] == stride_of_kernel) window.stride[a] = kernel[a];
  return usable(window, kernel.size());
}

Adaptive bins_of(const Shape& output_size) { return usable(Adaptive{.output_size = output_size}, output_size.size()); }

Global global_of(int pooled_axes, bool keepdims) {
  if (pooled_axes < 1) raise({Code::nothing_to_pool, Argument::axes, -1, {leading_axes}});
  if (pooled_axes > max_rank - leading_axes)
    raise({Code::rank_too_large, Argument::shape, -1, {Index{leading_axes} + pooled_axes, max_rank}});
  Global global{.keepdims = keepdims};
  for (int a = 0; a < pooled_axes; ++a) global.axes.push_back(leading_axes + a);
  return global;
}

Ties global_ties(Ties ties) { return ties == Ties::standard ? Ties::all : ties; }

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

template <class T>
BasicTensor<T>::BasicTensor(const Shape& shape, T fill)
    : values_(static_cast<std::size_t>(checked_count(shape)), fill), shape_(shape) {}

template <class T>
BasicTensor<T>::BasicTensor(const Shape& shape, std::vector<T> values) : values_(std::move(values)), shape_(shape) {
  if (const Index count = checked_count(shape); count != size())
    raise({Code::too_few_elements, Argument::shape, -1, {size(), count}});
}

template class BasicTensor<float>;
template class BasicTensor<Index>;

PoolLayer::PoolLayer(const char* name, const Pool& pool, int pooled_axes, Edges edges)
    : name_(name), pool_(pool), pooled_axes_(pooled_axes), edges_(edges) {
  const auto check = [](const auto& reducer) {
    if constexpr (requires { reducer.fault(); }) require(reducer.fault());
  };
  std::visit([&](const auto& reduction) { reduction.template with<float>(check); }, pool.reduction());
}

// What is moved is what depends on arrays. The parameters are copied, so that the other layer stays usable.
PoolLayer::PoolLayer(PoolLayer&& other) noexcept
    : Layer(other),
      name_(other.name_),
      pool_(other.pool_),
      pooled_axes_(other.pooled_axes_),
      edges_(other.edges_),
      plan_(std::exchange(other.plan_, std::nullopt)),
      planned_(other.planned_),
      keeps_(std::exchange(other.keeps_, false)) {}

PoolLayer& PoolLayer::operator=(PoolLayer&& other) noexcept {
  Layer::operator=(other);
  name_ = other.name_;
  pool_ = other.pool_;
  pooled_axes_ = other.pooled_axes_;
  edges_ = other.edges_;
  plan_ = std::exchange(other.plan_, std::nullopt);
  planned_ = other.planned_;
  keeps_ = std::exchange(other.keeps_, false) && this != &other;  // the arrays of a layer moved to itself may be gone
  return *this;
}

const Shape& PoolLayer::checked(const Shape& input) const {
  const int rank = leading_axes + pooled_axes_;
  if (input.size() != rank) raise({Code::rank_mismatch, Argument::x, -1, {input.size(), rank}});
  if (edges_ == Edges::error) require(check_edges(pool_.geometry(input)));
  return input;
}

Tensor PoolLayer::forward(const Tensor& x) {
  if (!plan_ || planned_ != x.shape()) {
    Plan<float> plan = pool_.plan<float>(checked(x.shape()));
    keeps_ = false;  // what is kept belongs to the plan that goes
    plan_ = std::move(plan);
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
  require_kept(Argument::grad_out);
  require(check_view(View<const float>(grad_out.data(), grad_out.shape()), plan_->output_shape(), Argument::grad_out));
  Tensor grad_in(planned_);
  run_back(grad_out, grad_in);
  return grad_in;
}

void PoolLayer::require_kept(Argument argument) const {
  if (!keeps_) raise({Code::nothing_kept, argument, -1, {}});
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
    const Index length = geometry.axes[a].input, dropped = rest_of(geometry.axes[a]).input;
    seen *= length - dropped;
    if (dropped == 0) continue;
    out << before << dropped << " of " << length << " at the end of axis " << a;
    before = " and ";
  }
  if (const Index all = element_count(input); seen != all) out << " (" << all - seen << " of " << all << " elements)";
  return out.str();
}

void MaxLayer::run_and_keep(const Tensor& x, Tensor& y) {
  const Geometry resolved = geometry();
  const auto count = static_cast<std::size_t>(y.size());
  if (ties_ != Ties::first) {
    plan().forward(x.data(), y.data());
    Bits bits{std::vector<std::uint8_t>(static_cast<std::size_t>(spec::bytes_of_bits(x.size())))};
    spec::mark_extremes(spec::Max<float>{}, y.size(), resolved.cell_count(), x.data(), y.data(), bits.bytes.data());
    kept_ = std::move(bits);
    return;
  }
  const auto run_with = [&]<class I>(Winners<I> winners) {
    plan().forward(x.data(), y.data(), winners.data());
    kept_ = std::move(winners);
  };
  switch (spec::compact_bytes(resolved)) {
    case 1: return run_with(Winners<std::uint8_t>(count));
    case 2: return run_with(Winners<std::uint16_t>(count));
    case 4: return run_with(Winners<std::uint32_t>(count));
    default: return run_with(Winners<Index>(count));
  }
}

void MaxLayer::run_back(const Tensor& grad_out, Tensor& grad_in) const {
  if (const Bits* bits = std::get_if<Bits>(&kept_)) {
    spec::vjp_from_bits(ties_, grad_out.size(), geometry().cell_count(), bits->bytes.data(), grad_out.data(),
                        grad_in.data());
    return;
  }
  std::visit(
      [&]<class Kept>(const Kept& winners) {
        if constexpr (!std::same_as<Kept, Bits>)
          plan().vjp_from_indices(winners.data(), grad_out.data(), grad_in.data());
      },
      kept_);
}

std::size_t MaxLayer::kept_bytes() const {
  return std::visit(
      []<class Kept>(const Kept& kept) {
        if constexpr (std::same_as<Kept, Bits>)
          return kept.bytes.size();
        else
          return kept.size() * sizeof(kept[0]);
      },
      kept_);
}

Index MaxLayer::winner(const Geometry& resolved, const Shape& output, Index number) const {
  return std::visit(
      [&]<class Kept>(const Kept& kept) -> Index {
        if constexpr (std::same_as<Kept, Bits>)
          return spec::first_extreme(kept.bytes.data(), number, resolved.cell_count());
        else if constexpr (std::same_as<Kept, Winners<Index>>)
          return kept[static_cast<std::size_t>(number)];
        else
          return resolved.flat_from_tap(output, kept[static_cast<std::size_t>(number)]);
      },
      kept_);
}

IndexTensor MaxLayer::mask() const {
  require_kept(Argument::indices);
  const Geometry resolved = geometry();
  Index pooled_axes = 0;
  for (int a = 0; a < resolved.rank; ++a) pooled_axes += resolved.axes[a].pooled;
  Shape shape = plan().output_shape();
  shape[shape.size() - 1] *= pooled_axes;
  IndexTensor positions(shape);
  Index number = 0, entry = 0;
  spec::for_each_position(resolved.output_shape(), [&](const Shape& output) {
    const Shape cell = resolved.cell_from_flat(output, winner(resolved, output, number++));
    for (int a = 0; a < resolved.rank; ++a)
      if (resolved.axes[a].pooled) positions[entry++] = cell[a];
  });
  return positions;
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
    : MaxLayer("AdaptiveMaxPoolND", adaptive_max_pool(bins_of(output_size)), output_size.size()) {}

AdaptiveAvgPoolND::AdaptiveAvgPoolND(const Shape& output_size)
    : AverageLayer("AdaptiveAvgPoolND", adaptive_avg_pool(bins_of(output_size)), output_size.size()) {}

GlobalMaxPool::GlobalMaxPool(int pooled_axes, bool keepdims, Ties ties)
    : MaxLayer("GlobalMaxPool", global_max_pool(global_of(pooled_axes, keepdims), {.ties = ties}), pooled_axes,
               Edges::drop, global_ties(ties)) {}

GlobalAvgPool::GlobalAvgPool(int pooled_axes, bool keepdims)
    : AverageLayer("GlobalAvgPool", global_avg_pool(global_of(pooled_axes, keepdims)), pooled_axes) {}

}  // namespace ndpool::nn
