// Arrays beyond 2^32 bytes: positions and flat indices that do not fit 32 bits.
#include "support/kernels.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <random>

namespace ndpool::testing {

TEST(LargePlans, OfDilatedPaddingAreMadeAtOnce) {
  const Index cells = Index{1} << 36;
  const auto window = [&](Index stride) -> Window {
    return {.kernel = {2}, .stride = {stride}, .padding = {cells}, .dilation = {cells + 1}};
  };
  EXPECT_EQ(max_pool(window(2)).plan<float>({cells}).output_shape(), Shape{cells});
  EXPECT_EQ(avg_pool(window(1)).plan<float>({cells}).output_shape(), Shape{2 * cells - 1});
  EXPECT_THROW(max_pool(window(1)).plan<float>({cells}), Error) << "the window that starts at -1 is empty";
}

long available_gib() {
  std::ifstream meminfo("/proc/meminfo");
  for (std::string name; meminfo >> name;) {
    long kib = 0;
    if (name == "MemAvailable:" && meminfo >> kib) return kib >> 20;
  }
  return 0;
}

/// Zero pages of the system: what is only read takes no memory.
template <class T>
class Pages {
 public:
  explicit Pages(Index count) : bytes_(static_cast<std::size_t>(count) * sizeof(T)) {
    void* pages = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    data = static_cast<T*>(pages);
  }
  ~Pages() { munmap(data, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  T* data = nullptr;

 private:
  std::size_t bytes_;
};

/// An array of more than 2^32 bytes that is 0 but for some cells, which are remembered.
struct SparseArray {
  static constexpr Index rows = 65800, columns = 65800;
  static_assert(rows * columns > Index{1} << 32 && rows * columns % 16 == 0);
  Pages<std::uint8_t> pages{rows * columns};
  std::map<Index, std::uint8_t> cells;

  explicit SparseArray(int count) {
    std::mt19937_64 random(7);
    for (int i = 0; i < count; ++i)
      set(static_cast<Index>(random() % static_cast<std::uint64_t>(rows * columns)), 1 + i % 255);
    for (const Index edge : {Index{1} << 31, Index{1} << 32}) {  // both sides of where 32 bits end
      set(edge - 1, 200);
      set(edge, 201);
    }
    set(rows * columns - 1, 255);
  }
  void set(Index cell, int value) { pages.data[cell] = cells[cell] = static_cast<std::uint8_t>(value); }
  View<const std::uint8_t> view() const { return {pages.data, {rows, columns}}; }
};

/// The winner of a 2x2 window by the definition: the first of the largest.
Index winner(const std::uint8_t* x, Index row, Index column) {
  Index best = row * SparseArray::columns + column;
  for (const Index tap : {best + 1, best + SparseArray::columns, best + SparseArray::columns + 1})
    if (x[tap] > x[best]) best = tap;
  return best;
}

class Large : public ::testing::Test {
 protected:
  void SetUp() override {
    if (has_sanitizer) GTEST_SKIP() << "a sanitizer takes too long";
    if (available_gib() < 8) GTEST_SKIP() << "less than 8 GiB of memory are available";
  }
};

TEST_F(Large, MaxOfMoreThan4GiBAtEveryPosition) {
  const SparseArray x(2000);
  const Shape out = {SparseArray::rows / 2, SparseArray::columns / 2};
  const Pages<std::uint8_t> y(element_count(out));
  max_pool({.kernel = {2, 2}}).forward(x.view(), View<std::uint8_t>(y.data, out));
  std::map<Index, std::uint8_t> expected;  // the outputs that are not 0
  for (const auto& [cell, value] : x.cells) {
    const Index row = cell / SparseArray::columns / 2, column = cell % SparseArray::columns / 2;
    std::uint8_t& output = expected[row * out[1] + column];
    output = std::max(output, value);
  }
  std::map<Index, std::uint8_t> found;
  for (Index i = 0; i < element_count(out); i += 4) {  // four at a time, as there are more than 2^30
    std::uint32_t four = 0;
    std::memcpy(&four, y.data + i, sizeof four);
    for (Index j = i; four != 0 && j < i + 4; ++j)
      if (y.data[j] != 0) found[j] = y.data[j];
  }
  EXPECT_EQ(found, expected);
}

TEST_F(Large, FlatIndicesBeyond32Bits) {
  // Strides of 8 and 4 keep the indices, 8 bytes each, near 1 GiB.
  const SparseArray x(20000);
  const Pool pool = max_pool({.kernel = {2, 2}, .stride = {8, 4}});
  const Shape out = pool.output_shape({SparseArray::rows, SparseArray::columns});
  const Pages<std::uint8_t> y(element_count(out));
  const Pages<Index> indices(element_count(out));
  pool.forward(x.view(), View<std::uint8_t>(y.data, out), View<Index>(indices.data, out));
  int beyond = 0;
  const auto check = [&](Index row, Index column) {
    const Index expected = winner(x.pages.data, 8 * row, 4 * column);
    ASSERT_EQ(indices.data[row * out[1] + column], expected) << row << ", " << column;
    ASSERT_EQ(y.data[row * out[1] + column], x.pages.data[expected]) << row << ", " << column;
    beyond += expected > Index{1} << 31 && x.pages.data[expected] != 0 ? 1 : 0;
  };
  for (const auto& [cell, value] : x.cells) {
    const Index row = cell / SparseArray::columns / 8, column = cell % SparseArray::columns / 4;
    if (row < out[0] && column < out[1]) check(row, column);
  }
  EXPECT_GT(beyond, 1000) << "winners that need more than 31 bits";
  for (Index column = 0; column < out[1]; ++column) check(out[0] - 1, column);
}

TEST_F(Large, StridesOfMoreThan4GiB) {
  // Two rows, the second beyond 2^32 bytes, and the same backwards.
  const Index far = (Index{1} << 32) + 64;
  const Pages<std::uint8_t> pages(far + 64);
  for (Index i = 0; i < 64; ++i) pages.data[far + i] = static_cast<std::uint8_t>(i);
  const Pool pool = max_pool({.kernel = {2, 2}});
  for (const bool backwards : {false, true}) {
    const View<const std::uint8_t> x(pages.data + (backwards ? far : 0), {2, 64}, {backwards ? -far : far, 1});
    Array<std::uint8_t> y({1, 32});
    pool.forward(x, y.view());
    for (Index i = 0; i < 32; ++i) EXPECT_EQ(y[i], 2 * i + 1);
  }
}

}  // namespace ndpool::testing
