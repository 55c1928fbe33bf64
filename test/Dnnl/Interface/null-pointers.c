// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that every function refuses a null pointer where none is allowed; oneDNN dereferences some of them.
//
// REQUIRES: onednn-3.13
// RUN: %ours %s %t | FileCheck %s
// CHECK-NOT: not refused
// CHECK: {{[0-9]+}} calls with a null pointer, 0 not refused
// CHECK-NEXT: destroying null: success
// CHECK-NEXT: -1 0 0 1
#include "describe.h"

#include "oneapi/dnnl/dnnl_threadpool.h"

static int calls, accepted;

static void check(const char *text, dnnl_status_t status) {
  ++calls;
  if (status == dnnl_invalid_arguments)
    return;
  ++accepted;
  printf("not refused: %s: %s\n", text, dnnl_status2str(status));
}
#define REFUSED(CALL) check(#CALL, CALL)

static dnnl_engine_t engine;
static dnnl_stream_t stream;
static dnnl_memory_desc_t md;
static dnnl_memory_t memory;
static dnnl_primitive_attr_t attr;
static dnnl_post_ops_t ops;
static dnnl_primitive_desc_t desc;
static dnnl_primitive_t primitive;

static void descriptors(void) {
  const dnnl_dims_t dims = {4, 6}, zeros = {0, 0};
  const int permutation[] = {1, 0};
  dnnl_memory_desc_t out;
  size_t size = 0;
  uint8_t bytes[8] = {0};
  int number = 0;
  REFUSED(dnnl_memory_desc_create_with_tag(NULL, 2, dims, dnnl_f32, dnnl_ab));
  REFUSED(dnnl_memory_desc_create_with_tag(&out, 2, NULL, dnnl_f32, dnnl_ab));
  REFUSED(dnnl_memory_desc_create_with_strides(NULL, 2, dims, dnnl_f32, NULL));
  REFUSED(dnnl_memory_desc_create_with_strides(&out, 2, NULL, dnnl_f32, NULL));
  REFUSED(dnnl_memory_desc_create_submemory(NULL, md, dims, zeros));
  REFUSED(dnnl_memory_desc_create_submemory(&out, NULL, dims, zeros));
  REFUSED(dnnl_memory_desc_create_submemory(&out, md, NULL, zeros));
  REFUSED(dnnl_memory_desc_create_submemory(&out, md, dims, NULL));
  REFUSED(dnnl_memory_desc_reshape(NULL, md, 2, dims));
  REFUSED(dnnl_memory_desc_reshape(&out, NULL, 2, dims));
  REFUSED(dnnl_memory_desc_reshape(&out, md, 2, NULL));
  REFUSED(dnnl_memory_desc_permute_axes(NULL, md, permutation));
  REFUSED(dnnl_memory_desc_permute_axes(&out, NULL, permutation));
  REFUSED(dnnl_memory_desc_permute_axes(&out, md, NULL));
  REFUSED(dnnl_memory_desc_clone(NULL, md));
  REFUSED(dnnl_memory_desc_clone(&out, NULL));
  REFUSED(dnnl_memory_desc_get_blob(bytes, &size, NULL));
  REFUSED(dnnl_memory_desc_get_blob(NULL, NULL, md));
  REFUSED(dnnl_memory_desc_create_with_blob(NULL, bytes));
  REFUSED(dnnl_memory_desc_create_with_blob(&out, NULL));
  REFUSED(dnnl_memory_desc_query(NULL, dnnl_query_ndims_s32, &number));
  REFUSED(dnnl_memory_desc_query(md, dnnl_query_ndims_s32, NULL));
  REFUSED(dnnl_memory_desc_query_v2(NULL, dnnl_query_ndims_s32, 0, &number));
  REFUSED(dnnl_memory_desc_query_v2(md, dnnl_query_ndims_s32, 0, NULL));
}

