/*===- quern/quern_gemm.h - Products of matrices ---------------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Functions as BLAS has them, on row-major matrices: no engine, no descriptor.
 * A kernel for each kind of call (types, transposes, which of alpha, beta and
 * the offsets count) is made at the first such call, or read from the disk
 * cache, and serves all sizes from then on.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_GEMM_H
#define QUERN_GEMM_H

#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * C = alpha * op(A) * op(B) + beta * C, of f32: op(A) is M x K, op(B) K x N, C M x N; op transposes for 'T' and 't',
 * not for 'N' and 'n'. lda, ldb and ldc are the distances of rows as they lie in memory, in elements. With beta 0 C is
 * not read; with alpha 0 the product does not count, whatever it is. C stays as it is if M, N or K is 0. It runs on the
 * default threads. invalid_arguments: another letter, a negative size, a leading dimension that is less than its row or
 * than 1, a null matrix, a matrix that ends beyond the address space, a C that shares a byte with A or B.
 */
QUERN_API quern_status_t quern_sgemm(char transa, char transb, quern_dim_t M, quern_dim_t N, quern_dim_t K, float alpha,
        const float *A, quern_dim_t lda, const float *B, quern_dim_t ldb, float beta, float *C,
        quern_dim_t ldc) QUERN_NOEXCEPT;
/**
 * C = alpha * (op(A) - ao) * (op(B) - bo) + beta * C + c, of integers, where c is co[0] for offsetc 'F' or 'f', co[m]
 * in row m for 'C' or 'c', and co[n] in column n for 'R' or 'r'. Sums over K are modulo 2^32. With alpha 1 and beta 0
 * that is all; else they and C are scaled in double, rounded half away from zero and saturated. c is added modulo 2^32.
 * For the rest as quern_sgemm(); co may not be null, nor share a byte with C.
 */
QUERN_API quern_status_t quern_gemm_u8s8s32(char transa, char transb, char offsetc, quern_dim_t M, quern_dim_t N,
        quern_dim_t K, float alpha, const uint8_t *A, quern_dim_t lda, uint8_t ao, const int8_t *B, quern_dim_t ldb,
        int8_t bo, float beta, int32_t *C, quern_dim_t ldc, const int32_t *co) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_gemm_s8s8s32(char transa, char transb, char offsetc, quern_dim_t M, quern_dim_t N,
        quern_dim_t K, float alpha, const int8_t *A, quern_dim_t lda, int8_t ao, const int8_t *B, quern_dim_t ldb,
        int8_t bo, float beta, int32_t *C, quern_dim_t ldc, const int32_t *co) QUERN_NOEXCEPT;

/* The same on `threadpool`, a quern::threadpool_interop::threadpool_iface; null: on the calling thread alone. */

QUERN_API quern_status_t quern_threadpool_interop_sgemm(char transa, char transb, quern_dim_t M, quern_dim_t N,
        quern_dim_t K, float alpha, const float *A, quern_dim_t lda, const float *B, quern_dim_t ldb, float beta,
        float *C, quern_dim_t ldc, void *threadpool) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_threadpool_interop_gemm_u8s8s32(char transa, char transb, char offsetc, quern_dim_t M,
        quern_dim_t N, quern_dim_t K, float alpha, const uint8_t *A, quern_dim_t lda, uint8_t ao, const int8_t *B,
        quern_dim_t ldb, int8_t bo, float beta, int32_t *C, quern_dim_t ldc, const int32_t *co,
        void *threadpool) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_threadpool_interop_gemm_s8s8s32(char transa, char transb, char offsetc, quern_dim_t M,
        quern_dim_t N, quern_dim_t K, float alpha, const int8_t *A, quern_dim_t lda, int8_t ao, const int8_t *B,
        quern_dim_t ldb, int8_t bo, float beta, int32_t *C, quern_dim_t ldc, const int32_t *co,
        void *threadpool) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_GEMM_H */
