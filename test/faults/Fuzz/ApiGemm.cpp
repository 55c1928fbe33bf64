//===- ApiGemm.cpp - Random products of matrices -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ApiGemm.h"

#include "ApiDraw.h"
#include "GuardedBuffer.h"
#include "quern/quern_gemm.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace quern::fuzz {
namespace {

/// The arguments of one call, without the matrices.
struct Product {
  bool isFloat = true, isSigned = true; ///< isSigned: A has elements of s8, not u8
  char transA = 'N', transB = 'N', offsetC = 'F';
  int64_t m = 0, n = 0, k = 0, lda = 1, ldb = 1, ldc = 1;
  float alpha = 1, beta = 0;
  int ao = 0, bo = 0;

  bool isATransposed() const { return transA == 'T' || transA == 't'; }
  bool isBTransposed() const { return transB == 'T' || transB == 't'; }
  int64_t rowsOfA() const { return isATransposed() ? k : m; }
  int64_t rowOfA() const { return isATransposed() ? m : k; }
  int64_t rowsOfB() const { return isBTransposed() ? n : k; }
  int64_t rowOfB() const { return isBTransposed() ? k : n; }
  size_t placeInA(int64_t row, int64_t along) const {
    return static_cast<size_t>(isATransposed() ? along * lda + row : row * lda + along);
  }
  size_t placeInB(int64_t along, int64_t column) const {
    return static_cast<size_t>(isBTransposed() ? column * ldb + along : along * ldb + column);
  }
};

Product drawProduct(Random &random) {
  Product drawn;
  drawn.isFloat = random.oneIn(2);
  drawn.isSigned = random.oneIn(2);
  const auto letter = [&] { return random.oneIn(40) ? 'X' : random.pick({'N', 'T', 'n', 't'}); };
  drawn.transA = letter(), drawn.transB = letter();
  drawn.offsetC = random.oneIn(40) ? 'X' : random.pick({'F', 'C', 'R', 'f', 'c', 'r'});
  for (int64_t *size : {&drawn.m, &drawn.n, &drawn.k})
    *size = random.oneIn(30)  ? random.pick<int64_t>({-1, 0, INT64_MAX, INT64_MIN})
            : random.oneIn(4) ? random.between(1, 130)
                              : random.between(1, 20);
  const auto distance = [&](int64_t row) {
    const int64_t least = std::clamp<int64_t>(row, 1, 1000);
    return random.oneIn(40) ? random.pick<int64_t>({least - 1, -5, INT64_MAX})
                            : least + (random.oneIn(3) ? random.between(0, 4) : 0);
  };
  drawn.lda = distance(drawn.rowOfA()), drawn.ldb = distance(drawn.rowOfB()), drawn.ldc = distance(drawn.n);
  drawn.alpha = random.pick({1.0F, 1.0F, 2.0F, 0.0F, -1.0F});
  drawn.beta = random.pick({0.0F, 0.0F, 1.0F, 2.0F});
  drawn.ao = static_cast<int>(random.between(0, 3)), drawn.bo = static_cast<int>(random.between(0, 3));
  return drawn;
}

/// Returns true if the functions must accept the product; its sizes and leading dims are then small.
bool isLegal(const Product &product) {
  const auto isLetter = [](char c) { return c != 'X'; };
  const auto isSize = [](int64_t size) { return size >= 0 && size <= 1000; };
  const auto isDistance = [](int64_t distance, int64_t rows, int64_t row) {
    return distance >= std::max<int64_t>(row, 1) && (rows <= 1 || distance <= 2000); // a single row has none
  };
  return isLetter(product.transA) && isLetter(product.transB) && (product.isFloat || isLetter(product.offsetC)) &&
         isSize(product.m) && isSize(product.n) && isSize(product.k) &&
         isDistance(product.lda, product.rowsOfA(), product.rowOfA()) &&
         isDistance(product.ldb, product.rowsOfB(), product.rowOfB()) && isDistance(product.ldc, product.m, product.n);
}

int64_t elements(int64_t rows, int64_t columns, int64_t distance) {
  return rows <= 0 || columns <= 0 ? 0 : (rows - 1) * distance + columns;
}

template <typename T> struct Matrix {
  std::vector<T> values;
  GuardedBuffer buffer;
  Matrix(Random &random, int64_t count, GuardedSide side)
      : values(static_cast<size_t>(count)), buffer(count * static_cast<int64_t>(sizeof(T)), {.side = side}) {
    for (T &value : values)
      value = static_cast<T>(random.between(0, 7));
    std::memcpy(buffer.data(), values.data(), values.size() * sizeof(T));
  }
  T *data() { return reinterpret_cast<T *>(buffer.data()); }
};

quern_status_t call(const Product &p, const float *a, const float *b, float *c, const float *) {
  return quern_sgemm(p.transA, p.transB, p.m, p.n, p.k, p.alpha, a, p.lda, b, p.ldb, p.beta, c, p.ldc);
}
quern_status_t call(const Product &p, const uint8_t *a, const int8_t *b, int32_t *c, const int32_t *offset) {
  return quern_gemm_u8s8s32(p.transA, p.transB, p.offsetC, p.m, p.n, p.k, p.alpha, a, p.lda, static_cast<uint8_t>(p.ao),
                            b, p.ldb, static_cast<int8_t>(p.bo), p.beta, c, p.ldc, offset);
}
quern_status_t call(const Product &p, const int8_t *a, const int8_t *b, int32_t *c, const int32_t *offset) {
  return quern_gemm_s8s8s32(p.transA, p.transB, p.offsetC, p.m, p.n, p.k, p.alpha, a, p.lda, static_cast<int8_t>(p.ao),
                            b, p.ldb, static_cast<int8_t>(p.bo), p.beta, c, p.ldc, offset);
}

/// All values are small integers, so every way to compute is exact.
template <typename A, typename B, typename C>
bool isRight(const Product &p, const Matrix<A> &a, const Matrix<B> &b, Matrix<C> &c, const Matrix<C> &offset) {
  std::vector<C> expected = c.values;
  const bool isFloat = p.isFloat;
  for (int64_t i = 0; i < p.m && p.k > 0; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (int64_t s = 0; s < p.k; ++s)
        sum += (static_cast<double>(a.values[p.placeInA(i, s)]) - (isFloat ? 0 : p.ao)) *
               (static_cast<double>(b.values[p.placeInB(s, j)]) - (isFloat ? 0 : p.bo));
      C &value = expected[static_cast<size_t>(i * p.ldc + j)];
      const size_t place = p.offsetC == 'C' || p.offsetC == 'c' ? i : p.offsetC == 'R' || p.offsetC == 'r' ? j : 0;
      const double added = isFloat ? 0 : static_cast<double>(offset.values[place]);
      value = static_cast<C>(p.alpha * sum + (p.beta == 0 ? 0 : p.beta * static_cast<double>(value)) + added);
    }
  return std::equal(expected.begin(), expected.end(), c.data()); // 0 and -0 are equal
}

template <typename A, typename B, typename C> void multiply(Input &input, const Product &p) {
  const bool legal = isLegal(p);
  // The API does not know the size of a matrix, so the buffers of an invalid call have the sizes of its valid part.
  const uint64_t seed = input.random.bits();
  for (GuardedSide side : {GuardedSide::End, GuardedSide::Beginning}) {
    Random random(seed);
    Matrix<A> a(random, legal ? elements(p.rowsOfA(), p.rowOfA(), p.lda) : 16, side);
    Matrix<B> b(random, legal ? elements(p.rowsOfB(), p.rowOfB(), p.ldb) : 16, side);
    Matrix<C> c(random, legal ? elements(p.m, p.n, p.ldc) : 16, side);
    Matrix<C> offset(random, legal ? std::max<int64_t>({p.m, p.n, 1}) : 16, side);
    input.note(concat("multiplies, guarded at the ", nameOf(side)));
    const quern_status_t status = call(p, a.data(), b.data(), c.data(), offset.data());
    if (!legal) {
      require(!succeeds(input, status) || p.m == 0 || p.n == 0 || p.k == 0, "a wrong product was accepted");
      continue;
    }
    require(succeeds(input, status), "a product was refused");
    require(c.buffer.guardsIntact(), "bytes next to a matrix were written");
    require(isRight(p, a, b, c, offset), "the product is wrong");
    input.count(Judged);
    input.pass();
  }
  if (legal)
    input.count(Executed);
}

} // namespace

void fuzzGemm(Input &input) {
  const Product p = drawProduct(input.random);
  input.note(concat(p.isFloat    ? "sgemm"
                    : p.isSigned ? "gemm_s8s8s32"
                                 : "gemm_u8s8s32",
                    ' ', p.transA, p.transB, p.offsetC, " M=", p.m, " N=", p.n, " K=", p.k, " lda=", p.lda,
                    " ldb=", p.ldb, " ldc=", p.ldc, " alpha=", p.alpha, " beta=", p.beta, " ao=", p.ao, " bo=", p.bo));
  if (p.isFloat)
    multiply<float, float, float>(input, p);
  else if (p.isSigned)
    multiply<int8_t, int8_t, int32_t>(input, p);
  else
    multiply<uint8_t, int8_t, int32_t>(input, p);
}

} // namespace quern::fuzz