static void memories(void) {
  dnnl_memory_t out;
  dnnl_engine_t which;
  const_dnnl_memory_desc_t its;
  void *data = NULL, *handles[1] = {NULL};
  REFUSED(dnnl_memory_create(NULL, md, engine, NULL));
  REFUSED(dnnl_memory_create(&out, NULL, engine, NULL));
  REFUSED(dnnl_memory_create(&out, md, NULL, NULL));
  REFUSED(dnnl_memory_create_v2(NULL, md, engine, 1, handles));
  REFUSED(dnnl_memory_create_v2(&out, NULL, engine, 1, handles));
  REFUSED(dnnl_memory_create_v2(&out, md, NULL, 1, handles));
  REFUSED(dnnl_memory_create_v2(&out, md, engine, 1, NULL));
  REFUSED(dnnl_memory_get_memory_desc(NULL, &its));
  REFUSED(dnnl_memory_get_memory_desc(memory, NULL));
  REFUSED(dnnl_memory_get_engine(NULL, &which));
  REFUSED(dnnl_memory_get_engine(memory, NULL));
  REFUSED(dnnl_memory_map_data(NULL, &data));
  REFUSED(dnnl_memory_map_data(memory, NULL));
  REFUSED(dnnl_memory_map_data_v2(NULL, &data, 0));
  REFUSED(dnnl_memory_map_data_v2(memory, NULL, 0));
  REFUSED(dnnl_memory_unmap_data(NULL, data));
  REFUSED(dnnl_memory_unmap_data_v2(NULL, data, 0));
  REFUSED(dnnl_memory_get_data_handle(NULL, &data));
  REFUSED(dnnl_memory_get_data_handle(memory, NULL));
  REFUSED(dnnl_memory_get_data_handle_v2(NULL, &data, 0));
  REFUSED(dnnl_memory_get_data_handle_v2(memory, NULL, 0));
  REFUSED(dnnl_memory_set_data_handle(NULL, data));
  REFUSED(dnnl_memory_set_data_handle_v2(NULL, data, 0));
}

static void objects(void) {
  dnnl_engine_kind_t kind;
  dnnl_engine_t which;
  void *pool;
  REFUSED(dnnl_engine_create(NULL, dnnl_cpu, 0));
  REFUSED(dnnl_engine_get_kind(NULL, &kind));
  REFUSED(dnnl_engine_get_kind(engine, NULL));
  REFUSED(dnnl_stream_create(NULL, engine, dnnl_stream_default_flags));
  REFUSED(dnnl_stream_create(&stream, NULL, dnnl_stream_default_flags));
  dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
  REFUSED(dnnl_stream_get_engine(NULL, &which));
  REFUSED(dnnl_stream_get_engine(stream, NULL));
  REFUSED(dnnl_stream_wait(NULL));
  REFUSED(dnnl_threadpool_interop_stream_create(NULL, engine, NULL));
  REFUSED(dnnl_threadpool_interop_stream_get_threadpool(NULL, &pool));
  REFUSED(dnnl_threadpool_interop_stream_get_threadpool(stream, NULL));
  REFUSED(dnnl_threadpool_interop_get_max_concurrency(NULL));
  REFUSED(dnnl_get_primitive_cache_capacity(NULL));
  REFUSED(dnnl_get_default_fpmath_mode(NULL));
}

static void attributes(void) {
  dnnl_primitive_attr_t out;
  dnnl_fpmath_mode_t fpmath;
  dnnl_accumulation_mode_t accumulation;
  dnnl_scratchpad_mode_t scratchpad;
  dnnl_rounding_mode_t rounding;
  const_dnnl_post_ops_t its;
  const_dnnl_memory_desc_t mask;
  int number;
  float a, b;
  REFUSED(dnnl_primitive_attr_create(NULL));
  REFUSED(dnnl_primitive_attr_clone(NULL, attr));
  REFUSED(dnnl_primitive_attr_clone(&out, NULL));
  REFUSED(dnnl_primitive_attr_get_fpmath_mode(NULL, &fpmath));
  REFUSED(dnnl_primitive_attr_get_fpmath_mode(attr, NULL));
  REFUSED(dnnl_primitive_attr_set_fpmath_mode(NULL, dnnl_fpmath_mode_strict));
  REFUSED(dnnl_primitive_attr_get_fpmath_mode_v2(NULL, &fpmath, &number));
  REFUSED(dnnl_primitive_attr_set_fpmath_mode_v2(NULL, dnnl_fpmath_mode_strict, 0));
  REFUSED(dnnl_primitive_attr_get_accumulation_mode(NULL, &accumulation));
  REFUSED(dnnl_primitive_attr_get_accumulation_mode(attr, NULL));
  REFUSED(dnnl_primitive_attr_set_accumulation_mode(NULL, dnnl_accumulation_mode_strict));
  REFUSED(dnnl_primitive_attr_get_scratchpad_mode(NULL, &scratchpad));
  REFUSED(dnnl_primitive_attr_get_scratchpad_mode(attr, NULL));
  REFUSED(dnnl_primitive_attr_set_scratchpad_mode(NULL, dnnl_scratchpad_mode_user));
  REFUSED(dnnl_primitive_attr_get_deterministic(NULL, &number));
  REFUSED(dnnl_primitive_attr_get_deterministic(attr, NULL));
  REFUSED(dnnl_primitive_attr_set_deterministic(NULL, 1));
  REFUSED(dnnl_primitive_attr_get_rounding(NULL, DNNL_ARG_DST, &rounding));
  REFUSED(dnnl_primitive_attr_get_rounding(attr, DNNL_ARG_DST, NULL));
  REFUSED(dnnl_primitive_attr_set_rounding(NULL, DNNL_ARG_DST, dnnl_rounding_mode_environment));
  REFUSED(dnnl_primitive_attr_get_dropout(NULL, &mask));
  REFUSED(dnnl_primitive_attr_set_dropout(NULL, md));
  REFUSED(dnnl_primitive_attr_set_scales_mask(NULL, DNNL_ARG_SRC, 0));
  REFUSED(dnnl_primitive_attr_set_scales(NULL, DNNL_ARG_SRC, 0, 0, NULL, dnnl_f32));
  REFUSED(dnnl_primitive_attr_set_scales(attr, DNNL_ARG_SRC, 3, 2, NULL, dnnl_f32));
  REFUSED(dnnl_primitive_attr_set_zero_points_mask(NULL, DNNL_ARG_SRC, 0));
  REFUSED(dnnl_primitive_attr_set_zero_points(NULL, DNNL_ARG_SRC, 0, 0, NULL, dnnl_s32));
  REFUSED(dnnl_primitive_attr_get_post_ops(NULL, &its));
  REFUSED(dnnl_primitive_attr_get_post_ops(attr, NULL));
  REFUSED(dnnl_primitive_attr_set_post_ops(NULL, ops));
  REFUSED(dnnl_primitive_attr_set_post_ops(attr, NULL));
  REFUSED(dnnl_primitive_attr_set_rnn_data_qparams(NULL, 1, 0));
  REFUSED(dnnl_primitive_attr_get_rnn_data_qparams(NULL, &a, &b));
  REFUSED(dnnl_primitive_attr_set_rnn_weights_qparams(NULL, 1, 0, &a));
  REFUSED(dnnl_primitive_attr_set_rnn_weights_qparams(attr, 1, 0, NULL));
  REFUSED(dnnl_primitive_attr_set_rnn_weights_projection_qparams(NULL, 1, 0, &a));
}

