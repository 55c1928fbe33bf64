//===- Gemm.cpp - Products of matrices ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements quern_gemm.h. Both variants of a function, with and without a thread pool, call runGemm().
//
//===----------------------------------------------------------------------===//
#include "quern/quern_gemm.h"

#include "API/Guard.h"
#include "Core/Gemm.h"

#include <bit>

using namespace quern;
using namespace quern::api;

namespace {

quern_status_t run(const GemmCall &call) {
  return guarded([&] { return runGemm(call, nullptr, /*ownThreads=*/false); });
}

quern_status_t runOn(void *pool, const GemmCall &call) {
  return guarded(
      [&] { return runGemm(call, static_cast<threadpool_interop::threadpool_iface *>(pool), /*ownThreads=*/true); });
}

} // namespace

#define QUERN_FLOATS                                                                                                   \
  char transa, char transb, quern_dim_t m, quern_dim_t n, quern_dim_t k, float alpha, const float *a, quern_dim_t lda, \
      const float *b, quern_dim_t ldb, float beta, float *c, quern_dim_t ldc
#define QUERN_FLOAT_CALL                                                                                               \
  GemmCall { DataType::F32, transa, transb, m, n, k, alpha, beta, a, b, c, lda, ldb, ldc }
#define QUERN_INTEGERS(SRC)                                                                                            \
  char transa, char transb, char offsetc, quern_dim_t m, quern_dim_t n, quern_dim_t k, float alpha, const SRC *a,      \
      quern_dim_t lda, SRC ao, const int8_t *b, quern_dim_t ldb, int8_t bo, float beta, int32_t *c, quern_dim_t ldc,   \
      const int32_t *co
#define QUERN_INTEGER_CALL(TYPE)                                                                                       \
  GemmCall {                                                                                                           \
    TYPE, transa, transb, m, n, k, alpha, beta, a, b, c, lda, ldb, ldc, offsetc, std::bit_cast<uint8_t>(ao), bo, co    \
  }

extern "C" {

quern_status_t quern_sgemm(QUERN_FLOATS) noexcept { return run(QUERN_FLOAT_CALL); }
quern_status_t quern_gemm_u8s8s32(QUERN_INTEGERS(uint8_t)) noexcept { return run(QUERN_INTEGER_CALL(DataType::U8)); }
quern_status_t quern_gemm_s8s8s32(QUERN_INTEGERS(int8_t)) noexcept { return run(QUERN_INTEGER_CALL(DataType::S8)); }

quern_status_t quern_threadpool_interop_sgemm(QUERN_FLOATS, void *pool) noexcept {
  return runOn(pool, QUERN_FLOAT_CALL);
}
quern_status_t quern_threadpool_interop_gemm_u8s8s32(QUERN_INTEGERS(uint8_t), void *pool) noexcept {
  return runOn(pool, QUERN_INTEGER_CALL(DataType::U8));
}
quern_status_t quern_threadpool_interop_gemm_s8s8s32(QUERN_INTEGERS(int8_t), void *pool) noexcept {
  return runOn(pool, QUERN_INTEGER_CALL(DataType::S8));
}

} // extern "C"
