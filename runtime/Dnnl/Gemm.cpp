//===- Gemm.cpp - Products of matrices under oneDNN's names ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The only computations without an engine: such a function may be a program's first call, and the environment says which instructions it
// may use. So they are no plain aliases.
//
//===----------------------------------------------------------------------===//
#include "Dnnl/Dropin.h"

#include "quern/quern_gemm.h"

using namespace quern::dropin;

namespace {

template <typename... Parameters, typename... Arguments>
quern_status_t inEnvironment(quern_status_t (*function)(Parameters...) noexcept, Arguments... arguments) noexcept {
  readEnvironment();
  return function(arguments...);
}

} // namespace

extern "C" {

QUERN_API quern_status_t dnnl_sgemm(char transa, char transb, quern_dim_t M, quern_dim_t N, quern_dim_t K, float alpha, const float *A,
                                    quern_dim_t lda, const float *B, quern_dim_t ldb, float beta, float *C, quern_dim_t ldc) noexcept {
  return inEnvironment(quern_sgemm, transa, transb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}

QUERN_API quern_status_t dnnl_threadpool_interop_sgemm(char transa, char transb, quern_dim_t M, quern_dim_t N, quern_dim_t K, float alpha,
                                                       const float *A, quern_dim_t lda, const float *B, quern_dim_t ldb, float beta,
                                                       float *C, quern_dim_t ldc, void *threadpool) noexcept {
  return inEnvironment(quern_threadpool_interop_sgemm, transa, transb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, threadpool);
}

#define INTEGER_GEMM(NAME, LEFT)                                                                                                           \
  QUERN_API quern_status_t dnnl_##NAME(char transa, char transb, char offsetc, quern_dim_t M, quern_dim_t N, quern_dim_t K, float alpha,   \
                                       const LEFT *A, quern_dim_t lda, LEFT ao, const int8_t *B, quern_dim_t ldb, int8_t bo, float beta,   \
                                       int32_t *C, quern_dim_t ldc, const int32_t *co) noexcept {                                          \
    return inEnvironment(quern_##NAME, transa, transb, offsetc, M, N, K, alpha, A, lda, ao, B, ldb, bo, beta, C, ldc, co);                 \
  }                                                                                                                                        \
  QUERN_API quern_status_t dnnl_threadpool_interop_##NAME(char transa, char transb, char offsetc, quern_dim_t M, quern_dim_t N,            \
                                                          quern_dim_t K, float alpha, const LEFT *A, quern_dim_t lda, LEFT ao,             \
                                                          const int8_t *B, quern_dim_t ldb, int8_t bo, float beta, int32_t *C,             \
                                                          quern_dim_t ldc, const int32_t *co, void *pool) noexcept {                       \
    return inEnvironment(quern_threadpool_interop_##NAME, transa, transb, offsetc, M, N, K, alpha, A, lda, ao, B, ldb, bo, beta, C, ldc,   \
                         co, pool);                                                                                                        \
  }
INTEGER_GEMM(gemm_u8s8s32, uint8_t)
INTEGER_GEMM(gemm_s8s8s32, int8_t)

} // extern "C"
