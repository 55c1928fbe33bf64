//===- GemmTest.cpp - Products of matrices as functions -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests random calls of quern_gemm.h against sums in double. The matrices start or end at inaccessible pages and have
// gaps that must not change. Then tests what is refused.
//
//===----------------------------------------------------------------------===//
#include "quern/quern_gemm.h"

#include "GuardedBuffer.h"
#include "quern/quern.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <span>

namespace quern {
namespace {

/// `count` values that start or end at an inaccessible page.
template <typename T> class Guarded {
public:
  Guarded(int64_t count, GuardedSide side) : memory(count * static_cast<int64_t>(sizeof(T)), {side}) {}
  T *data() { return reinterpret_cast<T *>(memory.data()); }
  std::span<T> values() { return {data(), static_cast<size_t>(memory.size()) / sizeof(T)}; }
  std::vector<T> copy() { return {values().begin(), values().end()}; }
  bool isIntact() const { return memory.guardsIntact(); }

private:
  GuardedBuffer memory;
};

/// A matrix of rows x columns, stored transposed or not, with a gap after each stored row except the last.
template <typename T> struct Matrix : Guarded<T> {
  int64_t lead = 0;
  bool isTransposed = false;

  Matrix(int64_t rows, int64_t columns, bool isTransposed, int64_t gap, GuardedSide side = GuardedSide::End)
      : Guarded<T>(lengthOf(isTransposed ? columns : rows, isTransposed ? rows : columns, gap), side),
        lead(std::max<int64_t>(isTransposed ? rows : columns, 1) + gap), isTransposed(isTransposed) {}
  size_t indexOf(int64_t row, int64_t column) const {
    return static_cast<size_t>(isTransposed ? column * lead + row : row * lead + column);
  }
  T &at(int64_t row, int64_t column) { return this->data()[indexOf(row, column)]; }

private:
  static int64_t lengthOf(int64_t lines, int64_t line, int64_t gap) {
    return lines > 0 && line > 0 ? (lines - 1) * (line + gap) + line : 0;
  }
};

class GemmTest : public testing::Test {
protected:
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() % static_cast<uint64_t>(high - low + 1));
  }
  bool oneIn(int64_t n) { return between(1, n) == 1; }
  int64_t drawSize() { return oneIn(4) ? between(1, 300) : oneIn(3) ? 1 : between(1, 40); }
  char letter(bool isSecond, const char *letters) { return letters[(isSecond ? 2 : 0) + (oneIn(2) ? 1 : 0)]; }
  float drawScale() { return std::vector<float>{0, 1, 1, -1, 0.5f, 1.25f, -3}[static_cast<size_t>(between(0, 6))]; }
  GuardedSide drawSide() { return oneIn(2) ? GuardedSide::End : GuardedSide::Beginning; }
  template <typename T> void fill(Guarded<T> &buffer) {
    for (T &value : buffer.values())
      value = std::is_floating_point_v<T> ? static_cast<T>(between(-1000, 1000)) / 64 : static_cast<T>(engine());
  }
  void checkFloats();
  template <typename Src> void checkIntegers();
  static quern_status_t call(const uint8_t *a, char ta, char tb, char offset, int64_t m, int64_t n, int64_t k,
                             float alpha, int64_t lda, uint8_t ao, const int8_t *b, int64_t ldb, int8_t bo, float beta,
                             int32_t *c, int64_t ldc, const int32_t *co) {
    return quern_gemm_u8s8s32(ta, tb, offset, m, n, k, alpha, a, lda, ao, b, ldb, bo, beta, c, ldc, co);
  }
  static quern_status_t call(const int8_t *a, char ta, char tb, char offset, int64_t m, int64_t n, int64_t k,
                             float alpha, int64_t lda, int8_t ao, const int8_t *b, int64_t ldb, int8_t bo, float beta,
                             int32_t *c, int64_t ldc, const int32_t *co) {
    return quern_gemm_s8s8s32(ta, tb, offset, m, n, k, alpha, a, lda, ao, b, ldb, bo, beta, c, ldc, co);
  }

  std::mt19937_64 engine{20261121};
};