static void postOps(void) {
  dnnl_post_ops_t out;
  dnnl_alg_kind_t alg;
  const_dnnl_memory_desc_t its;
  float a, b;
  int number;
  dnnl_data_type_t type;
  REFUSED(dnnl_post_ops_create(NULL));
  REFUSED(dnnl_post_ops_clone(NULL, ops));
  REFUSED(dnnl_post_ops_clone(&out, NULL));
  REFUSED(dnnl_post_ops_append_sum(NULL, 1, 0, dnnl_f32));
  REFUSED(dnnl_post_ops_append_eltwise(NULL, dnnl_eltwise_relu, 0, 0));
  REFUSED(dnnl_post_ops_append_binary(NULL, dnnl_binary_add, md));
  REFUSED(dnnl_post_ops_append_binary(ops, dnnl_binary_add, NULL));
  REFUSED(dnnl_post_ops_append_prelu(NULL, 0));
  REFUSED(dnnl_post_ops_get_params_sum(NULL, 0, &a, &number, &type));
  REFUSED(dnnl_post_ops_get_params_eltwise(NULL, 0, &alg, &a, &b));
  REFUSED(dnnl_post_ops_get_params_binary(NULL, 0, &alg, &its));
  REFUSED(dnnl_post_ops_get_params_prelu(NULL, 0, &number));
}

