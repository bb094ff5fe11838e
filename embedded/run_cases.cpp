// Runs every case and prints what came out, bit for bit: `name array hex hex ...`.
#include "board/board.hpp"
#include "cases.hpp"
#include "conv_cases.hpp"

namespace {

void print_hex(std::uint32_t bits, int digits) {
  char text[10] = {' '};
  for (int d = 0; d < digits; ++d) text[1 + d] = "0123456789abcdef"[bits >> (4 * (digits - 1 - d)) & 0xF];
  board::write(text);
}

template <class Array>
void print(const char* name, const char* array_name, const Array& array) {
  for (const char* text : {name, " ", array_name}) board::write(text);
  for (const auto& element : array) {
    if constexpr (std::integral<typename Array::Scalar>)
      print_hex(static_cast<std::uint32_t>(element), 2 * sizeof element);
    else
      print_hex(std::bit_cast<std::uint32_t>(element), 2 * sizeof element);
  }
  board::write("\n");
}

}  // namespace

void program() {
  embedded::for_each_case([]<class Layer>(const char* name, const char*) {
    static embedded::Results<Layer> results;
    results.run();
    print(name, "y", results.y);
    if constexpr (results.trains) {
      if constexpr (results.is_max) {
        print(name, "memory", results.memory);
        print(name, "mask", results.mask);
      }
      print(name, "gx", results.gx);
    }
  });
  embedded::for_each_conv_case([]<class Conv>(const char* name, const embedded::Placement&) {
    static embedded::ConvResults<Conv> results;
    results.run();
    print(name, "y", results.y);
    if constexpr (results.trains) {
      print(name, "gx", results.gx);
      print(name, "gw", results.gradient.weight);
      print(name, "gb", results.gradient.bias);
    }
  });
}
