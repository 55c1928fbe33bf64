//===- ReorderLargeTest.cpp - Reorders of more than 2^31 elements ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests reorders of more than 2^31 bytes in a separate program of the full run, which needs 4.3 GiB of memory. The
// value of an element follows from its index; a sample and both ends are checked.
//
//===----------------------------------------------------------------------===//
#include "quern/quern.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace quern {
namespace {

using dt = memory::data_type;

constexpr int64_t rows = 46411, columns = 46349, count = rows * columns; // both prime; 2^31 + 3.6 million
constexpr int64_t step = 4093;                                           // distance of sampled elements

int8_t valueOf(int64_t element) { return static_cast<int8_t>((element * 37 + element / 251) & 0x7f); }

class ReorderLarge : public testing::Test {
protected:
  static void SetUpTestSuite() {
    from = std::make_unique<int8_t[]>(count);
    to = std::make_unique<int8_t[]>(count + 64);
    for (int64_t i = 0; i < count; ++i)
      from[static_cast<size_t>(i)] = valueOf(i);
  }
  static void TearDownTestSuite() {
    from.reset();
    to.reset();
  }
  void run(const memory::desc &problemSrc, const memory::desc &problemDst, const memory::desc &src,
           const memory::desc &dst) {
    reorder kernel(reorder::primitive_desc(device, problemSrc, device, problemDst));
    kernel.execute(stream(device), memory(src, device, from.get()), memory(dst, device, to.get()));
  }
  /// Returns the number of sampled elements, and elements at both ends, that are not at the index of `placeOf`.
  template <typename Place> int64_t wrong(Place placeOf) {
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i += i < 1000 || i >= count - 1000 ? 1 : std::min(step, count - 1000 - i))
      wrong += to[static_cast<size_t>(placeOf(i))] != valueOf(i);
    return wrong;
  }

  engine device{engine::kind::cpu, 0};
  static std::unique_ptr<int8_t[]> from, to;
};

std::unique_ptr<int8_t[]> ReorderLarge::from, ReorderLarge::to;

TEST_F(ReorderLarge, Copy) {
  memory::desc src({count}, dt::s8, "a"), dst({count}, dt::u8, "a");
  run(src, dst, src, dst);
  EXPECT_EQ(wrong([](int64_t i) { return i; }), 0);
}

TEST_F(ReorderLarge, Transposition) {
  memory::desc src({rows, columns}, dt::s8, "ab"), dst({rows, columns}, dt::s8, "ba");
  run(src, dst, src, dst);
  EXPECT_EQ(wrong([](int64_t i) { return i % columns * rows + i / columns; }), 0);
}

TEST_F(ReorderLarge, Padding) {
  memory::desc src({count}, dt::s8, "a"), dst({count}, dt::s8, "A32a");
  std::fill(to.get() + count, to.get() + count + 64, int8_t(1));
  run(src, dst, src, dst);
  EXPECT_EQ(wrong([](int64_t i) { return i; }), 0);
  for (int64_t i = count; i < static_cast<int64_t>(dst.get_size()); ++i)
    EXPECT_EQ(to[static_cast<size_t>(i)], 0);
  EXPECT_EQ(to[dst.get_size()], 1);
}

TEST_F(ReorderLarge, SizesGivenAtExecution) {
  constexpr int64_t open = QUERN_RUNTIME_DIM_VAL;
  memory::desc any({open, open}, dt::s8, memory::dims{open, open}), src({rows, columns}, dt::s8, "ab"),
      dst({rows, columns}, dt::s8, "ba");
  run(any, any, src, dst);
  EXPECT_EQ(wrong([](int64_t i) { return i % columns * rows + i / columns; }), 0);
}

} // namespace
} // namespace quern
