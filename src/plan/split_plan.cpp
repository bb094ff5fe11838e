#include "plan/split_plan.hpp"

#include "plan/map_runs.hpp"
#include "plan/tiles.hpp"

#include <ndpool/part.hpp>

#include <bit>

namespace ndpool {

namespace {

constexpr Index enough_tiles = 8, min_pieces = 16;
constexpr double min_bytes = 1 << 20;  // less is soon done by one thread

PooledAxis& axis_of(Rows& rows, int a) { return a < rows.vertical_count ? rows.vertical[a] : rows.horizontal; }

double cells_of(const Rows& rows) {
  double cells = static_cast<double>(rows.inner.extent) * static_cast<double>(rows.horizontal.window.input);
  for (int v = 0; v < rows.vertical_count; ++v) cells *= static_cast<double>(rows.vertical[v].window.input);
  for (int i = 0; i < rows.loop_count; ++i) cells *= static_cast<double>(rows.loops[i].extent);
  return cells;
}

/// A power of two of taps. The pieces of a sum have no absent taps, which would add +0 to a sum of -0.
Index taps_of_piece(Index cells, bool is_sum) {
  const std::uint64_t most = std::bit_floor(static_cast<std::uint64_t>(cells / min_pieces));
  if (!is_sum) return static_cast<Index>(most);
  return static_cast<Index>(std::min(most, static_cast<std::uint64_t>(cells & -cells)));
}

/// The first axis that has pieces enough; -1 if a window is not whole, or if no axis has.
int axis_to_split(const Rows& rows, bool is_sum) {
  int found = -1;
  for (int a = 0; a <= rows.vertical_count; ++a) {
    const Axis& window = a < rows.vertical_count ? rows.vertical[a].window : rows.horizontal.window;
    if (!is_whole(window)) return -1;
    if (found < 0 && taps_of_piece(window.input, is_sum) >= 2) found = a;
  }
  return found;
}

void count_rows(Rows& rows) {
  rows.rows_per_plane = rows.tap_count = 1;
  for (int v = 0; v < rows.vertical_count; ++v) {
    rows.rows_per_plane *= rows.vertical[v].window.output;
    rows.tap_count *= rows.vertical[v].window.kernel;
  }
  rows.tap_count *= rows.horizontal.window.kernel;
  rows.row_count = rows.rows_per_plane;
  for (int i = 0; i < rows.loop_count; ++i) rows.row_count *= rows.loops[i].extent;
}

}  // namespace

std::unique_ptr<const SplitPlan> SplitPlan::make(ScalarKind kind, const KernelChoice& choice, const Rows& rows,
                                                 const GeneralPlan* whole) {
  const auto size = static_cast<double>(size_of(kind));
  if ((whole != nullptr && whole->layout().tile_count >= enough_tiles) || cells_of(rows) * size < min_bytes)
    return nullptr;
  const bool is_sum = choice.combine == Combine::sum;
  if (choice.combine != Combine::max && choice.combine != Combine::min && !is_sum) return nullptr;
  if (is_sum && !(is_floating(kind) && size >= 4)) return nullptr;
  const int split = axis_to_split(rows, is_sum);
  if (split < 0) return nullptr;

  // Pieces fold the axes up to the one that is split; those behind it wait for the whole sums.
  Rows pieces = rows, rest = rows;
  Index stride = 1;
  const auto place = [&stride](Strides& written, Strides& read, Index extent) {
    written.out = read.in = stride;
    stride *= extent;
  };
  place(pieces.inner.stride, rest.inner.stride, rows.inner.extent);
  for (int a = rows.vertical_count; a >= 0; --a) {
    PooledAxis &piece = axis_of(pieces, a), &left = axis_of(rest, a);
    const Index cells = piece.window.input;
    if (a > split) {
      piece.window = {cells, cells, 1, 1, 1, 0, 0, false, true};
    } else if (a == split) {
      piece.window = pieces_of(piece.window, taps_of_piece(cells, is_sum));
      const Index count = piece.window.output;
      left.window = {count, 1, count, 1, 1, 0, 0, false, true};
    } else {
      left.window = {1, 1, 1, 1, 1, 0, 0, false, true};
    }
    place(piece.stride, left.stride, piece.window.output);
  }
  for (int i = rows.loop_count - 1; i >= 0; --i)
    place(pieces.loops[i].stride, rest.loops[i].stride, rows.loops[i].extent);
  count_rows(pieces);
  count_rows(rest);

  KernelChoice of_pieces = choice, of_rest = choice;
  of_pieces.averages = false;
  if (choice.averages && choice.average.divisor == AverageOptions::no_divisor) of_rest.average.divisor = rows.tap_count;
  std::unique_ptr<SplitPlan> plan(new SplitPlan);
  plan->pieces_ = GeneralPlan::make(kind, of_pieces, pieces);
  plan->rest_ = GeneralPlan::make(kind, of_rest, rest);
  plan->bytes_ = static_cast<std::size_t>(stride) * size_of(kind);
  return plan->pieces_ != nullptr && plan->rest_ != nullptr ? std::move(plan) : nullptr;
}

bool SplitPlan::run(const void* in, void* out, const ProgressCallback& watch) const {
  void* const results = thread_scratch<ScratchUse::positions>(bytes_);
  if (results == nullptr) throw std::bad_alloc();
  return pieces_->run(in, results, watch) && rest_->run(results, out, {});
}

}  // namespace ndpool