static void primitives(void) {
  dnnl_primitive_desc_t out;
  dnnl_primitive_t made;
  const_dnnl_primitive_desc_t its;
  const_dnnl_primitive_attr_t attributes;
  size_t size = 0;
  uint8_t bytes[8];
  const dnnl_exec_arg_t nulls[] = {{DNNL_ARG_SRC, NULL}, {DNNL_ARG_DST, memory}};
  REFUSED(dnnl_softmax_forward_primitive_desc_create(NULL, engine, dnnl_forward_inference, dnnl_softmax_log, md, md, 1,
                                                     NULL));
  REFUSED(dnnl_softmax_forward_primitive_desc_create(&out, NULL, dnnl_forward_inference, dnnl_softmax_log, md, md, 1,
                                                     NULL));
  REFUSED(dnnl_softmax_forward_primitive_desc_create(&out, engine, dnnl_forward_inference, dnnl_softmax_log, NULL, md,
                                                     1, NULL));
  REFUSED(dnnl_softmax_forward_primitive_desc_create(&out, engine, dnnl_forward_inference, dnnl_softmax_log, md, NULL,
                                                     1, NULL));
  REFUSED(dnnl_softmax_backward_primitive_desc_create(NULL, engine, dnnl_softmax_log, md, md, md, 1, NULL, NULL));
  REFUSED(dnnl_softmax_backward_primitive_desc_create(&out, NULL, dnnl_softmax_log, md, md, md, 1, NULL, NULL));
  REFUSED(dnnl_softmax_backward_primitive_desc_create(&out, engine, dnnl_softmax_log, NULL, md, md, 1, NULL, NULL));
  REFUSED(dnnl_softmax_backward_primitive_desc_create(&out, engine, dnnl_softmax_log, md, NULL, md, 1, NULL, NULL));
  REFUSED(dnnl_softmax_backward_primitive_desc_create(&out, engine, dnnl_softmax_log, md, md, NULL, 1, NULL, NULL));
  REFUSED(dnnl_reorder_primitive_desc_create(NULL, md, engine, md, engine, NULL));
  REFUSED(dnnl_reorder_primitive_desc_create(&out, NULL, engine, md, engine, NULL));
  REFUSED(dnnl_reorder_primitive_desc_create(&out, md, NULL, md, engine, NULL));
  REFUSED(dnnl_reorder_primitive_desc_create(&out, md, engine, NULL, engine, NULL));
  REFUSED(dnnl_reorder_primitive_desc_create(&out, md, engine, md, NULL, NULL));
  REFUSED(dnnl_primitive_desc_next_impl(NULL));
  REFUSED(dnnl_primitive_desc_clone(NULL, desc));
  REFUSED(dnnl_primitive_desc_clone(&out, NULL));
  REFUSED(dnnl_primitive_desc_get_attr(NULL, &attributes));
  REFUSED(dnnl_primitive_desc_get_attr(desc, NULL));
  REFUSED(dnnl_primitive_desc_query(NULL, dnnl_query_engine, 0, &out));
  REFUSED(dnnl_primitive_desc_query(desc, dnnl_query_engine, 0, NULL));
  REFUSED(dnnl_primitive_create(NULL, desc));
  REFUSED(dnnl_primitive_create(&made, NULL));
  REFUSED(dnnl_primitive_create_from_cache_blob(NULL, desc, sizeof(bytes), bytes));
  REFUSED(dnnl_primitive_create_from_cache_blob(&made, NULL, sizeof(bytes), bytes));
  REFUSED(dnnl_primitive_create_from_cache_blob(&made, desc, sizeof(bytes), NULL));
  REFUSED(dnnl_primitive_get_cache_blob(NULL, &size, bytes));
  REFUSED(dnnl_primitive_get_cache_blob(primitive, NULL, bytes));
  REFUSED(dnnl_primitive_get_primitive_desc(NULL, &its));
  REFUSED(dnnl_primitive_get_primitive_desc(primitive, NULL));
  REFUSED(dnnl_primitive_execute(NULL, stream, 2, nulls));
  REFUSED(dnnl_primitive_execute(primitive, NULL, 2, nulls));
  REFUSED(dnnl_primitive_execute(primitive, stream, 2, NULL));
  REFUSED(dnnl_primitive_execute(primitive, stream, 2, nulls));
}

int main(void) {
  const dnnl_dims_t dims = {4, 6};
  dnnl_engine_create(&engine, dnnl_cpu, 0);
  md = tagged(2, dims, dnnl_f32, dnnl_ab);
  dnnl_memory_create(&memory, md, engine, DNNL_MEMORY_ALLOCATE);
  dnnl_primitive_attr_create(&attr);
  dnnl_post_ops_create(&ops);
  dnnl_softmax_forward_primitive_desc_create(&desc, engine, dnnl_forward_inference, dnnl_softmax_accurate, md, md, 1,
                                             NULL);
  dnnl_primitive_create(&primitive, desc);
  descriptors();
  memories();
  objects();
  attributes();
  postOps();
  primitives();
  printf("%d calls with a null pointer, %d not refused\n", calls, accepted);
  dnnl_status_t status = dnnl_primitive_destroy(NULL);
  status |= dnnl_primitive_desc_destroy(NULL) | dnnl_primitive_attr_destroy(NULL) | dnnl_post_ops_destroy(NULL);
  status |= dnnl_memory_destroy(NULL) | dnnl_memory_desc_destroy(NULL) | dnnl_stream_destroy(NULL) |
            dnnl_engine_destroy(NULL);
  printf("destroying null: %s\n", dnnl_status2str(status));
  printf("%d %d %zu %d\n", dnnl_post_ops_len(NULL), dnnl_post_ops_get_kind(NULL, 0), dnnl_memory_desc_get_size(NULL),
         dnnl_primitive_desc_query_md(NULL, dnnl_query_src_md, 0) == NULL);
  dnnl_primitive_destroy(primitive);
  dnnl_primitive_desc_destroy(desc);
  dnnl_primitive_attr_destroy(attr);
  dnnl_post_ops_destroy(ops);
  dnnl_memory_destroy(memory);
  dnnl_memory_desc_destroy(md);
  dnnl_stream_destroy(stream);
  dnnl_engine_destroy(engine);
  return 0;
}
