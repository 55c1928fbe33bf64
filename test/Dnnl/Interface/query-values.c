// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks every value of dnnl_query_t, and invalid values, on primitive descriptors and on memory descriptors.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "describe.h"

#include <string.h>

static dnnl_engine_t engine;

static int ndimsOf(const_dnnl_memory_desc_t desc) {
  int ndims = -1;
  dnnl_memory_desc_query(desc, dnnl_query_ndims_s32, &ndims);
  return ndims;
}

typedef union {
  int number;
  dnnl_engine_t engine;
  const_dnnl_memory_desc_t desc;
  char bytes[16];
} answer;

// Estimates, sizes and names are specific to each library; oneDNN has no time estimate and no scratchpad engine.
static int isOwn(int what) {
  return what == dnnl_query_time_estimate_f64 || what == dnnl_query_memory_consumption_s64 ||
         what == dnnl_query_scratchpad_engine || what == dnnl_query_impl_info_str ||
         what == dnnl_query_cache_blob_id_size_s64 || what == dnnl_query_cache_blob_id;
}

static void values(const char *name, const_dnnl_primitive_desc_t desc) {
  puts(name);
  for (int what = 0; what < dnnl_query_some_md; ++what) {
    answer result;
    memset(&result, 0x55, sizeof(result));
    if (isOwn(what) || (what > dnnl_query_group_size_s64 + 2 && what < dnnl_query_some_md - 2))
      continue;
    const dnnl_status_t status = dnnl_primitive_desc_query(desc, (dnnl_query_t)what, 0, &result);
    printf("%d %s", what, dnnl_status2str(status));
    if (status == dnnl_success)
      printf(" %d",
             what == dnnl_query_engine || what == dnnl_query_reorder_src_engine || what == dnnl_query_reorder_dst_engine
                 ? result.engine == engine
                 : result.number);
    printf(" %d\n", dnnl_primitive_desc_query_md(desc, (dnnl_query_t)what, 0) != NULL);
  }
}

static void tensors(const_dnnl_primitive_desc_t desc) {
  for (int what = dnnl_query_some_md; what < dnnl_query_some_md + 12; ++what)
    for (int index = -1; index < 3; ++index) {
      answer result;
      memset(&result, 0, sizeof(result));
      const dnnl_status_t status = dnnl_primitive_desc_query(desc, (dnnl_query_t)what, index, &result);
      printf("%d[%d] %s %d %d\n", what, index, dnnl_status2str(status),
             status == dnnl_success ? ndimsOf(result.desc) : -1,
             dnnl_primitive_desc_query_md(desc, (dnnl_query_t)what, index) != NULL);
    }
  const int arguments[] = {-1,
                           0,
                           DNNL_ARG_SRC,
                           DNNL_ARG_SRC_1,
                           DNNL_ARG_DST,
                           DNNL_ARG_DST_1,
                           DNNL_ARG_WEIGHTS,
                           DNNL_ARG_BIAS,
                           DNNL_ARG_WORKSPACE,
                           DNNL_ARG_DIFF_SRC,
                           DNNL_ARG_DIFF_DST,
                           DNNL_ARG_MULTIPLE_SRC,
                           DNNL_ARG_MULTIPLE_DST,
                           DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1,
                           DNNL_ARG_ATTR_MULTIPLE_POST_OP(5) | DNNL_ARG_SRC_1};
  for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); ++i)
    printf("argument %d: %d\n", arguments[i],
           ndimsOf(dnnl_primitive_desc_query_md(desc, dnnl_query_exec_arg_md, arguments[i])));
  printf("null result: %s\n", dnnl_status2str(dnnl_primitive_desc_query(desc, dnnl_query_src_md, 0, NULL)));
  printf("null: %s\n", dnnl_status2str(dnnl_primitive_desc_query(NULL, dnnl_query_src_md, 0, NULL)));
}

