// Every sentence that ndpool says: what is wrong with a call (`message` of ndpool/error.hpp), and the arithmetic of a
// window. Made of strings alone, without streams, a formatting library or exceptions, so that the explorer, which is
// compiled to WebAssembly, has the words of the library and of the command.
#pragma once

#include <ndpool/api.h>
#include <ndpool/axis.hpp>

#include <string>

namespace ndpool {

/// How the number of outputs of a pooled axis comes about: `Axis 0: floor((5 cells + 1 before + 1 after - window of 3)
/// / stride 2) + 1 = 3 outputs`. `number` is the axis of the array.
NDPOOL_API std::string output_size_sentence(const Axis& axis, int number, bool ceil_mode);

/// The cells that a dilated window reaches over; empty without dilation.
NDPOOL_API std::string dilation_sentence(const Axis& axis);

/// The cells behind the last window, and what would keep them; empty if there are none.
NDPOOL_API std::string edge_sentence(const Axis& axis, int number);

/// How many cells are between windows or their taps; empty if none is.
NDPOOL_API std::string gap_sentence(const Axis& axis, int number);

/// The name of an argument as a caller wrote it: a literal.
const char* name_of(Argument argument);

}  // namespace ndpool
