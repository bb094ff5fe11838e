#include "board.hpp"

#include <cstdio>

void board::write(const char* text) { std::fputs(text, stdout); }

int main() {
  program();
  return 0;  // said because a freestanding compiler does not assume it
}
