#include "plan/general_plan.hpp"

#include "kernels/forward/divisors.hpp"
#include "plan/tiles.hpp"

namespace ndpool {

namespace {
constexpr std::size_t max_scratch = std::size_t{1}
                                    << 30;  // of windows of thousands of rows, which the reference would take hours for
}

std::unique_ptr<const GeneralPlan> GeneralPlan::make(ScalarKind kind, const KernelChoice& choice, const Rows& rows,
                                                     general::Direction direction) {
  auto element = general::choose_element(kind, choice, rows.tap_count);
  if (!element) return nullptr;
  auto layout = general::make_layout(rows, choice, element->traits, direction);
  if (layout == nullptr || layout->bytes > max_scratch) return nullptr;
  general::Finish& finish = element->finish;
  finish.count = layout->divides_first ? 1 : layout->divisor;
  finish.averages = finish.averages && direction == general::Direction::forward;
  if (layout->one_divisor && has_exact_reciprocal(layout->divisor)) finish.reciprocal = 1 / layout->divisor;
  return std::unique_ptr<const GeneralPlan>(new GeneralPlan(*element, std::move(layout)));
}

std::unique_ptr<const GeneralPlan> GeneralPlan::make_ties(bool is_double, const Rows& rows,
                                                          general::Direction direction) {
  const general::ElementChoice element = general::tie_element(is_double);
  auto layout = general::make_layout(rows, {.combine = Combine::sum}, element.traits, direction);
  if (layout == nullptr || layout->bytes > max_scratch) return nullptr;
  return std::unique_ptr<const GeneralPlan>(new GeneralPlan(element, std::move(layout)));
}

std::unique_ptr<const GeneralPlan> GeneralPlan::make_argmax(ScalarKind kind, const KernelChoice& choice,
                                                            const Rows& rows) {
  for (const general::PositionChoice& position : general::choose_position_elements(kind, choice)) {
    auto layout = general::make_layout(rows, choice, position.element.traits, general::Direction::forward);
    if (layout == nullptr || layout->bytes > max_scratch || layout->max_position > position.max_position) continue;
    return std::unique_ptr<const GeneralPlan>(new GeneralPlan(position.element, std::move(layout)));
  }
  return nullptr;
}

bool GeneralPlan::run_argmax(const void* in, void* out, void* indices, IndexKind index_kind,
                             const ProgressCallback& watch) const {
  const general::GeneralKernel kernel = general::kernel_of(element_.kind);
  return run_tiles({layout_->tile_count, 1}, layout_->bytes, watch, [&](Index begin, Index end, void* scratch) {
    kernel({*layout_, element_.finish, in, out, begin, end, scratch, indices, index_kind});
  });
}

bool GeneralPlan::run(const void* in, void* out, const ProgressCallback& watch) const {
  const general::GeneralKernel kernel = general::kernel_of(element_.kind);
  return run_tiles({layout_->tile_count, 1}, layout_->bytes, watch, [&](Index begin, Index end, void* scratch) {
    kernel({*layout_, element_.finish, in, out, begin, end, scratch});
  });
}

void GeneralPlan::run_all(const void* in, void* out, void* scratch) const {
  general::kernel_of(element_.kind)({*layout_, element_.finish, in, out, 0, layout_->tile_count, scratch});
}

}  // namespace ndpool
