// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks attributes and post-ops: the result of each getter before and after its setter, and refusals.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "describe.h"

static void modes(dnnl_primitive_attr_t attr) {
  dnnl_fpmath_mode_t fpmath = dnnl_fpmath_mode_any;
  dnnl_accumulation_mode_t accumulation = dnnl_accumulation_mode_any;
  dnnl_scratchpad_mode_t scratchpad = dnnl_scratchpad_mode_user;
  dnnl_rounding_mode_t rounding = dnnl_rounding_mode_stochastic;
  int toInt = 7, deterministic = 7;
  for (int round = 0; round < 2; ++round) {
    show("get fpmath", dnnl_primitive_attr_get_fpmath_mode(attr, &fpmath));
    printf("%s\n", dnnl_fpmath_mode2str(fpmath));
    show("get fpmath v2", dnnl_primitive_attr_get_fpmath_mode_v2(attr, &fpmath, &toInt));
    printf("%s %d\n", dnnl_fpmath_mode2str(fpmath), toInt);
    show("get accumulation", dnnl_primitive_attr_get_accumulation_mode(attr, &accumulation));
    printf("%s\n", dnnl_accumulation_mode2str(accumulation));
    show("get scratchpad", dnnl_primitive_attr_get_scratchpad_mode(attr, &scratchpad));
    printf("%s\n", dnnl_scratchpad_mode2str(scratchpad));
    show("get deterministic", dnnl_primitive_attr_get_deterministic(attr, &deterministic));
    printf("%d\n", deterministic);
    show("get rounding", dnnl_primitive_attr_get_rounding(attr, DNNL_ARG_DST, &rounding));
    printf("%s\n", dnnl_rounding_mode2str(rounding));
    show("set fpmath", dnnl_primitive_attr_set_fpmath_mode_v2(attr, dnnl_fpmath_mode_bf16, 1));
    show("set accumulation", dnnl_primitive_attr_set_accumulation_mode(attr, dnnl_accumulation_mode_relaxed));
    show("set scratchpad", dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user));
    show("set deterministic", dnnl_primitive_attr_set_deterministic(attr, 1));
    show("set rounding", dnnl_primitive_attr_set_rounding(attr, DNNL_ARG_DST, dnnl_rounding_mode_environment));
  }
  show("null", dnnl_primitive_attr_set_deterministic(NULL, 1));
  show("null result", dnnl_primitive_attr_get_scratchpad_mode(attr, NULL));
}

static void quantization(dnnl_primitive_attr_t attr) {
  const dnnl_dims_t groups = {1, 32};
  show("scales", dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_SRC, 0));
  show("scales by dim", dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_DST, 2));
  show("scales in groups", dnnl_primitive_attr_set_scales(attr, DNNL_ARG_WEIGHTS, 3, 2, groups, dnnl_bf16));
  show("scales v2", dnnl_primitive_attr_set_scales_v2(attr, DNNL_ARG_SRC, 0, 0, NULL, dnnl_f32, 0));
  show("scales v3", dnnl_primitive_attr_set_scales_v3(attr, DNNL_ARG_SRC, 0, 0, NULL, dnnl_f32, 0,
                                                      dnnl_quantization_mode_static_sazp));
  show("zero points", dnnl_primitive_attr_set_zero_points_mask(attr, DNNL_ARG_SRC, 0));
  show("zero points by dim", dnnl_primitive_attr_set_zero_points(attr, DNNL_ARG_DST, 2, 0, NULL, dnnl_s32));
  show("zero points v2", dnnl_primitive_attr_set_zero_points_v2(attr, DNNL_ARG_DST, 0, 0, NULL, dnnl_s32, 0));
  show("mask", dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_SRC, -1));
  show("null", dnnl_primitive_attr_set_scales_mask(NULL, DNNL_ARG_SRC, 0));
}

static void rnn(dnnl_primitive_attr_t attr) {
  float scale = 9, shift = 9;
  const float given[3] = {1, 2, 4};
  const float *scales = NULL;
  dnnl_dim_t count = 9;
  int mask = 9;
  for (int round = 0; round < 2; ++round) {
    show("get data", dnnl_primitive_attr_get_rnn_data_qparams(attr, &scale, &shift));
    printf("%g %g\n", scale, shift);
    show("get weights", dnnl_primitive_attr_get_rnn_weights_qparams(attr, &count, &mask, &scales));
    printf("%d %d %g\n", (int)count, mask, scales[count - 1]);
    show("get projection", dnnl_primitive_attr_get_rnn_weights_projection_qparams(attr, &count, &mask, &scales));
    printf("%d %d %g\n", (int)count, mask, scales[0]);
    show("set data", dnnl_primitive_attr_set_rnn_data_qparams(attr, 127, 128));
    show("set weights", dnnl_primitive_attr_set_rnn_weights_qparams(attr, 3, 8, given));
    show("set projection", dnnl_primitive_attr_set_rnn_weights_projection_qparams(attr, 1, 0, given + 2));
  }
}