void GemmTest::checkFloats() {
  const int64_t m = drawSize(), n = drawSize(), k = drawSize();
  const bool ta = oneIn(2), tb = oneIn(2);
  const float alpha = drawScale(), beta = drawScale();
  Matrix<float> a(m, k, ta, between(0, 3), drawSide()), b(k, n, tb, between(0, 3), drawSide()),
      c(m, n, false, between(0, 3), drawSide());
  fill(a), fill(b), fill(c);
  if (beta == 0)
    std::ranges::fill(c.values(), std::numeric_limits<float>::quiet_NaN());
  std::vector<float> old = c.copy();
  ASSERT_EQ(quern_sgemm(letter(ta, "NnTt"), letter(tb, "NnTt"), m, n, k, alpha, a.data(), a.lead, b.data(), b.lead,
                        beta, c.data(), c.lead),
            quern_success)
      << quern_get_last_error_message();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, terms = 0;
      for (int64_t l = 0; l < k; ++l) {
        double term = static_cast<double>(a.at(i, l)) * b.at(l, j);
        sum += term, terms += std::fabs(term);
      }
      double added = beta == 0 ? 0 : static_cast<double>(beta) * old[c.indexOf(i, j)];
      double tolerance = 10 * std::numeric_limits<float>::epsilon() * (std::fabs(alpha) * terms + std::fabs(added));
      ASSERT_LE(std::fabs(alpha * sum + added - c.at(i, j)), tolerance)
          << m << "x" << n << "x" << k << " at " << i << ", " << j;
      old[c.indexOf(i, j)] = c.at(i, j);
    }
  ASSERT_EQ(std::memcmp(old.data(), c.data(), old.size() * sizeof(float)), 0) << "a gap was written";
  ASSERT_TRUE(a.isIntact() && b.isIntact() && c.isIntact());
}

template <typename Src> void GemmTest::checkIntegers() {
  const int64_t m = drawSize(), n = drawSize(), k = drawSize();
  const bool ta = oneIn(2), tb = oneIn(2), isPlain = oneIn(2);
  const float alpha = isPlain ? 1 : drawScale(), beta = isPlain ? 0 : drawScale();
  Matrix<Src> a(m, k, ta, between(0, 3), drawSide());
  Matrix<int8_t> b(k, n, tb, between(0, 3), drawSide());
  Matrix<int32_t> c(m, n, false, between(0, 3), drawSide());
  fill(a), fill(b), fill(c);
  std::vector<int32_t> old = c.copy();
  const Src ao = oneIn(3) ? Src(0) : static_cast<Src>(engine());
  const int8_t bo = oneIn(3) ? int8_t(0) : static_cast<int8_t>(engine());
  const int64_t kind = between(0, 2);
  Guarded<int32_t> co(kind == 0 ? 1 : kind == 1 ? m : n, drawSide());
  fill(co);
  ASSERT_EQ(call(a.data(), letter(ta, "NnTt"), letter(tb, "NnTt"), "FCR"[kind], m, n, k, alpha, a.lead, ao, b.data(),
                 b.lead, bo, beta, c.data(), c.lead, co.data()),
            quern_success)
      << quern_get_last_error_message();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      int64_t sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += (int64_t(a.at(i, l)) - ao) * (int64_t(b.at(l, j)) - bo);
      int32_t value = static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(sum)));
      if (alpha != 1 || beta != 0) {
        double scaled =
            static_cast<double>(alpha) * value + (beta == 0 ? 0 : static_cast<double>(beta) * old[c.indexOf(i, j)]);
        value = static_cast<int32_t>(std::clamp(std::round(scaled), -0x1p31, 0x1p31 - 1));
      }
      const int32_t added = co.data()[kind == 0 ? 0 : kind == 1 ? i : j];
      const auto wanted = static_cast<int32_t>(static_cast<uint32_t>(value) + static_cast<uint32_t>(added));
      ASSERT_EQ(c.at(i, j), wanted) << m << "x" << n << "x" << k << " at " << i << ", " << j;
      old[c.indexOf(i, j)] = wanted;
    }
  ASSERT_EQ(old, c.copy()) << "a gap was written";
  ASSERT_TRUE(a.isIntact() && b.isIntact() && c.isIntact() && co.isIntact());
}

TEST_F(GemmTest, FloatsAreWithinTheThreshold) {
  for (int round = 0; round < 120 && !HasFatalFailure(); ++round)
    checkFloats();
}

TEST_F(GemmTest, UnsignedTimesSignedIsExact) {
  for (int round = 0; round < 100 && !HasFatalFailure(); ++round)
    checkIntegers<uint8_t>();
}

TEST_F(GemmTest, SignedTimesSignedIsExact) {
  for (int round = 0; round < 100 && !HasFatalFailure(); ++round)
    checkIntegers<int8_t>();
}

