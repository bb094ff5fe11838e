// What a program needs of the machine under it. There are two: the emulated board (mps2_an386.cpp) and the host that
// its results are compared with (host.cpp).
#pragma once

/// The program, which every file with one defines; the machine calls it once.
void program();

namespace board {

/// Prints text that ends with a zero.
void write(const char* text);

}  // namespace board
