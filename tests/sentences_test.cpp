#include "sentences.hpp"

#include "drawn_axis.hpp"

#include <gtest/gtest.h>

namespace ndpool {

namespace {

Axis windowed(Index length, const AxisWindow& window) {
  Axis axis;
  EXPECT_FALSE(windowed_axis(length, window, 0, axis));
  return axis;
}

Axis adaptive(Index length, Index bins) {
  Axis axis;
  EXPECT_FALSE(adaptive_axis(length, bins, 0, axis));
  return axis;
}

TEST(Sentences, OutputSizes) {
  EXPECT_EQ(output_size_sentence(windowed(5, {3, 2, 1, 1}), 0, false),
            "Axis 0: floor((5 cells + 1 before + 1 after - window of 3) / stride 2) + 1 = 3 outputs");
  EXPECT_EQ(output_size_sentence(windowed(6, {3, 2, 0, 0, 1, true}), 2, true),
            "Axis 2: ceil((6 cells + 0 before + 0 after - window of 3) / stride 2) + 1 = 3 outputs");
  EXPECT_EQ(output_size_sentence(windowed(1, {1, 1}), 1, false),
            "Axis 1: floor((1 cell + 0 before + 0 after - window of 1) / stride 1) + 1 = 1 output");
  EXPECT_EQ(output_size_sentence(adaptive(7, 3), 1, false),
            "Axis 1: 3 bins over 7 cells; bin i is [floor(i * 7 / 3), ceil((i + 1) * 7 / 3))");
  EXPECT_EQ(dilation_sentence(windowed(9, {3, 1, 0, 0, 2})),
            "a window of 3 taps, 2 apart, reaches over (3 - 1) * 2 + 1 = 5 cells");
  EXPECT_EQ(dilation_sentence(windowed(9, {3, 1})), "");
}

TEST(Sentences, ADroppedWindowIsNamed) {
  EXPECT_EQ(
      output_size_sentence(windowed(5, {2, 2, 1, 1, 1, true}), 0, true),
      "Axis 0: ceil((5 cells + 1 before + 1 after - window of 2) / stride 2) + 1 = 4, less the last window, which "
      "would start behind the input: 3 outputs");
}

/// The number behind the last " = ", and what is left of it if a window was dropped, are the formula's.
TEST(Sentences, TheArithmeticIsRightForAllSmallWindows) {
  for (Index length = 1; length <= 7; ++length)
    for (Index kernel = 1; kernel <= 4; ++kernel)
      for (Index stride = 1; stride <= 4; ++stride)
        for (Index lo = 0; lo <= 3; ++lo)
          for (Index hi = 0; hi <= 3; ++hi)
            for (const bool ceil_mode : {false, true}) {
              Axis axis;
              if (windowed_axis(length, {kernel, stride, lo, hi, 1, ceil_mode}, 0, axis)) continue;
              const std::string text = output_size_sentence(axis, 0, ceil_mode);
              const Index room = length + lo + hi - kernel;
              // Only rounding up below zero differs from what the processor's division does; no window fits there.
              const Index formula = (ceil_mode ? (room >= 0 ? (room + stride - 1) / stride : 0) : room / stride) + 1;
              const std::string said = text.substr(text.find(" + 1 = ") + 7);
              EXPECT_EQ(std::stoll(said), formula) << text;
              const bool dropped = said.find("less the last") != std::string::npos;
              EXPECT_EQ(axis.output, formula - (dropped ? 1 : 0)) << text;
            }
}

TEST(Sentences, CellsInNoWindow) {
  EXPECT_EQ(edge_sentence(windowed(6, {3, 2}), 0),
            "1 cell is at the end of axis 0, in no window. To keep it: ceil mode, or padding 0:1 on this axis");
  EXPECT_EQ(edge_sentence(windowed(5, {3, 2}), 0), "");
  EXPECT_EQ(gap_sentence(windowed(10, {1, 3}), 1),
            "on axis 1 6 cells are between windows or their taps, and never seen");
  EXPECT_EQ(gap_sentence(windowed(10, {3, 3}), 1), "");
}

TEST(DrawnAxis, TapsAndGroundOfAPaddedCeilWindow) {
  const Axis axis = windowed(4, {3, 2, 1, 0, 1, true});  // windows at -1, 1; ceil adds none: (4 + 1 - 3) / 2 is whole
  EXPECT_EQ(axis.output, 2);
  const Axis longer = windowed(5, {3, 2, 1, 0, 1, true});  // windows at -1, 1, 3: the last overhangs by one
  const Range drawn = drawn_positions(longer);
  EXPECT_EQ(drawn.begin, -1);
  EXPECT_EQ(drawn.end, 6);
  EXPECT_EQ(ground_at(longer, -1), Ground::padding);
  EXPECT_EQ(ground_at(longer, 4), Ground::cell);
  EXPECT_EQ(ground_at(longer, 5), Ground::overhang);
  EXPECT_EQ(position_of_tap(longer, 2, 2), 5);
  EXPECT_EQ(drawn_positions(adaptive(7, 3)).end, 7);
  EXPECT_EQ(position_of_tap(adaptive(7, 3), 1, 1), 3);
}

}  // namespace

}  // namespace ndpool
