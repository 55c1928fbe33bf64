// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks weights of int8 convolutions: reorders that quantize by output channel, append the sums that a signed or
// shifted source needs, and scale the stored values. No function creates such a descriptor; convolutions return them.
// This test writes the extras to their offset in the descriptor, which is the same in both libraries.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "describe.h"

#include <string.h>

enum { OUT = 6, IN = 5, HEIGHT = 3, WIDTH = 2, COUNT = OUT * IN * HEIGHT * WIDTH };
enum { SIGNED = 1, SCALED = 2, SHIFTED = 8 }; // flags

static dnnl_engine_t engine;
static dnnl_stream_t stream;

/// The extras are at byte 640 of a descriptor: flags (8 bytes), the mask of the first sums, the factor (f32), and the
/// mask of the second sums.
static void setExtras(dnnl_memory_desc_t desc, uint64_t flags, int mask) {
  char *bytes = (char *)desc + 640;
  const int first = flags & SIGNED ? mask : 0, second = flags & SHIFTED ? mask : 0;
  const float factor = flags & SCALED ? 0.5f : 0.0f;
  memcpy(bytes, &flags, sizeof(flags));
  memcpy(bytes + 8, &first, sizeof(first));
  memcpy(bytes + 12, &factor, sizeof(factor));
  memcpy(bytes + 16, &second, sizeof(second));
}

static dnnl_memory_t floats(dnnl_memory_desc_t desc, int count, int isScale) {
  dnnl_memory_t memory = NULL;
  float *values = NULL;
  unsigned seed = 1;
  dnnl_memory_create(&memory, desc, engine, DNNL_MEMORY_ALLOCATE);
  dnnl_memory_map_data(memory, (void **)&values);
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = isScale ? 0.25f * (float)(i + 1) : (float)((int)(seed >> 20) - 2048) / 100;
  }
  dnnl_memory_unmap_data(memory, values);
  return memory;
}

static void run(uint64_t flags, int isPerChannel, dnnl_format_tag_t layout) {
  const dnnl_dims_t dims = {OUT, IN, HEIGHT, WIDTH}, channels = {isPerChannel ? OUT : 1};
  dnnl_memory_desc_t plain = tagged(4, dims, dnnl_f32, dnnl_oihw), weights = tagged(4, dims, dnnl_s8, layout),
                     vector = tagged(1, channels, dnnl_f32, dnnl_a);
  const size_t own = dnnl_memory_desc_get_size(weights);
  setExtras(weights, flags, 1);
  const size_t all = dnnl_memory_desc_get_size(weights);
  printf("flags %d, %s: %zu and %zu bytes\n", (int)flags, dnnl_fmt_tag2str(layout), own, all - own);
  dnnl_primitive_attr_t attr;
  dnnl_primitive_attr_create(&attr);
  dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_DST, isPerChannel ? 1 : 0);
  dnnl_primitive_desc_t desc = NULL;
  dnnl_primitive_t reorder = NULL;
  show("reorder", dnnl_reorder_primitive_desc_create(&desc, plain, engine, weights, engine, attr));
  show("primitive", dnnl_primitive_create(&reorder, desc));
  dnnl_memory_t from = floats(plain, COUNT, 0), scales = floats(vector, (int)channels[0], 1), to = NULL;
  dnnl_memory_create(&to, weights, engine, DNNL_MEMORY_ALLOCATE);
  const dnnl_exec_arg_t arguments[] = {
      {DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, scales}};
  show("execute", dnnl_primitive_execute(reorder, stream, 3, arguments));
  dnnl_stream_wait(stream);
  const int8_t *values = NULL;
  dnnl_memory_map_data(to, (void **)&values);
  for (size_t i = 0; i < own; ++i)
    printf("%d ", values[i]);
  printf("\nsums");
  for (size_t i = own; i < all; i += sizeof(int32_t)) {
    int32_t sum;
    memcpy(&sum, values + i, sizeof(sum));
    printf(" %d", (int)sum);
  }
  printf("\n");
  dnnl_memory_unmap_data(to, (void *)values);
  dnnl_memory_destroy(from);
  dnnl_memory_destroy(to);
  dnnl_memory_destroy(scales);
  dnnl_primitive_destroy(reorder);
  dnnl_primitive_desc_destroy(desc);
  dnnl_primitive_attr_destroy(attr);
  dnnl_memory_desc_destroy(plain);
  dnnl_memory_desc_destroy(weights);
  dnnl_memory_desc_destroy(vector);
}

int main(void) {
  const dnnl_format_tag_t layouts[] = {dnnl_oihw, dnnl_hwio, dnnl_OIhw4i16o4i, dnnl_OIhw16i16o4i};
  dnnl_engine_create(&engine, dnnl_cpu, 0);
  dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
  for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); ++i)
    for (int isPerChannel = 0; isPerChannel < 2; ++isPerChannel) {
      run(SIGNED, isPerChannel, layouts[i]);
      run(SHIFTED, isPerChannel, layouts[i]);
      run(SIGNED | SHIFTED, isPerChannel, layouts[i]);
      run(SIGNED | SCALED, isPerChannel, layouts[i]);
    }
  dnnl_stream_destroy(stream);
  dnnl_engine_destroy(engine);
  return 0;
}
