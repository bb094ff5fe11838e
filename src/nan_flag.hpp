// A NaN among numbers whose maxima and minima are taken, noticed at no cost: x86 instructions that take one raise a
// flag when a number is NaN, and keep it raised.
#pragma once

#include <type_traits>

#if defined(__x86_64__) || defined(__i386__)
#define NDPOOL_HAS_NAN_FLAG 1
#else
#define NDPOOL_HAS_NAN_FLAG 0
#endif

namespace ndpool {

/// True if such instructions really raise the flag, which some emulators forget. Asked once, and then remembered.
bool nans_raise_a_flag();

#if NDPOOL_HAS_NAN_FLAG
/// The flag of the calling thread. While one of these lives, a NaN stops no program that asked to be stopped by one;
/// when it goes, the flag is what the caller had. Without a flag to trust, there always was a NaN.
class NanFlag {
 public:
  NanFlag() : trusted_(nans_raise_a_flag()), callers_(read()) {
    if ((callers_ & (invalid | invalid_masked)) != invalid_masked) write((callers_ | invalid_masked) & ~invalid);
  }
  ~NanFlag() {
    const unsigned now = read(), wanted = (now & ~(invalid | invalid_masked)) | (callers_ & (invalid | invalid_masked));
    if (now != wanted) write(wanted);
  }
  NanFlag(const NanFlag&) = delete;
  NanFlag& operator=(const NanFlag&) = delete;

  /// True if there was a NaN since this was last asked.
  bool take() const {
    const unsigned now = read();
    if (now & invalid) write(now & ~invalid);
    return (now & invalid) != 0 || !trusted_;
  }

 private:
  static constexpr unsigned invalid = 1, invalid_masked = 1 << 7;

  // Memory is clobbered so that no load comes before, and no store after: what was stored was computed in between.
  static unsigned read() {
    unsigned state = 0;
    asm volatile("stmxcsr %0" : "=m"(state) : : "memory");
    return state;
  }
  static void write(unsigned state) { asm volatile("ldmxcsr %0" : : "m"(state) : "memory"); }

  const bool trusted_;
  const unsigned callers_;
};
#endif

/// For numbers that are not NaN, or noticed otherwise.
struct NoNanFlag {
  bool take() const { return false; }
};

#if NDPOOL_HAS_NAN_FLAG
template <bool is_used>
using FlagIf = std::conditional_t<is_used, NanFlag, NoNanFlag>;
#else
template <bool>
using FlagIf = NoNanFlag;
#endif

}  // namespace ndpool
