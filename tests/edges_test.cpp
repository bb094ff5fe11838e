// What layers do with cells behind the last window of an axis, against the formula and against counts by hand.
#include "support/layers.hpp"

#include <ndpool/tiny.hpp>

namespace ndpool::nn {
namespace {

TEST(Edges, DropIsTheDefaultAndTheSummarySaysWhatIsLost) {
  const MaxPool2D layer(2, 3);
  EXPECT_EQ(layer.output_shape({1, 2, 5, 8}), (Shape{1, 2, 2, 2}));
  EXPECT_EQ(
      layer.summary({1, 2, 5, 8}),
      "MaxPool2D: [1, 2, 5, 8] -> [1, 2, 2, 2], loses 1 of 5 at the end of axis 2 and 2 of 8 at the end of axis 3 "
      "(32 of 80 elements)");
  EXPECT_EQ(layer.summary({1, 2, 4, 6}), "MaxPool2D: [1, 2, 4, 6] -> [1, 2, 2, 2]");
}

TEST(Edges, SummaryCountsBehindTheLastWindowOnly) {
  // Cells 7 and 8 are behind the last window; 1, 2, 4 and 5 are gaps between windows.
  EXPECT_EQ(MaxPool1D(1, 3).summary({1, 1, 9}),
            "MaxPool1D: [1, 1, 9] -> [1, 1, 3], loses 2 of 9 at the end of axis 2 (2 of 9 elements)");
  EXPECT_EQ(MaxPool1D(1, 3).summary({1, 1, 10}), "MaxPool1D: [1, 1, 10] -> [1, 1, 4]");
  EXPECT_EQ(MaxPool1D(2, 2, {.padding = {{0, 1}}}).summary({1, 1, 4}), "MaxPool1D: [1, 1, 4] -> [1, 1, 2]");
}

TEST(Edges, ErrorSaysWhatIsLeftAndWhatWouldFit) {
  MaxPool1D layer(4, 4, {.edges = Edges::error});
  EXPECT_EQ(
      refusal(
          [&] {
            layer.forward(Tensor({1, 1, 10}));
          },
          Code::edges_dropped),
      "kernel 4 on axis 2 with stride 4 leaves 2 of 10 cells, padding included, behind the last window; 2 more of "
      "padding or 2 cells fewer there would leave none");
  EXPECT_EQ(layer.forward(Tensor({1, 1, 8})).shape(), (Shape{1, 1, 2}));
  // What it says is so.
  MaxPool1D padded(4, 4, {.padding = {{0, 2}}, .edges = Edges::error});
  EXPECT_EQ(padded.forward(Tensor({1, 1, 10})).shape(), (Shape{1, 1, 3}));
  // A window more would see padding alone, so that is not proposed.
  EXPECT_EQ(refusal(
                [] {
                  MaxPool1D(1, 3, {.edges = Edges::error}).output_shape({1, 1, 9});
                },
                Code::edges_dropped),
            "kernel 1 on axis 2 with stride 3 leaves 2 of 9 cells, padding included, behind the last window; 2 cells "
            "fewer there would leave none");
}

/// Calls `visit(window, length)` for all small windows that fit.
template <class Visit>
void for_each_small_window(Visit visit) {
  for (Index length = 1; length < 13; ++length)
    for (Index kernel = 1; kernel < 5; ++kernel)
      for (Index stride = 1; stride < 6; ++stride)
        for (Index dilation = 1; dilation < 4; ++dilation)
          for (Index lo = 0; lo < 3; ++lo)
            for (Index hi = 0; hi < 3; ++hi)
              if (length + lo + hi >= dilation * (kernel - 1) + 1)
                visit(AxisWindow{.kernel = kernel, .stride = stride, .lo = lo, .hi = hi, .dilation = dilation}, length);
}

TEST(Edges, ErrorIsTheConditionOfTheNotes) {
  int refused = 0, accepted = 0;
  for_each_small_window([&](const AxisWindow& w, Index length) {
    const AvgPoolND layer({w.kernel}, {w.stride},
                          {.padding = {{w.lo, w.hi}}, .dilation = {w.dilation}, .edges = Edges::error});
    const Index rest = (length + w.lo + w.hi - (w.dilation * (w.kernel - 1) + 1)) % w.stride;
    bool refuses = false;
    try {
      layer.output_shape({1, 1, length});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::edges_dropped) << error.what();
      EXPECT_EQ(error.fault().values[2], rest);
      refuses = true;
    }
    ASSERT_EQ(refuses, rest != 0) << "length " << length << " kernel " << w.kernel << " stride " << w.stride
                                  << " padding " << w.lo << ':' << w.hi << " dilation " << w.dilation;
    ++(refuses ? refused : accepted);
  });
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 1000);
}