static void postOps(dnnl_primitive_attr_t attr) {
  dnnl_post_ops_t ops;
  dnnl_memory_desc_t tensor;
  const dnnl_dims_t dims = {1, 8};
  dnnl_memory_desc_create_with_tag(&tensor, 2, dims, dnnl_f32, dnnl_ab);
  dnnl_post_ops_create(&ops);
  show("sum", dnnl_post_ops_append_sum(ops, 0.5f, 3, dnnl_s8));
  show("eltwise", dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_clip, -1, 2));
  show("binary", dnnl_post_ops_append_binary(ops, dnnl_binary_mul, tensor));
  show("prelu", dnnl_post_ops_append_prelu(ops, 2));
  show("no eltwise", dnnl_post_ops_append_eltwise(ops, dnnl_binary_add, 0, 0));
  show("no binary", dnnl_post_ops_append_binary(ops, dnnl_eltwise_relu, tensor));
  show("set", dnnl_primitive_attr_set_post_ops(attr, ops));
  dnnl_post_ops_destroy(ops);

  const_dnnl_post_ops_t kept;
  show("get", dnnl_primitive_attr_get_post_ops(attr, &kept));
  for (int index = 0; index < dnnl_post_ops_len(kept); ++index)
    printf("%d: %s\n", index, dnnl_prim_kind2str(dnnl_post_ops_get_kind(kept, index)));
  float scale, alpha, beta;
  int zeroPoint, mask;
  dnnl_data_type_t type;
  dnnl_alg_kind_t alg;
  const_dnnl_memory_desc_t src1;
  show("get sum", dnnl_post_ops_get_params_sum(kept, 0, &scale, &zeroPoint, &type));
  printf("%g %d %s\n", scale, zeroPoint, dnnl_dt2str(type));
  show("get eltwise", dnnl_post_ops_get_params_eltwise(kept, 1, &alg, &alpha, &beta));
  printf("%s %g %g\n", dnnl_alg_kind2str(alg), alpha, beta);
  show("get binary", dnnl_post_ops_get_params_binary(kept, 2, &alg, &src1));
  printf("%s %d\n", dnnl_alg_kind2str(alg), dnnl_memory_desc_equal(src1, tensor));
  show("get prelu", dnnl_post_ops_get_params_prelu(kept, 3, &mask));
  printf("%d\n", mask);
  show("another kind", dnnl_post_ops_get_params_sum(kept, 1, &scale, &zeroPoint, &type));
  show("no such", dnnl_post_ops_get_params_sum(kept, 4, &scale, &zeroPoint, &type));
  printf("%s\n", dnnl_prim_kind2str(dnnl_post_ops_get_kind(kept, 4)));
  dnnl_memory_desc_destroy(tensor);
}

int main(void) {
  dnnl_primitive_attr_t attr, clone;
  show("create", dnnl_primitive_attr_create(&attr));
  modes(attr);
  quantization(attr);
  rnn(attr);
  postOps(attr);
  show("clone", dnnl_primitive_attr_clone(&clone, attr));
  const_dnnl_post_ops_t kept;
  dnnl_primitive_attr_get_post_ops(clone, &kept);
  printf("%d post-ops\n", dnnl_post_ops_len(kept));
  dnnl_primitive_attr_destroy(clone);
  dnnl_primitive_attr_destroy(attr);
  const_dnnl_memory_desc_t dropout = NULL;
  dnnl_primitive_attr_create(&attr);
  show("get dropout", dnnl_primitive_attr_get_dropout(attr, &dropout));
  describe("dropout", dnnl_success, dropout);
  dnnl_primitive_attr_destroy(attr);
  show("destroy null", dnnl_primitive_attr_destroy(NULL));

  dnnl_fpmath_mode_t mode = dnnl_fpmath_mode_any;
  show("set default", dnnl_set_default_fpmath_mode(dnnl_fpmath_mode_tf32));
  show("get default", dnnl_get_default_fpmath_mode(&mode));
  printf("%s\n", dnnl_fpmath_mode2str(mode));
  dnnl_primitive_attr_create(&attr);
  dnnl_primitive_attr_get_fpmath_mode(attr, &mode);
  printf("%s\n", dnnl_fpmath_mode2str(mode));
  dnnl_primitive_attr_destroy(attr);
  return 0;
}
