// The numbers and the picture of one pool on one array, all of them from the geometry and the reference.
#pragma once

#include "settings.hpp"

#include <string>
#include <vector>

namespace ndpool::explorer {

using Numbers = std::vector<double>;

/// One tap of a window as the page draws it, in this order of numbers.
struct DrawnTap {
  double at;      ///< flat position in the picture
  double ground;  ///< what it falls on
  double cell;    ///< flat position in the input, -1 outside
  double weight;  ///< dy/dx, 0 outside
};

/// An output that sees a cell.
struct Seeing {
  double output;  ///< flat position
  double weight;  ///< dy/dx
  double share;   ///< what the gradient of the output gives to the cell
};

enum class Outcome { fine, no_numbers, nothing };

class Pooling {
 public:
  /// Resolves the geometry and takes memory for the arrays. `nothing`: there is no geometry, or too much to draw;
  /// `no_numbers`: windows can be drawn, but the reducer rejects them. `sentence` then says why.
  Outcome prepare(const Settings& settings);

  /// y, indices and gx of the numbers in x and gy.
  void run();

  /// Fills `taps` with the window of an output.
  void look_at_output(Index output);
  /// Fills `seeing` with the outputs that see a cell.
  void look_at_cell(Index cell);

  std::string sentence;    ///< what is wrong, in the library's words
  std::string arithmetic;  ///< lines: how the size of each pooled axis comes about
  std::string warnings;    ///< lines: cells that no window sees, and windows without a cell

  Numbers x, gy, y, indices, gx;
  Numbers output_shape;   ///< with the pooled axes of a global pool
  Numbers visible_shape;  ///< as a caller gets it
  Numbers picture_shape, picture_begin;
  Numbers grounds;  ///< of each position of the picture
  Numbers cells;    ///< the flat position in the input, -1 outside
  Numbers seen;     ///< by how many outputs
  Numbers boxes;    ///< per output: first and last position in the picture on each axis
  std::vector<DrawnTap> taps;
  std::vector<Seeing> seeing;
  double window_scale = 1;    ///< what the weights of the window that was looked at last are divided by
  double window_padded = 0;   ///< its taps on padding that count
  double window_winner = -1;  ///< flat position in the input, -1 if it has none

 private:
  void explain();
  void draw_cells();
  void draw_boxes();

  Shape position_in(const Shape& shape, Index flat) const;

  Settings settings_;
  Geometry geometry_;
  bool has_numbers_ = false;
};

}  // namespace ndpool::explorer
