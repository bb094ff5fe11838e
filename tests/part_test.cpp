// Parts of an axis against its taps, one by one: what tiles of large arrays are cut by.
#include <ndpool/part.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace ndpool {
namespace {

std::string describe(const Axis& axis) {
  std::string text = axis.adaptive ? "adaptive" : "windowed";
  for (const Index number : {axis.input, axis.output, axis.kernel, axis.stride, axis.dilation, axis.lo, axis.hi})
    text += " " + std::to_string(number);
  return text;
}

/// Windows and bins of all kinds.
std::vector<Axis> axes() {
  std::vector<Axis> all = {batch_axis(7)};
  for (Index length = 1; length <= 9; ++length)
    for (Index size = 1; size <= 5; ++size) {
      if (Axis axis; !adaptive_axis(length, size, 0, axis)) all.push_back(axis);
      for (Index stride = 1; stride <= 5; ++stride)
        for (Index dilation = 1; dilation <= 3; ++dilation)
          for (const Index padding : {0, 2})
            for (const bool ceil_mode : {false, true}) {
              const AxisWindow window{size, stride, padding, padding, dilation, ceil_mode, PaddingRule::given};
              if (Axis axis; !windowed_axis(length, window, 0, axis)) all.push_back(axis);
            }
    }
  return all;
}

std::vector<Index> cells_of(const Axis& axis, Index output) {
  const Taps taps = axis.taps(output);
  std::vector<Index> cells;
  for (Index tap = 0; tap < taps.count; ++tap) cells.push_back(taps.first + tap * taps.step);
  return cells;
}

TEST(Part, CellsSeenAreThoseOfTheTaps) {
  for (const Axis& axis : axes()) {
    SCOPED_TRACE(describe(axis));
    for (Index begin = 0; begin < axis.input; ++begin)
      for (Index end = begin + 1; end <= axis.input; ++end)
        for (Index output = 0; output < axis.output; ++output) {
          std::vector<Index> expected, seen;
          for (const Index cell : cells_of(axis, output))
            if (begin <= cell && cell < end) expected.push_back(cell - begin);
          const Progression found = cells_seen(axis, output, {begin, end});
          for (Index i = 0; i < found.count; ++i) seen.push_back(found.first + i * found.step);
          ASSERT_EQ(seen, expected) << begin << " to " << end << ", output " << output;
        }
  }
}

TEST(Part, AxesWithoutOverlapHaveNoCellInTwoWindows) {
  for (const Axis& axis : axes()) {
    Index most = 0;
    for (Index cell = 0; cell < axis.input; ++cell) most = std::max(most, axis.outputs_seeing(cell).count);
    EXPECT_TRUE(most <= 1 || windows_overlap(axis)) << describe(axis);
    EXPECT_TRUE(most > 1 || axis.dilation > 1 || !windows_overlap(axis)) << describe(axis);
  }
}

TEST(Part, NoMoreCellsAndOutputsThanSaid) {
  for (const Axis& axis : axes()) {
    SCOPED_TRACE(describe(axis));
    for (Index begin = 0; begin < axis.input; ++begin)
      for (Index end = begin + 1; end <= axis.input; ++end) {
        std::set<Index> outputs;
        for (Index output = 0; output < axis.output; ++output)
          if (cells_seen(axis, output, {begin, end}).count > 0) outputs.insert(output);
        ASSERT_LE(static_cast<Index>(outputs.size()), most_outputs_over(axis, end - begin));
      }
    for (Index begin = 0; begin < part_begins(axis); ++begin)
      for (Index end = begin + 1; end <= axis.output; ++end) {
        const Range cells = part_of(axis, {begin, end}).cells;
        ASSERT_LE(cells.end - cells.begin, most_cells_under(axis, end - begin));
      }
  }
}

TEST(Part, PartsHaveTheTapsOfTheWhole) {
  for (const Axis& axis : axes())
    for (Index begin = 0; begin < axis.output; ++begin)
      for (Index end = begin + 1; end <= axis.output; ++end) {
        SCOPED_TRACE(describe(axis) + ", outputs " + std::to_string(begin) + " to " + std::to_string(end));
        const AxisPart part = part_of(axis, {begin, end});
        ASSERT_GE(part.axis.lo, 0);
        ASSERT_EQ(part.axis.input, part.cells.end - part.cells.begin);
        ASSERT_TRUE(part.cells.begin >= 0 && part.cells.end <= axis.input && part.axis.input > 0);
        for (Index output = begin; output < end; ++output) {
          std::vector<Index> cells;
          for (const Index cell : cells_of(part.axis, output - begin)) cells.push_back(cell + part.cells.begin);
          ASSERT_EQ(cells, cells_of(axis, output));
          ASSERT_EQ(part.axis.taps(output - begin).length, axis.taps(output).length);
          ASSERT_EQ(part.axis.taps(output - begin).padded, axis.taps(output).padded);
        }
        for (Index cell = 0; cell < part.axis.input; ++cell) {
          std::vector<Index> expected, seeing;
          for (Index output = begin; output < end; ++output)
            for (const Index seen : cells_of(axis, output))
              if (seen == cell + part.cells.begin) expected.push_back(output - begin);
          const Progression found = part.axis.outputs_seeing(cell);
          for (Index i = 0; i < found.count; ++i) seeing.push_back(found.first + i * found.step);
          ASSERT_EQ(seeing, expected) << "cell " << cell;
        }
      }
}

TEST(Part, PartsOfPartsOfBinsAreParts) {
  Axis whole;
  ASSERT_FALSE(adaptive_axis(29, 12, 0, whole));
  const AxisPart part = part_of(whole, {2, 11});
  for (Index begin = 0; begin < 9; ++begin)
    for (Index end = begin + 1; end <= 9; ++end) {
      const AxisPart direct = part_of(whole, {begin + 2, end + 2}), twice = part_of(part.axis, {begin, end});
      ASSERT_EQ(twice.cells.begin + part.cells.begin, direct.cells.begin);
      for (Index output = 0; output < end - begin; ++output)
        ASSERT_EQ(cells_of(twice.axis, output), cells_of(direct.axis, output));
    }
}

TEST(Part, CellsUnderOutputsCountTheirPadding) {
  for (const Axis& axis : axes())
    for (Index begin = 0; begin < axis.output; ++begin)
      for (Index end = begin + 1; end <= axis.output; ++end) {
        const Range outputs{begin, end};
        PaddedCells under[1];
        cells_under(axis, &outputs, 1, under);
        Index lo = 0, hi = 0;
        if (axis.pooled && !axis.adaptive) {
          const Index first = axis.start(begin), last = axis.start(end - 1) + (axis.kernel - 1) * axis.dilation;
          for (Index cell = first; cell <= last; ++cell)
            lo += cell < 0, hi += cell >= axis.input && cell < axis.input + axis.hi;
        }
        ASSERT_EQ(under->lo, lo) << describe(axis) << ", outputs " << begin << " to " << end;
        ASSERT_EQ(under->hi, hi) << describe(axis) << ", outputs " << begin << " to " << end;
        ASSERT_EQ(under->cells.begin, part_of(axis, outputs).cells.begin);
        ASSERT_EQ(under->cells.end, part_of(axis, outputs).cells.end);
      }
}

TEST(Part, PiecesOfAWindowHaveItsTapsInOrder) {
  for (const Axis& axis : axes())
    for (Index output = 0; output < part_begins(axis) && axis.pooled; ++output)
      for (const Index taps : {1, 2, 4, 8}) {
        const AxisPart part = part_of(axis, {output, output + 1});
        if (part.axis.taps(0).count == 0) continue;
        const Axis pieces = pieces_of(part.axis, taps);
        std::vector<Index> cells;
        for (Index piece = 0; piece < pieces.output; ++piece)
          for (const Index cell : cells_of(pieces, piece)) cells.push_back(part.cells.begin + cell);
        ASSERT_EQ(cells, cells_of(axis, output)) << describe(axis) << ", output " << output << ", taps " << taps;
      }
}

TEST(Part, WithoutPaddingAWindowHasTheSameCells) {
  for (const Axis& axis : axes())
    for (Index output = 0; output < part_begins(axis) && axis.pooled; ++output) {
      AxisPart part = part_of(axis, {output, output + 1});
      if (part.axis.taps(0).count == 0) continue;
      const Range kept = drop_padding(part.axis);
      std::vector<Index> cells;
      for (const Index cell : cells_of(part.axis, 0)) cells.push_back(part.cells.begin + kept.begin + cell);
      ASSERT_EQ(cells, cells_of(axis, output)) << describe(axis) << ", output " << output;
      ASSERT_EQ(part.axis.kernel, static_cast<Index>(cells.size()));
    }
}

}  // namespace
}  // namespace ndpool