TEST(Edges, WhatErrorProposesIsAccepted) {
  int padded = 0, cut = 0;
  for_each_small_window([&](AxisWindow w, Index length) {
    Axis axis;
    ASSERT_FALSE(windowed_axis(length, w, 0, axis));
    const Rest rest = rest_of(axis);
    if (rest.cells == 0) return;
    const Index outputs = axis.output;
    if (rest.cells < length) {
      ASSERT_FALSE(windowed_axis(length - rest.cells, w, 0, axis));
      EXPECT_EQ(rest_of(axis).cells, 0);
      ++cut;
    }
    if (rest.padding == 0) return;
    w.hi += rest.padding;
    ASSERT_FALSE(windowed_axis(length, w, 0, axis));
    EXPECT_EQ(rest_of(axis).cells, 0);
    EXPECT_EQ(axis.output, outputs + 1);
    EXPECT_GT(axis.taps(outputs).count, 0) << "the window more sees no input";
    ++padded;
  });
  EXPECT_GT(padded, 500);
  EXPECT_GT(cut, 500);
}

TEST(Edges, RestOnTheInputIsWhatStandsBehindTheLastTap) {
  for_each_small_window([&](const AxisWindow& w, Index length) {
    Axis axis;
    ASSERT_FALSE(windowed_axis(length, w, 0, axis));
    const Index end = axis.start(axis.output - 1) + w.dilation * (w.kernel - 1) + 1;
    Index behind = 0;
    for (Index cell = 0; cell < length; ++cell) behind += cell >= end;
    ASSERT_EQ(rest_of(axis).input, behind) << length << ' ' << w.kernel << ' ' << w.stride << ' ' << w.dilation;
  });
}

TEST(Edges, TheLargestStridesDoNotOverflow) {
  const Index huge = INT64_MAX;
  EXPECT_EQ(MaxPoolND({2}, {huge}).summary({1, 1, 5}),
            "MaxPoolND: [1, 1, 5] -> [1, 1, 1], loses 3 of 5 at the end of axis 2 (3 of 5 elements)");
  refusal([&] { MaxPoolND({2}, {huge}, {.edges = Edges::error}).output_shape({1, 1, 5}); }, Code::edges_dropped);
}

TEST(Edges, CeilKeepsThem) {
  MaxPool1D layer(2, 2, {.edges = Edges::ceil});
  EXPECT_EQ(layer.forward(Tensor({1, 1, 5}, {1, 2, 3, 4, 99})), Tensor({1, 1, 3}, {2, 4, 99}));
  EXPECT_EQ(layer.summary({1, 1, 5}), "MaxPool1D: [1, 1, 5] -> [1, 1, 3]");
}

// What the command's `explain` warns of is another number: cells that a window more would see.

bool sees(const Axis& axis, Index output, Index cell) {
  const Taps taps = axis.taps(output);
  for (Index tap = 0; tap < taps.count; ++tap)
    if (taps.first + tap * taps.step == cell) return true;
  return false;
}

/// Cells that no window sees and that windows behind the last would, counted by asking every window for every cell.
Index lost_by_hand(const Axis& axis) {
  Index lost = 0;
  for (Index cell = 0; cell < axis.input; ++cell) {
    bool seen = false, could_be = false;
    for (Index output = 0; output < axis.input + axis.lo; ++output)
      (output < axis.output ? seen : could_be) |= sees(axis, output, cell);
    if (!seen && could_be) ++lost;
  }
  return lost;
}

TEST(AxisLoss, LossAndPaddingAgreeWithACountByHand) {
  int losing = 0;
  for (Index length = 1; length < 13; ++length)
    for (Index kernel = 1; kernel < 5; ++kernel)
      for (Index stride = 1; stride < 5; ++stride)
        for (Index dilation = 1; dilation < 4; ++dilation)
          for (Index pad = 0; pad < 3; ++pad) {
            AxisWindow window{.kernel = kernel, .stride = stride, .lo = pad, .hi = pad / 2, .dilation = dilation};
            Axis axis;
            if (windowed_axis(length, window, 0, axis)) continue;
            const Loss loss = axis.loss();
            ASSERT_EQ(loss.cells, lost_by_hand(axis)) << length << ' ' << kernel << ' ' << stride << ' ' << dilation;
            if (loss.cells == 0) continue;
            ++losing;
            Axis padded;
            window.hi += loss.padding;
            ASSERT_FALSE(windowed_axis(length, window, 0, padded));
            EXPECT_EQ(padded.loss().cells, 0);
            window.hi -= 1;
            ASSERT_FALSE(windowed_axis(length, window, 0, padded));
            EXPECT_GT(padded.loss().cells, 0) << "less padding would do";
          }
  EXPECT_GT(losing, 100);
}

}  // namespace
}  // namespace ndpool::nn
