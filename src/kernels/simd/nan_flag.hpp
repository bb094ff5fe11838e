// What happened to numbers, noticed at no cost: x86 instructions raise a flag and keep it raised, those of maxima and
// minima when they meet a NaN, others when a result is too small for all its digits.
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
/// Flags of the calling thread. While one of these lives, what raises them stops no program that asked to be stopped by
/// it; when it goes, the flags are what the caller had. Without flags to trust, they always were raised.
template <unsigned flags>
class RaisedFlags {
 public:
  RaisedFlags() : trusted_(nans_raise_a_flag()), callers_(read()) {
    if ((callers_ & (flags | masks)) != masks) write((callers_ | masks) & ~flags);
  }
  ~RaisedFlags() {
    const unsigned now = read(), wanted = (now & ~(flags | masks)) | (callers_ & (flags | masks));
    if (now != wanted) write(wanted);
  }
  RaisedFlags(const RaisedFlags&) = delete;
  RaisedFlags& operator=(const RaisedFlags&) = delete;

  /// True if one was raised since this was last asked.
  bool take() const {
    const unsigned now = read();
    if (now & flags) write(now & ~flags);
    return (now & flags) != 0 || !trusted_;
  }

 private:
  static constexpr unsigned masks = flags << 7;

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
/// The invalid flag: a NaN met or made. InexactFlag adds the underflow flag: a result so small that it lost digits.
using NanFlag = RaisedFlags<1>;
using InexactFlag = RaisedFlags<1 | 1 << 4>;
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
using InexactFlag = NoNanFlag;
#endif

}  // namespace ndpool
