// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the names that dnnl_debug.h returns: every value of each enumeration, and invalid values.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "oneapi/dnnl/dnnl_debug.h"

#include <stdio.h>
#include <string.h>

#define SHOW(NAME, LAST)                                                                                               \
  do {                                                                                                                 \
    puts(#NAME);                                                                                                       \
    for (int value = 0; value <= (LAST); ++value)                                                                      \
      if (value == (LAST) || strncmp(dnnl_##NAME##2str(value), "unknown", 7) != 0)                                     \
        printf("  0x%x %s\n", (unsigned)value, dnnl_##NAME##2str(value));                                              \
  } while (0)

int main(void) {
  SHOW(status, 20);
  SHOW(dt, 40);
  SHOW(fpmath_mode, 20);
  SHOW(accumulation_mode, 20);
  SHOW(engine_kind, 20);
  SHOW(sparse_encoding, 20);
  SHOW(fmt_tag, 900);
  SHOW(fmt_kind, 40);
  SHOW(prop_kind, 300);
  SHOW(prim_kind, 40);
  SHOW(alg_kind, 0x40000);
  SHOW(rnn_flags, 20);
  SHOW(rnn_direction, 20);
  SHOW(scratchpad_mode, 20);
  SHOW(rounding_mode, 20);
  SHOW(quantization_mode, 20);
  SHOW(cpu_isa, 0x30000);
  SHOW(cpu_isa_hints, 20);
  SHOW(runtime, 2000);
  return 0;
}
