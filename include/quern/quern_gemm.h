/*===- quern/quern_gemm.h - Products of matrices ---------------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * BLAS-style functions on row-major matrices, without engine and descriptor.
 * Each kind of call (types, transposes, which of alpha, beta and the offsets
 * have an effect) has one kernel for all sizes, which the first such call
 * compiles or reads from a cache.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_GEMM_H
#define QUERN_GEMM_H

#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Computes C = alpha * op(A) * op(B) + beta * C in f32, row-major, on the default threads. op(A) is M x K, op(B) is K x
 * N, C is M x N.
 *
 * @param transa,transb 'N' or 'n': op is the identity; 'T' or 't': op transposes.
 * @param M,N,K Sizes in elements. If one is 0, C is unchanged.
 * @param alpha Factor of the product; if 0, the product is ignored, even if it is NaN.
 * @param A,B,C The matrices, owned by the caller. C must not overlap A or B.
 * @param lda,ldb,ldc Row strides in memory, in elements; at least 1 and at least the stored row length.
 * @param beta Factor of C; if 0, C is not read.
 * @return quern_success; quern_invalid_arguments: an unknown letter, a negative size, a row stride that is too small, a
 *         null matrix, a matrix that ends beyond the address space, or an overlap; quern_runtime_error: a kernel must
 *         be compiled and the compiler cannot be loaded.
 */
QUERN_API quern_status_t quern_sgemm(char transa, char transb, quern_dim_t M, quern_dim_t N, quern_dim_t K, float alpha,
        const float *A, quern_dim_t lda, const float *B, quern_dim_t ldb, float beta, float *C,
        quern_dim_t ldc) QUERN_NOEXCEPT;

/**
 * Computes C = alpha * (op(A) - ao) * (op(B) - bo) + beta * C + c in integers, where A is u8 and B is s8. Sums over K
 * are modulo 2^32. If alpha is not 1 or beta is not 0, the sums and C are scaled in double, rounded half away from zero
 * and saturated. c is added modulo 2^32.
 *
 * @param transa,transb,M,N,K,alpha,A,lda,B,ldb,beta,C,ldc As in quern_sgemm().
 * @param offsetc 'F' or 'f': c is co[0]; 'C' or 'c': c is co[m] in row m; 'R' or 'r': c is co[n] in column n.
 * @param ao,bo Offsets of A and B.
 * @param co The offsets of C: 1, M or N values; must not overlap C.
 * @return As quern_sgemm(); quern_invalid_arguments also for another `offsetc`.
 */
QUERN_API quern_status_t quern_gemm_u8s8s32(char transa, char transb, char offsetc, quern_dim_t M, quern_dim_t N,
        quern_dim_t K, float alpha, const uint8_t *A, quern_dim_t lda, uint8_t ao, const int8_t *B, quern_dim_t ldb,
        int8_t bo, float beta, int32_t *C, quern_dim_t ldc, const int32_t *co) QUERN_NOEXCEPT;

/**
 * Like quern_gemm_u8s8s32(), but A is s8.
 * @param transa,transb,offsetc,M,N,K,alpha,A,lda,ao,B,ldb,bo,beta,C,ldc,co As in quern_gemm_u8s8s32().
 * @return As quern_gemm_u8s8s32().
 */
QUERN_API quern_status_t quern_gemm_s8s8s32(char transa, char transb, char offsetc, quern_dim_t M, quern_dim_t N,
        quern_dim_t K, float alpha, const int8_t *A, quern_dim_t lda, int8_t ao, const int8_t *B, quern_dim_t ldb,
        int8_t bo, float beta, int32_t *C, quern_dim_t ldc, const int32_t *co) QUERN_NOEXCEPT;

/**
 * Like quern_sgemm(), but on a thread pool.
 * @param transa,transb,M,N,K,alpha,A,lda,B,ldb,beta,C,ldc As in quern_sgemm().
 * @param threadpool A caller-owned quern::threadpool_interop::threadpool_iface; null: only the calling thread.
 * @return As quern_sgemm().
 */
QUERN_API quern_status_t quern_threadpool_interop_sgemm(char transa, char transb, quern_dim_t M, quern_dim_t N,
        quern_dim_t K, float alpha, const float *A, quern_dim_t lda, const float *B, quern_dim_t ldb, float beta,
        float *C, quern_dim_t ldc, void *threadpool) QUERN_NOEXCEPT;

/**
 * Like quern_gemm_u8s8s32(), but on a thread pool.
 * @param transa,transb,offsetc,M,N,K,alpha,A,lda,ao,B,ldb,bo,beta,C,ldc,co As in quern_gemm_u8s8s32().
 * @param threadpool A caller-owned quern::threadpool_interop::threadpool_iface; null: only the calling thread.
 * @return As quern_gemm_u8s8s32().
 */
QUERN_API quern_status_t quern_threadpool_interop_gemm_u8s8s32(char transa, char transb, char offsetc, quern_dim_t M,
        quern_dim_t N, quern_dim_t K, float alpha, const uint8_t *A, quern_dim_t lda, uint8_t ao, const int8_t *B,
        quern_dim_t ldb, int8_t bo, float beta, int32_t *C, quern_dim_t ldc, const int32_t *co,
        void *threadpool) QUERN_NOEXCEPT;

/**
 * Like quern_gemm_s8s8s32(), but on a thread pool.
 * @param transa,transb,offsetc,M,N,K,alpha,A,lda,ao,B,ldb,bo,beta,C,ldc,co As in quern_gemm_s8s8s32().
 * @param threadpool A caller-owned quern::threadpool_interop::threadpool_iface; null: only the calling thread.
 * @return As quern_gemm_s8s8s32().
 */
QUERN_API quern_status_t quern_threadpool_interop_gemm_s8s8s32(char transa, char transb, char offsetc, quern_dim_t M,
        quern_dim_t N, quern_dim_t K, float alpha, const int8_t *A, quern_dim_t lda, int8_t ao, const int8_t *B,
        quern_dim_t ldb, int8_t bo, float beta, int32_t *C, quern_dim_t ldc, const int32_t *co,
        void *threadpool) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_GEMM_H */
