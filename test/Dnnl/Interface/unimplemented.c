// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that features that Quern does not have are refused, with a line if verbose mode enables it.
//
// REQUIRES: onednn-3.13
// RUN: env ONEDNN_VERBOSE=dispatch %ours %s %t | FileCheck %s
// CHECK: onednn_verbose,v1,primitive,create:dispatch,matmul,{{.*}}
// CHECK-NEXT: matmul: unimplemented 1
// CHECK-NEXT: onednn_verbose,v1,primitive,create:dispatch,convolution,{{.*}}
// CHECK-NEXT: convolution: unimplemented 1
// CHECK-NEXT: onednn_verbose,v1,primitive,create:dispatch,pooling,it is not supported by Quern,
// CHECK-SAME: {{^}}dnnl_pooling_backward_primitive_desc_create
// CHECK-NEXT: pooling backward: unimplemented 1
// CHECK-NEXT: onednn_verbose,v1,primitive,create:dispatch,softmax,{{.*}}the tensor is sparse{{.*}}
// CHECK-NEXT: sparse: unimplemented 1
// CHECK-NEXT: onednn_verbose,v1,common,create:dispatch,dnnl_memory_desc_create_with_grouped_encoding{{.*}}
// CHECK-NEXT: grouped: unimplemented
// CHECK-NEXT: no result: invalid_arguments
#include "oneapi/dnnl/dnnl.h"
#include "oneapi/dnnl/dnnl_debug.h"

#include <stdio.h>

// The headers declare it only if the library is built with experimental features.
dnnl_status_t dnnl_memory_desc_create_with_grouped_encoding(dnnl_memory_desc_t *desc, int ndims, const dnnl_dims_t dims,
                                                            dnnl_data_type_t type, int variable, dnnl_dim_t groups,
                                                            dnnl_data_type_t offsets);

int main(void) {
  dnnl_engine_t eng;
  dnnl_memory_desc_t a, c;
  const dnnl_dims_t dims = {8, 8}, image = {1, 8, 5, 5}, one = {1, 1}, zero = {0, 0};
  dnnl_engine_create(&eng, dnnl_cpu, 0);
  dnnl_memory_desc_create_with_tag(&a, 2, dims, dnnl_f32, dnnl_ab);
  dnnl_memory_desc_create_with_tag(&c, 4, image, dnnl_f32, dnnl_nchw);
  dnnl_primitive_desc_t desc;
  desc = (dnnl_primitive_desc_t)&desc;
  dnnl_status_t status = dnnl_matmul_primitive_desc_create(&desc, eng, a, a, NULL, a, NULL);
  printf("matmul: %s %d\n", dnnl_status2str(status), desc == NULL);
  desc = (dnnl_primitive_desc_t)&desc;
  status = dnnl_convolution_forward_primitive_desc_create(&desc, eng, dnnl_forward_inference, dnnl_convolution_direct,
                                                          c, c, NULL, c, one, zero, zero, zero, NULL);
  printf("convolution: %s %d\n", dnnl_status2str(status), desc == NULL);
  desc = (dnnl_primitive_desc_t)&desc;
  status = dnnl_pooling_backward_primitive_desc_create(&desc, eng, dnnl_pooling_max, c, c, one, one, zero, zero, zero,
                                                       NULL, NULL);
  printf("pooling backward: %s %d\n", dnnl_status2str(status), desc == NULL);
  dnnl_memory_desc_t sparse;
  dnnl_memory_desc_create_with_coo_encoding(&sparse, 2, dims, dnnl_f32, 5, dnnl_s32);
  desc = (dnnl_primitive_desc_t)&desc;
  status = dnnl_softmax_forward_primitive_desc_create(&desc, eng, dnnl_forward_inference, dnnl_softmax_accurate, sparse,
                                                      sparse, 1, NULL);
  printf("sparse: %s %d\n", dnnl_status2str(status), desc == NULL);
  dnnl_memory_desc_destroy(sparse);
  status = dnnl_memory_desc_create_with_grouped_encoding(&sparse, 2, dims, dnnl_f32, 0, 2, dnnl_s32);
  printf("grouped: %s\n", dnnl_status2str(status));
  status = dnnl_matmul_primitive_desc_create(NULL, eng, a, a, NULL, a, NULL);
  printf("no result: %s\n", dnnl_status2str(status));
  dnnl_memory_desc_destroy(a);
  dnnl_memory_desc_destroy(c);
  dnnl_engine_destroy(eng);
  return 0;
}
