// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks attributes that Quern does not compute: their setters refuse what oneDNN's do, and their getters return the
// values.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "oneapi/dnnl/dnnl.h"
#include "oneapi/dnnl/dnnl_debug.h"

#include <inttypes.h>
#include <stdio.h>

#define SHOW(CALL) printf("%s: %s\n", #CALL, dnnl_status2str(CALL))

static void rounding(dnnl_primitive_attr_t attr) {
  const int arguments[] = {DNNL_ARG_DST, DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_SRC, 333};
  for (int i = 0; i < 5; ++i) {
    dnnl_rounding_mode_t mode = dnnl_rounding_mode_environment;
    const dnnl_status_t set = dnnl_primitive_attr_set_rounding(attr, arguments[i], dnnl_rounding_mode_stochastic);
    const dnnl_status_t got = dnnl_primitive_attr_get_rounding(attr, arguments[i], &mode);
    printf("rounding of %d: %s, %s, %d\n", arguments[i], dnnl_status2str(set), dnnl_status2str(got), mode);
    dnnl_primitive_attr_set_rounding(attr, arguments[i], dnnl_rounding_mode_environment);
  }
}

static void showDropout(dnnl_primitive_attr_t attr, const_dnnl_memory_desc_t mask) {
  const_dnnl_memory_desc_t kept = NULL;
  dnnl_data_type_t seeds = dnnl_f32;
  int offset = -1, scalars = -1;
  const dnnl_status_t status = dnnl_primitive_attr_get_dropout_v2(attr, &kept, &seeds, &offset, &scalars);
  printf("dropout %s: mask %d, seeds %d, offset %d, host scalars %d\n", dnnl_status2str(status),
         dnnl_memory_desc_equal(kept, mask), seeds, offset, scalars);
}

static void dropout(dnnl_primitive_attr_t attr, const_dnnl_memory_desc_t mask) {
  SHOW(dnnl_primitive_attr_set_dropout(attr, mask));
  showDropout(attr, mask);
  SHOW(dnnl_primitive_attr_set_dropout_v2(attr, mask, dnnl_s64, 1, 1));
  showDropout(attr, mask);
  SHOW(dnnl_primitive_attr_set_dropout_v2(attr, mask, dnnl_s32, 1, 0));
  showDropout(attr, mask);
  SHOW(dnnl_primitive_attr_set_dropout_v2(attr, mask, dnnl_f32, 0, 0));
  SHOW(dnnl_primitive_attr_set_dropout_v2(attr, NULL, dnnl_s64, 0, 0));
  SHOW(dnnl_primitive_attr_set_dropout(attr, NULL));
  showDropout(attr, mask);
  SHOW(dnnl_primitive_attr_set_dropout_v2(attr, NULL, dnnl_data_type_undef, 0, 0));
}

/// The mask is u8 or absent; dropout is requested in both cases.
static void dropoutMasks(dnnl_primitive_attr_t attr) {
  const dnnl_dims_t dims = {4, 8};
  const dnnl_data_type_t types[] = {dnnl_f32, dnnl_bf16, dnnl_s32, dnnl_s8, dnnl_u8, dnnl_f64};
  for (int i = 0; i < 6; ++i) {
    dnnl_memory_desc_t mask;
    dnnl_memory_desc_create_with_tag(&mask, 2, dims, types[i], dnnl_ab);
    printf("mask of %s: %s", dnnl_dt2str(types[i]), dnnl_status2str(dnnl_primitive_attr_set_dropout(attr, mask)));
    printf(", %s\n", dnnl_status2str(dnnl_primitive_attr_set_dropout_v2(attr, mask, dnnl_s64, 1, 0)));
    dnnl_memory_desc_destroy(mask);
  }
  dnnl_memory_desc_t none;
  dnnl_memory_desc_create_with_tag(&none, 0, dims, dnnl_u8, dnnl_format_tag_any);
  SHOW(dnnl_primitive_attr_set_dropout(attr, none));
  showDropout(attr, none);
  SHOW(dnnl_primitive_attr_set_dropout_v2(attr, none, dnnl_data_type_undef, 0, 0));
  SHOW(dnnl_primitive_attr_set_dropout_v2(attr, none, dnnl_s64, 1, 1));
  showDropout(attr, none);
  dnnl_memory_desc_destroy(none);
}

