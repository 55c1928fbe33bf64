// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks products of matrices: transposes, leading dimensions, alpha and beta, offsets of every kind, empty sizes,
// mistakes.
//
// Without VNNI, oneDNN saturates sums of two products of bytes to 16 bits.
// REQUIRES: onednn-3.13, avx512_core_vnni
// RUN: %both --tolerance=2e-5 %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "oneapi/dnnl/dnnl.h"
#include "oneapi/dnnl/dnnl_debug.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { most = 4096 };
static float fa[most], fb[most], fc[most];
static uint8_t ua[most];
static int8_t sa[most], sb[most];
static int32_t ic[most], co[most];
static uint32_t state;

static uint32_t draw(void) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

static void fill(uint32_t seed) {
  state = seed;
  for (int i = 0; i < most; ++i) {
    fa[i] = (float)(draw() % 201) / 50 - 2;
    fb[i] = (float)(draw() % 201) / 50 - 2;
    fc[i] = (float)(draw() % 201) / 50 - 2;
    ua[i] = (uint8_t)draw();
    sa[i] = (int8_t)draw();
    sb[i] = (int8_t)draw();
    ic[i] = (int32_t)(draw() % 20001) - 10000;
    co[i] = (int32_t)(draw() % 2001) - 1000;
  }
}

static void printFloats(const char *name, dnnl_status_t status, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t ldc) {
  printf("%s: %s", name, dnnl_status2str(status));
  for (dnnl_dim_t i = 0; i < m; ++i)
    for (dnnl_dim_t j = 0; j < n; ++j)
      printf(" %.5f", fc[i * ldc + j]);
  printf("\n");
}

static void printIntegers(const char *name, dnnl_status_t status, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t ldc) {
  printf("%s: %s", name, dnnl_status2str(status));
  for (dnnl_dim_t i = 0; i < m; ++i)
    for (dnnl_dim_t j = 0; j < n; ++j)
      printf(" %d", ic[i * ldc + j]);
  printf("\n");
}

static void floats(dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k) {
  const char letters[] = "NnTt";
  const float scales[] = {1, 0, 0.5f, -2};
  for (int kind = 0; kind < 16; ++kind) {
    char ta = letters[kind & 3], tb = letters[kind >> 2];
    dnnl_dim_t lda = (kind & 2 ? m : k) + kind % 3, ldb = (kind & 8 ? k : n) + kind % 2, ldc = n + kind % 4;
    fill((uint32_t)kind);
    dnnl_status_t status =
        dnnl_sgemm(ta, tb, m, n, k, scales[(kind / 2) & 3], fa, lda, fb, ldb, scales[(kind + 1) & 3], fc, ldc);
    char name[64];
    snprintf(name, sizeof(name), "sgemm %c%c %d %d %d", ta, tb, (int)m, (int)n, (int)k);
    printFloats(name, status, m, n, ldc);
  }
}

static void integers(dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k, float alpha, float beta) {
  const char letters[] = "NTnt", offsets[] = "FCRfcr";
  for (int kind = 0; kind < 24; ++kind) {
    char ta = letters[kind & 3], tb = letters[(kind >> 2) & 3], offset = offsets[kind % 6], name[64];
    dnnl_dim_t lda = (kind & 1 ? m : k) + kind % 3, ldb = ((kind >> 2) & 1 ? k : n) + kind % 2, ldc = n + kind % 4;
    snprintf(name, sizeof(name), "%c%c%c %d %d %d", ta, tb, offset, (int)m, (int)n, (int)k);
    fill((uint32_t)kind);
    dnnl_status_t status = dnnl_gemm_s8s8s32(ta, tb, offset, m, n, k, alpha, sa, lda, (int8_t)(kind % 5 - 2), sb, ldb,
                                             (int8_t)(kind % 3), beta, ic, ldc, co);
    printf("s8s8s32 ");
    printIntegers(name, status, m, n, ldc);
    fill((uint32_t)kind + 100);
    for (int i = 0; i < most; ++i)
      ua[i] &= 127; // without VNNI, oneDNN saturates sums of two products to 16 bits
    status = dnnl_gemm_u8s8s32(ta, tb, offset, m, n, k, alpha, ua, lda, (uint8_t)(kind % 4), sb, ldb,
                               (int8_t)(kind % 3 - 1), beta, ic, ldc, co);
    printf("u8s8s32 ");
    printIntegers(name, status, m, n, ldc);
  }
}

static void mistakes(void) {
  fill(1);
#define MISTAKE(...) printf("mistake: %s\n", dnnl_status2str(dnnl_sgemm(__VA_ARGS__)))
  MISTAKE('X', 'N', 2, 2, 2, 1, fa, 2, fb, 2, 0, fc, 2);
  MISTAKE('N', 'C', 2, 2, 2, 1, fa, 2, fb, 2, 0, fc, 2);
  MISTAKE('N', 'N', -1, 2, 2, 1, fa, 2, fb, 2, 0, fc, 2);
  MISTAKE('N', 'N', 2, 2, 3, 1, fa, 2, fb, 2, 0, fc, 2);
  MISTAKE('T', 'N', 3, 2, 2, 1, fa, 2, fb, 2, 0, fc, 2);
  MISTAKE('N', 'N', 2, 3, 2, 1, fa, 2, fb, 2, 0, fc, 3);
  MISTAKE('N', 'T', 2, 2, 3, 1, fa, 3, fb, 2, 0, fc, 2);
  MISTAKE('N', 'N', 2, 3, 2, 1, fa, 2, fb, 3, 0, fc, 2);
  MISTAKE('N', 'N', 0, 0, 0, 1, fa, 0, fb, 1, 0, fc, 1);
  printf("mistake: %s\n",
         dnnl_status2str(dnnl_gemm_s8s8s32('N', 'N', 'X', 2, 2, 2, 1, sa, 2, 0, sb, 2, 0, 0, ic, 2, co)));
  printFloats("no rows", dnnl_sgemm('N', 'N', 0, 2, 2, 1, fa, 2, fb, 2, 0, fc, 2), 2, 2, 2);
  printFloats("no columns", dnnl_sgemm('N', 'N', 2, 0, 2, 1, fa, 2, fb, 1, 0, fc, 1), 2, 2, 2);
  printFloats("no depth", dnnl_sgemm('N', 'N', 2, 2, 0, 1, fa, 1, fb, 2, 0, fc, 2), 2, 2, 2);
  printIntegers("no depth", dnnl_gemm_s8s8s32('N', 'N', 'F', 2, 2, 0, 1, sa, 1, 0, sb, 2, 0, 0, ic, 2, co), 2, 2, 2);
  for (int i = 0; i < 4; ++i)
    fc[i] = NAN;
  printFloats("beta 0", dnnl_sgemm('N', 'N', 2, 2, 2, 1, fa, 2, fb, 2, 0, fc, 2), 2, 2, 2);
  for (int i = 0; i < 4; ++i)
    fa[i] = NAN, fc[i] = (float)i;
  printFloats("alpha 0", dnnl_sgemm('N', 'N', 2, 2, 2, 0, fa, 2, fb, 2, 2, fc, 2), 2, 2, 2);
}

int main(void) {
  floats(3, 5, 7);
  floats(1, 40, 33);
  floats(19, 1, 40);
  integers(3, 5, 7, 1, 0);
  integers(4, 21, 17, 1, 1);
  integers(2, 3, 20, 0.5f, -1.5f);
  mistakes();
  return 0;
}
