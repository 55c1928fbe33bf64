//===- Gemm.cpp - Products of matrices under oneDNN's names ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// These are not plain aliases for two reasons. They compute without an engine, so they may be the first call of a
// program and must read the environment, which limits the instruction set. They also print their own verbose lines,
// because libquern reports only events of primitives.
//
//===----------------------------------------------------------------------===//
#include "Dnnl/Dropin.h"
#include "Dnnl/Verbose.h"

#include "quern/quern_gemm.h"

#include <chrono>

using namespace quern::dropin;

namespace {

/// Fields of the verbose line of a product.
struct GemmProduct {
  const char *types[3]; ///< names of the types of A, B and C
  char transa, transb;
  quern_dim_t M, N, K, lda, ldb;
  float alpha, beta;
};

bool isTransposed(char letter) { return letter == 'T' || letter == 't'; }

std::string describe(const GemmProduct &product) {
  const bool isABa = isTransposed(product.transa), isBBa = isTransposed(product.transb);
  std::string text = std::string("cpu,gemm_api,,undef,src_") + product.types[0] + "::blocked:" + (isABa ? "ba" : "ab") +
                     ":f0 wei_" + product.types[1] + "::blocked:" + (isBBa ? "ba" : "ab") + ":f0 dst_" +
                     product.types[2] + "::blocked:ab:f0,";
  if (product.lda != (isABa ? product.M : product.K))
    text += "lda:" + std::to_string(product.lda) + " ";
  if (product.ldb != (isBBa ? product.K : product.N))
    text += "ldb:" + std::to_string(product.ldb) + " ";
  if (product.alpha != 1)
    text += "attr-scales:src:common:" + textOf(product.alpha) + " ";
  if (product.beta != 0)
    text += "attr-post-ops:sum:" + textOf(product.beta) + " ";
  const std::string rows = std::to_string(product.M), inner = std::to_string(product.K);
  return text + ",," + rows + "x" + inner + ":" + inner + "x" + std::to_string(product.N);
}

template <typename... Parameters, typename... Arguments>
quern_status_t inEnvironment(const GemmProduct &product, quern_status_t (*function)(Parameters...) noexcept,
                             Arguments... arguments) noexcept {
  readEnvironment();
  if (!isVerbose(VerboseExecProfile))
    return function(arguments...);
  const auto start = std::chrono::steady_clock::now();
  const quern_status_t status = function(arguments...);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  try {
    if (status == quern_success)
      printVerbose("gemm_api", "primitive,exec," + describe(product) + "," + textOf(static_cast<float>(ms)), ms);
  } catch (...) { // out of memory: no line is printed
  }
  return status;
}

} // namespace

extern "C" {

QUERN_API quern_status_t dnnl_sgemm(char transa, char transb, quern_dim_t M, quern_dim_t N, quern_dim_t K, float alpha,
                                    const float *A, quern_dim_t lda, const float *B, quern_dim_t ldb, float beta,
                                    float *C, quern_dim_t ldc) noexcept {
  const GemmProduct product{{"f32", "f32", "f32"}, transa, transb, M, N, K, lda, ldb, alpha, beta};
  return inEnvironment(product, quern_sgemm, transa, transb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}

QUERN_API quern_status_t dnnl_threadpool_interop_sgemm(char transa, char transb, quern_dim_t M, quern_dim_t N,
                                                       quern_dim_t K, float alpha, const float *A, quern_dim_t lda,
                                                       const float *B, quern_dim_t ldb, float beta, float *C,
                                                       quern_dim_t ldc, void *threadpool) noexcept {
  const GemmProduct product{{"f32", "f32", "f32"}, transa, transb, M, N, K, lda, ldb, alpha, beta};
  return inEnvironment(product, quern_threadpool_interop_sgemm, transa, transb, M, N, K, alpha, A, lda, B, ldb, beta, C,
                       ldc, threadpool);
}

#define INTEGER_GEMM(NAME, LEFT, TYPE)                                                                                 \
  QUERN_API quern_status_t dnnl_##NAME(char transa, char transb, char offsetc, quern_dim_t M, quern_dim_t N,           \
                                       quern_dim_t K, float alpha, const LEFT *A, quern_dim_t lda, LEFT ao,            \
                                       const int8_t *B, quern_dim_t ldb, int8_t bo, float beta, int32_t *C,            \
                                       quern_dim_t ldc, const int32_t *co) noexcept {                                  \
    const GemmProduct product{{TYPE, "s8", "s32"}, transa, transb, M, N, K, lda, ldb, alpha, beta};                    \
    return inEnvironment(product, quern_##NAME, transa, transb, offsetc, M, N, K, alpha, A, lda, ao, B, ldb, bo, beta, \
                         C, ldc, co);                                                                                  \
  }                                                                                                                    \
  QUERN_API quern_status_t dnnl_threadpool_interop_##NAME(                                                             \
      char transa, char transb, char offsetc, quern_dim_t M, quern_dim_t N, quern_dim_t K, float alpha, const LEFT *A, \
      quern_dim_t lda, LEFT ao, const int8_t *B, quern_dim_t ldb, int8_t bo, float beta, int32_t *C, quern_dim_t ldc,  \
      const int32_t *co, void *pool) noexcept {                                                                        \
    const GemmProduct product{{TYPE, "s8", "s32"}, transa, transb, M, N, K, lda, ldb, alpha, beta};                    \
    return inEnvironment(product, quern_threadpool_interop_##NAME, transa, transb, offsetc, M, N, K, alpha, A, lda,    \
                         ao, B, ldb, bo, beta, C, ldc, co, pool);                                                      \
  }
INTEGER_GEMM(gemm_u8s8s32, uint8_t, "u8")
INTEGER_GEMM(gemm_s8s8s32, int8_t, "s8")

} // extern "C"
