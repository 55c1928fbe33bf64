// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks oneDNN's environment variables with both prefixes; a function that sets the same value has priority.
//
// REQUIRES: onednn-3.13, avx2
// UNSUPPORTED: emulated
// RUN: env ONEDNN_MAX_CPU_ISA=AVX2 ONEDNN_DEFAULT_FPMATH_MODE=BF16 \
// RUN:   DNNL_PRIMITIVE_CACHE_CAPACITY=5 DNNL_CPU_ISA_HINTS=Prefer_YMM \
// RUN:   %both %s %t | FileCheck %s
// CHECK: product 6
// CHECK-NEXT: isa cpu_isa_avx2
// CHECK-NEXT: fpmath bf16
// CHECK-NEXT: capacity 5
// CHECK-NEXT: hints cpu_isa_prefer_ymm
// CHECK-NEXT: now f16 and 6
// CHECK: lines compared, 0 differ
#include "oneapi/dnnl/dnnl.h"
#include "oneapi/dnnl/dnnl_debug.h"

#include <stdio.h>

int main(void) {
  dnnl_fpmath_mode_t mode;
  int capacity = 0;
  const float a = 2, b = 3;
  float c = 0;
  dnnl_sgemm('N', 'N', 1, 1, 1, 1, &a, 1, &b, 1, 0, &c,
             1); /* a computation without an engine fixes the instruction set, too */
  printf("product %g\n", c);
  printf("isa %s\n", dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa()));
  dnnl_get_default_fpmath_mode(&mode);
  printf("fpmath %s\n", dnnl_fpmath_mode2str(mode));
  dnnl_get_primitive_cache_capacity(&capacity);
  printf("capacity %d\n", capacity);
  printf("hints %s\n", dnnl_cpu_isa_hints2str(dnnl_get_cpu_isa_hints()));
  dnnl_set_default_fpmath_mode(dnnl_fpmath_mode_f16);
  dnnl_set_primitive_cache_capacity(6);
  dnnl_primitive_attr_t attr;
  dnnl_primitive_attr_create(&attr);
  dnnl_primitive_attr_get_fpmath_mode(attr, &mode);
  dnnl_get_primitive_cache_capacity(&capacity);
  printf("now %s and %d\n", dnnl_fpmath_mode2str(mode), capacity);
  dnnl_primitive_attr_destroy(attr);
  return 0;
}
