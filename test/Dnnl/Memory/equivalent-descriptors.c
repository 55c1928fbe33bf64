// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks equivalent descriptors: dims of 1 with any stride, added or dropped, and vectors of scales with the dims that
// they apply to. Descriptors are equal if their dims are, and memory of one can be used for the other.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "describe.h"

static dnnl_engine_t engine;
static dnnl_stream_t stream;

static dnnl_memory_desc_t strided(int ndims, const dnnl_dims_t dims, const dnnl_dims_t strides) {
  dnnl_memory_desc_t desc = NULL;
  dnnl_memory_desc_create_with_strides(&desc, ndims, dims, dnnl_f32, strides);
  return desc;
}

static dnnl_memory_t memoryOf(dnnl_memory_desc_t desc, void *values) {
  dnnl_memory_t memory = NULL;
  dnnl_memory_create(&memory, desc, engine, values);
  return memory;
}

static void rows(void) {
  const dnnl_dims_t dims = {1, 4}, flat = {4}, deep = {1, 1, 1, 4}, far = {77, 1}, near = {1, 1};
  dnnl_memory_desc_t descs[] = {tagged(2, dims, dnnl_f32, dnnl_ab),
                                tagged(2, dims, dnnl_f32, dnnl_ba),
                                strided(2, dims, far),
                                strided(2, dims, near),
                                tagged(1, flat, dnnl_f32, dnnl_a),
                                tagged(4, deep, dnnl_f32, dnnl_nhwc)};
  dnnl_primitive_desc_t desc = NULL;
  dnnl_primitive_t softmax = NULL;
  dnnl_softmax_forward_primitive_desc_create(&desc, engine, dnnl_forward_inference, dnnl_softmax_accurate, descs[0],
                                             descs[0], 1, NULL);
  dnnl_primitive_create(&softmax, desc);
  for (int i = 0; i < 6; ++i) {
    float from[4] = {1, 2, 3, 4}, to[4] = {0};
    dnnl_memory_t src = memoryOf(descs[i], from), dst = memoryOf(descs[5 - i], to);
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}},
                          inPlace[] = {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, src}};
    printf("equal %d, ", dnnl_memory_desc_equal(descs[0], descs[i]));
    show("execute", dnnl_primitive_execute(softmax, stream, 2, arguments));
    show("in place", dnnl_primitive_execute(softmax, stream, 2, inPlace));
    dnnl_stream_wait(stream);
    printf("%.5f %.5f %.5f %.5f\n", to[0], to[1], from[2], from[3]);
    dnnl_memory_destroy(src);
    dnnl_memory_destroy(dst);
  }
  dnnl_primitive_destroy(softmax);
  dnnl_primitive_desc_destroy(desc);
  for (int i = 0; i < 6; ++i)
    dnnl_memory_desc_destroy(descs[i]);
}

static void scales(void) {
  const dnnl_dims_t dims = {3, 4}, vector = {4}, row = {1, 4}, deep = {1, 4, 1, 1};
  dnnl_memory_desc_t from = tagged(2, dims, dnnl_f32, dnnl_ab), to = tagged(2, dims, dnnl_u8, dnnl_ab),
                     vectors[] = {tagged(1, vector, dnnl_f32, dnnl_a), tagged(2, row, dnnl_f32, dnnl_ab),
                                  tagged(4, deep, dnnl_f32, dnnl_nchw)};
  dnnl_primitive_attr_t attr;
  dnnl_primitive_desc_t desc = NULL;
  dnnl_primitive_t reorder = NULL;
  dnnl_primitive_attr_create(&attr);
  dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_DST, 2);
  show("reorder", dnnl_reorder_primitive_desc_create(&desc, from, engine, to, engine, attr));
  dnnl_primitive_create(&reorder, desc);
  float values[12], given[4] = {1, 2, 3, 4};
  for (int i = 0; i < 12; ++i)
    values[i] = (float)(10 * i);
  for (int i = 0; i < 3; ++i) {
    unsigned char taken[12];
    dnnl_memory_t src = memoryOf(from, values), dst = memoryOf(to, taken), factors = memoryOf(vectors[i], given);
    const dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_FROM, src}, {DNNL_ARG_TO, dst}, {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, factors}};
    show("execute", dnnl_primitive_execute(reorder, stream, 3, arguments));
    dnnl_stream_wait(stream);
    for (int j = 0; j < 12; ++j)
      printf("%d ", taken[j]);
    printf("\n");
    dnnl_memory_destroy(src);
    dnnl_memory_destroy(dst);
    dnnl_memory_destroy(factors);
    dnnl_memory_desc_destroy(vectors[i]);
  }
  dnnl_primitive_destroy(reorder);
  dnnl_primitive_desc_destroy(desc);
  dnnl_primitive_attr_destroy(attr);
  dnnl_memory_desc_destroy(from);
  dnnl_memory_desc_destroy(to);
}

int main(void) {
  dnnl_engine_create(&engine, dnnl_cpu, 0);
  dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
  rows();
  scales();
  dnnl_stream_destroy(stream);
  dnnl_engine_destroy(engine);
  return 0;
}
