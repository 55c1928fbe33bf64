/*===- TestKernels.c - Kernels of the fake compiler -----------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Elementwise kernels with the kernel ABI, compiled to an object without
 * external symbols, as the real compiler's are. One iteration is one element
 * of two dense f32 tensors. The factors make constants and relocations.
 *===----------------------------------------------------------------------===*/
#include "quern/kernel_abi.h"

static const float factors[16] = {2, 3, 4, 5, 2, 3, 4, 5, 2, 3, 4, 5, 2, 3, 4, 5};

/* dst[i] = factors[i % 4] * src[i] */
void quern_test_scale(const quern_kernel_args_t *args, int64_t begin, int64_t end) {
  const float *src = args->buffers[0];
  float *dst = args->buffers[1];
  for (int64_t i = begin; i < end; ++i)
    dst[i] = factors[i & 15] * src[i];
}

/* dst[i] = src[i] */
void quern_test_copy(const quern_kernel_args_t *args, int64_t begin, int64_t end) {
  const float *src = args->buffers[0];
  volatile float *dst = args->buffers[1];
  for (int64_t i = begin; i < end; ++i)
    dst[i] = src[i];
}

/* Like scale, but through 1024 bytes of scratch; stores -1 if the scratch is not aligned. */
void quern_test_scratch(const quern_kernel_args_t *args, int64_t begin, int64_t end) {
  const float *src = args->buffers[0];
  float *dst = args->buffers[1];
  volatile float *scratch = args->scratch;
  for (int64_t i = begin; i < end; ++i) {
    scratch[i & 255] = src[i];
    dst[i] = (uintptr_t)args->scratch & 63 ? -1.0f : factors[i & 15] * scratch[i & 255];
  }
}

/* First half of scale: shared[i] = src[i]; stores -1 if the shared scratch is not aligned. */
void quern_test_put(const quern_kernel_args_t *args, int64_t begin, int64_t end) {
  const float *src = args->buffers[0];
  volatile float *shared = args->shared;
  for (int64_t i = begin; i < end; ++i)
    shared[i] = (uintptr_t)args->shared & 63 ? -1.0f : src[i];
}

/* Second half, mirrored within 1024 elements, so threads read what others wrote. Overwrites its scratch. */
void quern_test_take(const quern_kernel_args_t *args, int64_t begin, int64_t end) {
  float *dst = args->buffers[1];
  const volatile float *shared = args->shared;
  volatile float *scratch = args->scratch;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t mirrored = i ^ 1023;
    scratch[i % 250] = 0.5f;
    dst[mirrored] = factors[mirrored & 15] * shared[mirrored];
  }
}

/* Stores MXCSR or FPCR without sticky flags, and then sets flags such as division by zero. */
void quern_test_float_control(const quern_kernel_args_t *args, int64_t begin, int64_t end) {
  float *dst = args->buffers[1];
  volatile float zero = 0;
#if defined(__x86_64__)
  unsigned control;
  __asm__ volatile("stmxcsr %0" : "=m"(control));
  control &= 0xffc0u;
#else
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
#endif
  for (int64_t i = begin; i < end; ++i)
    dst[i] = (float)control;
  zero = 1.0f / zero;
}