static void all(const char *name, dnnl_status_t status, dnnl_primitive_desc_t desc) {
  show(name, status);
  values(name, desc);
  tensors(desc);
  const_dnnl_primitive_attr_t attr = NULL;
  show("attributes", dnnl_primitive_desc_get_attr(desc, &attr));
  const_dnnl_post_ops_t ops = NULL;
  show("post-ops", dnnl_primitive_attr_get_post_ops(attr, &ops));
  printf("%d\n", dnnl_post_ops_len(ops));
  dnnl_primitive_desc_t clone = NULL;
  show("clone", dnnl_primitive_desc_clone(&clone, desc));
  tensors(clone);
  show("destroy", dnnl_primitive_desc_destroy(clone));
}

static void layouts(const_dnnl_memory_desc_t desc) {
  for (int what = 0; what < dnnl_query_inner_idxs + 4; ++what) {
    answer result;
    // Queries about the buffers of sparse tensors, which have separate functions, are not compared.
    if ((what > dnnl_query_group_size_s64 + 2 && what < dnnl_query_exec_arg_md) || what >= dnnl_query_sparse_encoding)
      continue;
    printf("%d %s %s\n", what, dnnl_status2str(dnnl_memory_desc_query(desc, (dnnl_query_t)what, &result)),
           dnnl_status2str(dnnl_memory_desc_query_v2(desc, (dnnl_query_t)what, 0, &result)));
  }
  printf("bytes %zu %zu %zu\n", dnnl_memory_desc_get_size(desc), dnnl_memory_desc_get_size_v2(desc, 0),
         dnnl_memory_desc_get_size_v2(desc, 1));
}

int main(void) {
  const dnnl_dims_t dims = {4, 6, 5}, one = {1, 6, 1}, none = {0};
  dnnl_engine_create(&engine, dnnl_cpu, 0);
  dnnl_memory_desc_t data = tagged(3, dims, dnnl_f32, dnnl_abc), any = tagged(3, dims, dnnl_f32, dnnl_format_tag_any),
                     other = tagged(3, dims, dnnl_bf16, dnnl_acb), row = tagged(3, one, dnnl_f32, dnnl_abc),
                     zero = tagged(0, none, dnnl_f32, dnnl_a);
  dnnl_post_ops_t ops;
  dnnl_primitive_attr_t attr;
  dnnl_post_ops_create(&ops);
  dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_linear, 2, 1);
  dnnl_post_ops_append_binary(ops, dnnl_binary_add, row);
  dnnl_primitive_attr_create(&attr);
  dnnl_primitive_attr_set_post_ops(attr, ops);

  dnnl_primitive_desc_t desc, forward, backward, reorder;
  dnnl_status_t status = dnnl_softmax_forward_primitive_desc_create(&desc, engine, dnnl_forward_inference,
                                                                    dnnl_softmax_accurate, data, any, 1, attr);
  all("forward", status, desc);
  status = dnnl_softmax_forward_primitive_desc_create(&forward, engine, dnnl_forward_training, dnnl_softmax_log, data,
                                                      data, 2, NULL);
  all("training", status, forward);
  status = dnnl_softmax_backward_primitive_desc_create(&backward, engine, dnnl_softmax_log, data, data, data, 2,
                                                       forward, NULL);
  all("backward", status, backward);
  status = dnnl_reorder_primitive_desc_create(&reorder, data, engine, other, engine, NULL);
  all("reorder", status, reorder);

  layouts(data);
  layouts(any);
  layouts(other);
  layouts(zero);

  dnnl_primitive_desc_destroy(desc);
  dnnl_primitive_desc_destroy(forward);
  dnnl_primitive_desc_destroy(backward);
  dnnl_primitive_desc_destroy(reorder);
  dnnl_primitive_attr_destroy(attr);
  dnnl_post_ops_destroy(ops);
  dnnl_memory_desc_destroy(data);
  dnnl_memory_desc_destroy(any);
  dnnl_memory_desc_destroy(other);
  dnnl_memory_desc_destroy(row);
  dnnl_memory_desc_destroy(zero);
  dnnl_engine_destroy(engine);
  return 0;
}