static void quantization(dnnl_primitive_attr_t attr) {
  const dnnl_dims_t groups = {1, 32};
  for (int mode = 0; mode < 5; ++mode) {
    const dnnl_quantization_mode_t given = (dnnl_quantization_mode_t)mode;
    const dnnl_status_t status =
        dnnl_primitive_attr_set_scales_v3(attr, DNNL_ARG_DST, 3, 2, groups, dnnl_e8m0, 0, given);
    printf("mode %d: %s\n", mode, dnnl_status2str(status));
  }
  for (int mask = 0; mask < 2; ++mask) {
    SHOW(dnnl_primitive_attr_set_scales_v2(attr, DNNL_ARG_SRC, mask, 0, NULL, dnnl_f32, 1));
    SHOW(dnnl_primitive_attr_set_zero_points_v2(attr, DNNL_ARG_SRC, mask, 0, NULL, dnnl_s32, 1));
  }
  SHOW(dnnl_primitive_attr_set_scales_v2(attr, DNNL_ARG_SRC, 3, 2, groups, dnnl_f32, 1));
  SHOW(dnnl_primitive_attr_set_precomputed_reductions(attr, DNNL_ARG_SRC, 3, 2, groups, dnnl_s32));
  SHOW(dnnl_primitive_attr_set_precomputed_reductions(attr, DNNL_ARG_SRC, -3, 2, groups, dnnl_s32));
  SHOW(dnnl_primitive_attr_set_precomputed_reductions(attr, DNNL_ARG_SRC, 1, 0, NULL, dnnl_s32));
  SHOW(dnnl_primitive_attr_set_precomputed_reductions(attr, DNNL_ARG_DST, 1, 0, NULL, dnnl_s32));
}

static void depthwise(void) {
  dnnl_post_ops_t ops;
  dnnl_data_type_t weights = dnnl_s8, bias = dnnl_s8, dst = dnnl_s8;
  dnnl_dim_t kernel = 0, stride = 0, padding = 0;
  dnnl_post_ops_create(&ops);
  SHOW(dnnl_post_ops_append_dw(ops, dnnl_f32, dnnl_f32, dnnl_bf16, 3, 2, 1));
  SHOW(dnnl_post_ops_append_dw(ops, dnnl_data_type_undef, dnnl_f32, dnnl_f32, 3, 1, 1));
  SHOW(dnnl_post_ops_append_dw(ops, dnnl_f32, dnnl_data_type_undef, dnnl_f32, 3, 1, 1));
  SHOW(dnnl_post_ops_append_dw(ops, dnnl_f32, dnnl_f32, dnnl_f32, 0, 1, 1));
  SHOW(dnnl_post_ops_append_dw(ops, dnnl_f32, dnnl_f32, dnnl_f32, 3, 0, 1));
  SHOW(dnnl_post_ops_append_dw(ops, dnnl_f32, dnnl_f32, dnnl_f32, 3, 1, 3));
  SHOW(dnnl_post_ops_get_params_dw(ops, 0, &weights, &bias, &dst, &kernel, &stride, &padding));
  SHOW(dnnl_post_ops_get_params_dw(ops, 0, NULL, NULL, NULL, NULL, NULL, NULL));
  SHOW(dnnl_post_ops_get_params_dw(ops, 9, &weights, &bias, &dst, &kernel, &stride, &padding));
  printf("%d post-ops of kind %s: %s %s %s, %" PRId64 " %" PRId64 " %" PRId64 "\n", dnnl_post_ops_len(ops),
         dnnl_prim_kind2str(dnnl_post_ops_get_kind(ops, 0)), dnnl_dt2str(weights), dnnl_dt2str(bias), dnnl_dt2str(dst),
         kernel, stride, padding);
  dnnl_post_ops_destroy(ops);
}

int main(void) {
  dnnl_primitive_attr_t attr;
  dnnl_memory_desc_t mask;
  const dnnl_dims_t dims = {4, 8};
  dnnl_primitive_attr_create(&attr);
  dnnl_memory_desc_create_with_tag(&mask, 2, dims, dnnl_u8, dnnl_ab);
  rounding(attr);
  dropout(attr, mask);
  dropoutMasks(attr);
  quantization(attr);
  depthwise();
  dnnl_memory_desc_destroy(mask);
  dnnl_primitive_attr_destroy(attr);
  return 0;
}
