#include "c/errors.hpp"

#include "sentences.hpp"

#include <ndpool/targets.hpp>

#include <cstring>
#include <new>
#include <stdexcept>

namespace ndpool::c {

namespace {

// A code of C++ is the same number in C.
#define NDPOOL_SAME_CODE(name) static_assert(ndpool_code_##name == static_cast<int>(Code::name));
NDPOOL_SAME_CODE(none)
NDPOOL_SAME_CODE(not_positive)
NDPOOL_SAME_CODE(negative)
NDPOOL_SAME_CODE(overflow)
NDPOOL_SAME_CODE(kernel_exceeds_input)
NDPOOL_SAME_CODE(zero_length)
NDPOOL_SAME_CODE(empty_window)
NDPOOL_SAME_CODE(rank_too_large)
NDPOOL_SAME_CODE(nothing_to_pool)
NDPOOL_SAME_CODE(too_many_axes)
NDPOOL_SAME_CODE(wrong_count)
NDPOOL_SAME_CODE(axis_out_of_range)
NDPOOL_SAME_CODE(axis_repeated)
NDPOOL_SAME_CODE(null_data)
NDPOOL_SAME_CODE(overlap)
NDPOOL_SAME_CODE(zero_stride)
NDPOOL_SAME_CODE(zero_divisor)
NDPOOL_SAME_CODE(beta_not_usable)
NDPOOL_SAME_CODE(no_beta)
NDPOOL_SAME_CODE(p_not_positive)
NDPOOL_SAME_CODE(ties_without_extreme)
NDPOOL_SAME_CODE(no_indices)
NDPOOL_SAME_CODE(no_derivative)
NDPOOL_SAME_CODE(no_transcendentals)
NDPOOL_SAME_CODE(taps_do_not_fit)
NDPOOL_SAME_CODE(index_out_of_range)
#undef NDPOOL_SAME_CODE
static_assert(static_cast<int>(Code::compiled_before) < ndpool_code_cancelled);

int32_t write(ndpool_error* error, int32_t code, const char* argument, const char* sentence) {
  if (error == nullptr) return code;
  *error = NDPOOL_ERROR_INIT;
  error->code = code;
  error->argument = argument;
  // Cut at a whole character: names that a caller gave may be UTF-8.
  std::size_t length = std::strlen(sentence);
  if (length >= NDPOOL_SENTENCE_SIZE) {
    length = NDPOOL_SENTENCE_SIZE - 1;
    while (length > 0 && (static_cast<unsigned char>(sentence[length]) & 0xC0) == 0x80) --length;
  }
  std::memcpy(error->sentence, sentence, length);
  error->sentence[length] = 0;
  return code;
}

int32_t write(ndpool_error* error, const Error& thrown) {
  const Fault& fault = thrown.fault();
  const int32_t code = static_cast<int32_t>(fault.code);
  write(error, code, fault.argument == Argument::none ? "" : name_of(fault.argument), thrown.what());
  if (error == nullptr) return code;
  error->axis = fault.axis;
  for (int i = 0; i < 5; ++i) error->values[i] = fault.values[i];
  error->real = fault.real;
  return code;
}

/// True if there are kernels: not where NDPOOL_FORCE_TARGET names a target that this machine lacks.
bool has_target() {
  try {
    static_cast<void>(target());
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

}  // namespace

int32_t report_exception(ndpool_error* error) noexcept {
  try {
    try {
      throw;
    } catch (const Error& thrown) {
      return write(error, thrown);
    } catch (const Refusal& refusal) {
      return write(error, refusal.code(), refusal.argument(), refusal.what());
    } catch (const std::invalid_argument& refused) {  // a name, of the two kinds that there are
      return has_target() ? write(error, ndpool_code_no_implementation, "implementation", refused.what())
                          : write(error, ndpool_code_no_target, "target", refused.what());
    } catch (const std::bad_alloc&) {
      return write(error, ndpool_code_out_of_memory, "", "there is no memory left");
    } catch (const std::exception& other) {
      return write(error, ndpool_code_unknown, "", other.what());
    }
  } catch (...) {
    return write(error, ndpool_code_unknown, "", "an exception of an unknown type was thrown");
  }
}

int32_t report_cancelled(ndpool_error* error) noexcept {
  return write(error, ndpool_code_cancelled, "progress", "the progress callback has cancelled the run");
}

}  // namespace ndpool::c