TEST_F(GemmTest, AnAlphaOf0SkipsTheProduct) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), a[] = {nan, 1}, b[] = {1, nan};
  float c[] = {3};
  ASSERT_EQ(quern_sgemm('N', 'N', 1, 1, 2, 0, a, 2, b, 1, 2, c, 1), quern_success);
  EXPECT_EQ(c[0], 6);
  ASSERT_EQ(quern_sgemm('N', 'N', 1, 1, 2, 0, a, 2, b, 1, 0, c, 1), quern_success);
  EXPECT_EQ(c[0], 0);
}

/// Matrices without elements are not accessed, and C is unchanged for every beta.
TEST_F(GemmTest, ASizeOf0DoesNotChangeC) {
  const int32_t co = 5;
  for (const auto &[m, n, k] : {std::array<int64_t, 3>{0, 5, 7}, {3, 0, 7}, {3, 5, 0}, {0, 0, 0}})
    for (float beta : {0.0f, 1.0f, 2.5f}) {
      Matrix<float> a(m, k, false, 0), b(k, n, false, 0), c(m, n, false, 1);
      fill(a), fill(b), fill(c);
      const std::vector<float> before = c.copy();
      EXPECT_EQ(quern_sgemm('N', 'N', m, n, k, 1, a.data(), a.lead, b.data(), b.lead, beta, c.data(), c.lead),
                quern_success);
      EXPECT_EQ(c.copy(), before) << m << "x" << n << "x" << k << " beta " << beta;
      Matrix<uint8_t> u(m, k, true, 0);
      Matrix<int8_t> s(m, k, true, 0), t(k, n, true, 0);
      Matrix<int32_t> sums(m, n, false, 1);
      fill(sums);
      const std::vector<int32_t> old = sums.copy();
      EXPECT_EQ(
          call(u.data(), 'T', 'T', 'F', m, n, k, 1, u.lead, 1, t.data(), t.lead, 1, beta, sums.data(), sums.lead, &co),
          quern_success);
      EXPECT_EQ(
          call(s.data(), 'T', 'T', 'F', m, n, k, 1, s.lead, 1, t.data(), t.lead, 1, beta, sums.data(), sums.lead, &co),
          quern_success);
      EXPECT_EQ(sums.copy(), old) << m << "x" << n << "x" << k << " beta " << beta;
      EXPECT_EQ(quern_sgemm('N', 'N', m, n, k, 1, nullptr, a.lead, b.data(), b.lead, beta, c.data(), c.lead),
                quern_invalid_arguments);
    }
}

TEST_F(GemmTest, MistakesAreRefused) {
  const float a[16] = {}, b[16] = {};
  float c[16] = {};
  const auto status = [&](char ta, char tb, int64_t m, int64_t n, int64_t k, const float *first, int64_t lda,
                          int64_t ldb, float *out,
                          int64_t ldc) { return quern_sgemm(ta, tb, m, n, k, 1, first, lda, b, ldb, 0, out, ldc); };
  EXPECT_EQ(status('N', 'N', 2, 3, 4, a, 4, 3, c, 3), quern_success);
  EXPECT_EQ(status('T', 'T', 2, 3, 4, a, 2, 4, c, 3), quern_success);
  EXPECT_EQ(status('C', 'N', 2, 3, 4, a, 4, 3, c, 3), quern_invalid_arguments);
  EXPECT_EQ(status('N', 'P', 2, 3, 4, a, 4, 3, c, 3), quern_invalid_arguments);
  EXPECT_EQ(status('N', 'N', -1, 3, 4, a, 4, 3, c, 3), quern_invalid_arguments);
  EXPECT_EQ(status('N', 'N', 2, -1, 4, a, 4, 3, c, 3), quern_invalid_arguments);
  EXPECT_EQ(status('N', 'N', 2, 3, -1, a, 4, 3, c, 3), quern_invalid_arguments);
  EXPECT_EQ(status('N', 'N', 2, 3, 4, a, 3, 3, c, 3), quern_invalid_arguments);
  EXPECT_EQ(status('T', 'N', 2, 3, 4, a, 1, 3, c, 3), quern_invalid_arguments);
  EXPECT_EQ(status('N', 'N', 2, 3, 4, a, 4, 2, c, 3), quern_invalid_arguments);
  EXPECT_EQ(status('N', 'T', 2, 3, 4, a, 4, 3, c, 3), quern_invalid_arguments);
  EXPECT_EQ(status('N', 'N', 2, 3, 4, a, 4, 3, c, 2), quern_invalid_arguments);
  EXPECT_EQ(status('N', 'N', 0, 0, 0, a, 0, 1, c, 1), quern_invalid_arguments);
  EXPECT_EQ(status('N', 'N', 2, 3, 4, nullptr, 4, 3, c, 3), quern_invalid_arguments);
  EXPECT_STREQ(quern_get_last_error_message(), "A is null");
  EXPECT_EQ(status('N', 'N', 2, 3, 4, a, 4, 3, nullptr, 3), quern_invalid_arguments);
  const uint8_t u[4] = {};
  const int8_t s[4] = {};
  int32_t out[4] = {};
  EXPECT_EQ(call(u, 'N', 'N', 'X', 2, 2, 2, 1, 2, 0, s, 2, 0, 0, out, 2, out), quern_invalid_arguments);
  EXPECT_EQ(call(s, 'N', 'N', 'F', 2, 2, 2, 1, 2, 0, s, 2, 0, 0, out, 2, nullptr), quern_invalid_arguments);
}

