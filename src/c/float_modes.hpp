// The floating-point modes of the calling thread.
#pragma once

namespace ndpool::c {

/// Subnormals kept, rounding to nearest, while one of these lives; then the modes are what they were. Flags that
/// computations raise stay raised.
class StandardFloatModes {
 public:
  StandardFloatModes() : before_(read()) {
    if ((before_ & modes) != 0) write(before_ & ~modes);
  }
  ~StandardFloatModes() {
    if ((before_ & modes) != 0) write((read() & ~modes) | (before_ & modes));
  }
  StandardFloatModes(const StandardFloatModes&) = delete;
  StandardFloatModes& operator=(const StandardFloatModes&) = delete;

 private:
#if defined(__x86_64__) || defined(__i386__)
  using Register = unsigned;
  // MXCSR: flush to zero, rounding control, denormals are zero.
  static constexpr Register modes = 1U << 15 | 3U << 13 | 1U << 6;
  static Register read() {
    Register value = 0;
    asm volatile("stmxcsr %0" : "=m"(value) : : "memory");
    return value;
  }
  static void write(Register value) { asm volatile("ldmxcsr %0" : : "m"(value) : "memory"); }
#elif defined(__aarch64__)
  using Register = unsigned long;
  // FPCR: flush to zero, rounding mode, flush half floats to zero.
  static constexpr Register modes = 1UL << 24 | 3UL << 22 | 1UL << 19;
  static Register read() {
    Register value = 0;
    asm volatile("mrs %0, fpcr" : "=r"(value) : : "memory");
    return value;
  }
  static void write(Register value) { asm volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
#else
  using Register = unsigned;
  static constexpr Register modes = 0;
  static Register read() { return 0; }
  static void write(Register) {}
#endif

  const Register before_;
};

}  // namespace ndpool::c
