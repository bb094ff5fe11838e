// What the fuzzer has found interesting, replayed without it. A disagreement prints its problem and aborts.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace ndpool::testing {

TEST(FuzzCorpus, KernelsAgreeWithTheSpec) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(NDPOOL_SOURCE_DIR "/tests/fuzz/corpus")) {
    SCOPED_TRACE(entry.path());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(content.data()), content.size());
    ++files;
  }
  EXPECT_GE(files, 20);
}

}  // namespace ndpool::testing
