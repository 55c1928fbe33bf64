// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the queries of eltwise, binary, sum and concat: their tensors by kind and index and by argument, including
// absent ones, and their parameters.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "describe.h"

#include <string.h>

static void tensor(const char *what, const_dnnl_memory_desc_t desc) {
  int ndims = -1;
  dnnl_data_type_t type = dnnl_data_type_undef;
  dnnl_memory_desc_query(desc, dnnl_query_ndims_s32, &ndims);
  dnnl_memory_desc_query(desc, dnnl_query_data_type, &type);
  printf("%s: %s, rank %d %s, %zu bytes\n", what, desc ? "given" : "null", ndims, dnnl_dt2str(type),
         dnnl_memory_desc_get_size(desc));
}

static void number(const char *what, const_dnnl_primitive_desc_t desc, dnnl_query_t query) {
  int answer[2] = {0, 0};
  const dnnl_status_t status = dnnl_primitive_desc_query(desc, query, 0, answer);
  printf("%s: %s %d\n", what, dnnl_status2str(status), status == dnnl_success ? answer[0] : 0);
}

static void all(const char *name, dnnl_status_t status, dnnl_primitive_desc_t desc) {
  show(name, status);
  if (status != dnnl_success)
    return;
  for (int index = 0; index < 3; ++index) {
    printf("index %d\n", index);
    tensor("src", dnnl_primitive_desc_query_md(desc, dnnl_query_src_md, index));
    tensor("dst", dnnl_primitive_desc_query_md(desc, dnnl_query_dst_md, index));
    tensor("diff_src", dnnl_primitive_desc_query_md(desc, dnnl_query_diff_src_md, index));
    tensor("diff_dst", dnnl_primitive_desc_query_md(desc, dnnl_query_diff_dst_md, index));
    tensor("weights", dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, index));
  }
  tensor("workspace", dnnl_primitive_desc_query_md(desc, dnnl_query_workspace_md, 0));
  const int arguments[] = {DNNL_ARG_SRC,      DNNL_ARG_SRC_1,        DNNL_ARG_DST,     DNNL_ARG_DIFF_SRC,
                           DNNL_ARG_DIFF_DST, DNNL_ARG_MULTIPLE_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_MULTIPLE_SRC + 1};
  for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); ++i) {
    printf("argument %d ", arguments[i]);
    tensor("", dnnl_primitive_desc_query_md(desc, dnnl_query_exec_arg_md, arguments[i]));
  }
  number("kind", desc, dnnl_query_primitive_kind);
  number("propagation", desc, dnnl_query_prop_kind);
  number("algorithm", desc, dnnl_query_alg_kind);
  number("alpha", desc, dnnl_query_alpha_f32);
  number("beta", desc, dnnl_query_beta_f32);
  number("inputs", desc, dnnl_query_num_of_inputs_s32);
  number("outputs", desc, dnnl_query_num_of_outputs_s32);
  dnnl_primitive_desc_destroy(desc);
}

int main(void) {
  const dnnl_dims_t dims = {4, 6}, twice = {8, 6};
  const float scales[] = {1, 0.5f};
  dnnl_engine_t eng;
  dnnl_engine_create(&eng, dnnl_cpu, 0);
  dnnl_memory_desc_t data = tagged(2, dims, dnnl_f32, dnnl_ab), both = tagged(2, twice, dnnl_f32, dnnl_ab);
  const const_dnnl_memory_desc_t sources[] = {data, data};
  dnnl_primitive_desc_t forward = NULL, desc = NULL;
  const dnnl_alg_kind_t algorithms[] = {dnnl_eltwise_elu, dnnl_eltwise_elu_use_dst_for_bwd};
  for (int i = 0; i < 2; ++i) {
    dnnl_status_t status = dnnl_eltwise_forward_primitive_desc_create(&forward, eng, dnnl_forward_training,
                                                                      algorithms[i], data, data, 0.5f, 0, NULL);
    show("hint", status);
    status = dnnl_eltwise_backward_primitive_desc_create(&desc, eng, algorithms[i], data, data, data, 0.5f, 0, forward,
                                                         NULL);
    all(i ? "backward from dst" : "backward from src", status, desc);
    all("forward", dnnl_success, forward);
  }
  all("binary", dnnl_binary_primitive_desc_create(&desc, eng, dnnl_binary_mul, data, data, data, NULL), desc);
  all("sum", dnnl_sum_primitive_desc_create(&desc, eng, data, 2, scales, sources, NULL), desc);
  all("sum without dst", dnnl_sum_primitive_desc_create(&desc, eng, NULL, 2, scales, sources, NULL), desc);
  all("concat", dnnl_concat_primitive_desc_create(&desc, eng, both, 2, 0, sources, NULL), desc);
  all("concat without dst", dnnl_concat_primitive_desc_create(&desc, eng, NULL, 2, 0, sources, NULL), desc);
  dnnl_memory_desc_destroy(data);
  dnnl_memory_desc_destroy(both);
  dnnl_engine_destroy(eng);
  return 0;
}
