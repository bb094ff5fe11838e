// What the page calls. One pool at a time; numbers are read and written in this module's memory as float64.
#include "pooling.hpp"

using namespace ndpool::explorer;

namespace {

Settings settings;
Pooling pooling;

/// The order of the lists in engine.js.
Numbers* const arrays[] = {&pooling.x,
                           &pooling.gy,
                           &pooling.y,
                           &pooling.indices,
                           &pooling.gx,
                           &pooling.output_shape,
                           &pooling.visible_shape,
                           &pooling.picture_shape,
                           &pooling.picture_begin,
                           &pooling.grounds,
                           &pooling.cells,
                           &pooling.seen,
                           &pooling.boxes};
const std::string* const texts[] = {&pooling.sentence, &pooling.arithmetic, &pooling.warnings};

}  // namespace

#define EXPLORER_EXPORT(name) extern "C" __attribute__((export_name(#name)))

EXPLORER_EXPORT(begin) void begin() { settings = {}; }
EXPLORER_EXPORT(set) void set(int option, double value) { settings.set(static_cast<Option>(option), value); }
EXPLORER_EXPORT(append) void append(int list, double value) { settings.append(static_cast<List>(list), value); }

/// 0: run() may follow; 1: there are windows, but no numbers; 2: nothing. The sentence says why.
EXPLORER_EXPORT(prepare) int prepare() { return static_cast<int>(pooling.prepare(settings)); }
EXPLORER_EXPORT(run) void run() { pooling.run(); }

EXPLORER_EXPORT(array_data) double* array_data(int which) { return arrays[which]->data(); }
EXPLORER_EXPORT(array_size) int array_size(int which) { return static_cast<int>(arrays[which]->size()); }
EXPLORER_EXPORT(text_data) const char* text_data(int which) { return texts[which]->data(); }
EXPLORER_EXPORT(text_size) int text_size(int which) { return static_cast<int>(texts[which]->size()); }

/// The number of taps of the window of an output; four numbers each, from taps_data().
EXPLORER_EXPORT(look_at_output) int look_at_output(int output) {
  pooling.look_at_output(output);
  return static_cast<int>(pooling.taps.size());
}
EXPLORER_EXPORT(taps_data) const double* taps_data() { return &pooling.taps.data()->at; }
EXPLORER_EXPORT(window_scale) double window_scale() { return pooling.window_scale; }
EXPLORER_EXPORT(window_winner) double window_winner() { return pooling.window_winner; }
EXPLORER_EXPORT(window_padded) double window_padded() { return pooling.window_padded; }

/// The number of outputs that see a cell; three numbers each, from seeing_data().
EXPLORER_EXPORT(look_at_cell) int look_at_cell(int cell) {
  pooling.look_at_cell(cell);
  return static_cast<int>(pooling.seeing.size());
}
EXPLORER_EXPORT(seeing_data) const double* seeing_data() { return &pooling.seeing.data()->output; }
