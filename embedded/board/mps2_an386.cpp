// The least that a Cortex-M4 needs to run a program: vectors, memory as the program expects it, the floating-point
// unit, and a way to print. Printing and leaving go through semihosting: a breakpoint that the emulator answers.
#include "board.hpp"

#include <cstddef>
#include <cstdint>

// Where the linker script put things.
extern "C" std::uint32_t stack_top, data_begin, data_end, data_image, bss_begin, bss_end;

namespace {

enum class Request : std::uint32_t { write0 = 0x04, exit = 0x18 };
constexpr std::uint32_t application_exit = 0x20026, run_time_error = 0x20023;

void semihost(Request request, std::uint32_t argument) {
  register std::uint32_t number asm("r0") = static_cast<std::uint32_t>(request);
  register std::uint32_t parameter asm("r1") = argument;
  asm volatile("bkpt 0xAB" : "+r"(number) : "r"(parameter) : "memory");
}

[[noreturn]] void leave(std::uint32_t reason) {
  semihost(Request::exit, reason);
  for (;;) {
  }
}

[[noreturn]] void fail() { leave(run_time_error); }

[[noreturn]] void reset() {
  volatile std::uint32_t& coprocessor_access = *reinterpret_cast<volatile std::uint32_t*>(0xE000ED88);
  coprocessor_access = coprocessor_access | 0xFU << 20;  // the floating-point unit
  asm volatile("dsb\n isb" ::: "memory");
  std::uint32_t* to = &data_begin;
  for (const std::uint32_t* from = &data_image; to < &data_end; ++from, ++to) *to = *from;
  for (to = &bss_begin; to < &bss_end; ++to) *to = 0;
  program();
  leave(application_exit);
}

using Handler = void (*)();
struct Vectors {
  std::uint32_t* stack;
  Handler handlers[15];
};
[[gnu::section(".vectors"), gnu::used]] const Vectors vectors{
    &stack_top, {reset, fail, fail, fail, fail, fail, fail, fail, fail, fail, fail, fail, fail, fail, fail}};

}  // namespace

void board::write(const char* text) {
  semihost(Request::write0, static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(text)));
}

// The compiler may ask for these even where there is no library. Volatile keeps it from making them call themselves.
extern "C" void* memset(void* to, int value, std::size_t count) {
  auto* bytes = static_cast<volatile unsigned char*>(to);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<unsigned char>(value);
  return to;
}
extern "C" void* memcpy(void* to, const void* from, std::size_t count) {
  auto* bytes = static_cast<volatile unsigned char*>(to);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<const unsigned char*>(from)[i];
  return to;
}