TEST_F(GemmTest, MatricesBeyondTheAddressSpaceAreRefused) {
  const float a[16] = {}, b[16] = {};
  float c[16] = {};
  const auto status = [&](char ta, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb, int64_t ldc) {
    return quern_sgemm(ta, 'N', m, n, k, 1, a, lda, b, ldb, 0, c, ldc);
  };
  EXPECT_EQ(status('N', 2, 3, 4, INT64_MAX, 3, 3), quern_invalid_arguments);
  EXPECT_STREQ(quern_get_last_error_message(),
               "lda is 9223372036854775807; A of 2 rows of 4 elements then exceeds the address space");
  EXPECT_EQ(status('T', 2, 3, 4, INT64_MAX / 8, 3, 3), quern_invalid_arguments);
  EXPECT_EQ(status('N', 2, 3, 4, 4, INT64_MAX, 3), quern_invalid_arguments);
  EXPECT_EQ(status('N', 2, 3, 4, 4, 3, INT64_MAX / 4), quern_invalid_arguments);
  EXPECT_EQ(status('N', 1, 1, INT64_MAX / 4, INT64_MAX / 4, 1, 1), quern_invalid_arguments);
  // The row stride of a single row is not used, and neither are the strides of an empty matrix.
  EXPECT_EQ(status('N', 1, 3, 4, INT64_MAX, 3, INT64_MAX), quern_success);
  EXPECT_EQ(status('N', 2, 0, 4, 4, INT64_MAX, 3), quern_success);
  const int8_t s[4] = {};
  int32_t out[4] = {};
  EXPECT_EQ(call(s, 'N', 'N', 'F', 1, 1, INT64_MAX, 1, INT64_MAX, 0, s, 1, 0, 0, out, 1, out), quern_invalid_arguments);
}

TEST_F(GemmTest, TheCallingThreadAloneGivesTheSameBits) {
  Matrix<float> a(70, 90, false, 0), b(90, 150, true, 0), c(70, 150, false, 0), alone(70, 150, false, 0);
  fill(a), fill(b);
  ASSERT_EQ(quern_sgemm('N', 'T', 70, 150, 90, 1, a.data(), 90, b.data(), 90, 0, c.data(), 150), quern_success);
  ASSERT_EQ(quern_threadpool_interop_sgemm('N', 'T', 70, 150, 90, 1, a.data(), 90, b.data(), 90, 0, alone.data(), 150,
                                           nullptr),
            quern_success);
  EXPECT_EQ(c.copy(), alone.copy());

  const std::vector<uint8_t> left(6, 3);
  const std::vector<int8_t> signedLeft(6, 3), right(6, -2);
  const int32_t offset = 1;
  std::vector<int32_t> product(4), expected(4, 3 * 3 * -2 + 1);
  ASSERT_EQ(quern_threadpool_interop_gemm_u8s8s32('N', 'N', 'F', 2, 2, 3, 1, left.data(), 3, 0, right.data(), 2, 0, 0,
                                                  product.data(), 2, &offset, nullptr),
            quern_success);
  EXPECT_EQ(product, expected);
  product.assign(4, 0);
  ASSERT_EQ(quern_threadpool_interop_gemm_s8s8s32('N', 'N', 'F', 2, 2, 3, 1, signedLeft.data(), 3, 0, right.data(), 2,
                                                  0, 0, product.data(), 2, &offset, nullptr),
            quern_success);
  EXPECT_EQ(product, expected);
}

