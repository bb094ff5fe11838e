// Any bytes as the start of a .npy file: the reader answers with a header whose array lies within the file, or says
// what is wrong with it.
#include "errors.hpp"
#include "io/npy.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ndpool;
  try {
    const cli::NpyHeader header = cli::read_npy_header({reinterpret_cast<const char*>(data), size}, size, Dtype::bf16);
    const Index bytes = element_count(header.shape) * item_size(header.dtype);
    if (bytes < 0 || header.data_offset + static_cast<std::size_t>(bytes) > size) std::abort();
    // What is written of a header is read as the same one.
    const std::string again = cli::make_npy_header(header.dtype, header.shape, header.fortran);
    const cli::NpyHeader second =
        cli::read_npy_header(again, again.size() + static_cast<std::size_t>(bytes), Dtype::bf16);
    if (!(second.shape == header.shape) || second.dtype != header.dtype || second.fortran != header.fortran)
      std::abort();
  } catch (const cli::CommandError&) {
  }
  return 0;
}