TEST_F(GemmTest, AMatrixThatOverlapsIsRefused) {
  std::vector<float> values(64, 2);
  const std::vector<float> before = values;
  float *const all = values.data();
  const auto product = [&](const float *a, const float *b, float *c, int64_t ldc) {
    return quern_sgemm('N', 'T', 4, 4, 4, 1, a, 8, b, 8, 0, c, ldc);
  };
  EXPECT_EQ(product(all, all + 32, all, 8), quern_invalid_arguments);
  EXPECT_STREQ(quern_get_last_error_message(), "C overlaps A; they must not overlap");
  EXPECT_EQ(product(all, all + 32, all + 59, 4), quern_invalid_arguments);
  EXPECT_STREQ(quern_get_last_error_message(), "C overlaps B; they must not overlap");
  EXPECT_EQ(values, before);
  EXPECT_EQ(product(all, all + 32, all + 4, 8), quern_success) << "C may consist of the columns after those of A";
  EXPECT_EQ(values[4], 16);
  EXPECT_EQ(values[0], 2);
  const std::vector<uint8_t> a(16, 1);
  const std::vector<int8_t> b(16, 1);
  std::vector<int32_t> c(20, 3);
  EXPECT_EQ(
      quern_gemm_u8s8s32('N', 'N', 'R', 4, 4, 4, 1, a.data(), 4, 0, b.data(), 4, 0, 0, c.data(), 4, c.data() + 15),
      quern_invalid_arguments);
  EXPECT_STREQ(quern_get_last_error_message(), "C overlaps co; they must not overlap");
  EXPECT_EQ(
      quern_gemm_u8s8s32('N', 'N', 'R', 4, 4, 4, 1, a.data(), 4, 0, b.data(), 4, 0, 0, c.data(), 4, c.data() + 16),
      quern_success);
  EXPECT_EQ(c[15], 7);
}

/// The kernel of these functions as a primitive on tensors of open sizes.
TEST_F(GemmTest, APrimitiveTakesOpenSizes) {
  engine::kind kind = engine::kind::cpu;
  quern::engine device(kind, 0);
  stream order(device);
  primitive_desc desc(device, "gemm src=f32:?x?:ab weights=f32:?x?:ba dst=f32:?x?:ab");
  primitive product(desc);
  EXPECT_EQ(desc.get_kind(), primitive::kind::gemm);
  EXPECT_EQ(product.get_kind(), primitive::kind::gemm);
  const auto make = [&](int64_t rows, int64_t columns, const char *tag) {
    return memory({{rows, columns}, memory::data_type::f32, tag}, device);
  };
  memory src = make(2, 3, "ab"), weights = make(3, 4, "ba"), dst = make(2, 4, "ab"), odd = make(2, 5, "ab");
  for (memory *each : {&src, &weights})
    std::fill_n(static_cast<float *>(each->get_data_handle()), each == &src ? 6 : 12, 2.0f);
  product.execute(order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_WEIGHTS, weights}, {QUERN_ARG_DST, dst}});
  EXPECT_EQ(static_cast<float *>(dst.get_data_handle())[7], 12);
  const quern_exec_arg_t wrong[] = {
      {QUERN_ARG_SRC, src.get()}, {QUERN_ARG_WEIGHTS, weights.get()}, {QUERN_ARG_DST, odd.get()}};
  EXPECT_EQ(quern_primitive_execute(product.get(), order.get(), 3, wrong), quern_invalid_arguments);
  EXPECT_STREQ(quern_get_last_error_message(), "dim 1 of weights is 4; dim 1 of dst is 5 (gemm C12)");
}

/// Sizes are known or open; the empty operands start at an inaccessible page or are null.
TEST_F(GemmTest, APrimitiveWithKOf0DoesNotChangeDst) {
  quern::engine device(engine::kind::cpu, 0);
  stream order(device);
  for (const char *line : {"gemm src=f32:3x0:ab weights=f32:0x5:ab dst=f32:3x5:ab",
                           "gemm src=f32:?x?:ab weights=f32:?x?:ab dst=f32:?x?:ab",
                           "gemm src=f32:?x0:ab weights=f32:0x?:ab dst=f32:?x?:ab"})
    for (bool isNowhere : {false, true}) {
      const primitive product(primitive_desc(device, line));
      Guarded<float> none(0, GuardedSide::End), dst(15, GuardedSide::End);
      fill(dst);
      const std::vector<float> before = dst.copy();
      const auto at = [&](int64_t rows, int64_t columns, void *data) {
        return memory({{rows, columns}, memory::data_type::f32, "ab"}, device, data);
      };
      void *const nothing = isNowhere ? nullptr : none.data();
      product.execute(order, {{QUERN_ARG_SRC, at(3, 0, nothing)},
                              {QUERN_ARG_WEIGHTS, at(0, 5, nothing)},
                              {QUERN_ARG_DST, at(3, 5, dst.data())}});
      EXPECT_EQ(dst.copy(), before) << line;
    }
}

} // namespace
} // namespace quern
