// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the lines for refusals and the verbose levels that enable them; a line has the reason in one field and the
// function in the next.
//
// REQUIRES: onednn-3.13
// RUN: env ONEDNN_VERBOSE=all %ours %s %t | FileCheck %s
// RUN: env ONEDNN_VERBOSE=check %ours %s %t.check | FileCheck --check-prefix=CHECKED %s
// RUN: env ONEDNN_VERBOSE=dispatch,unknown,debuginfo=2 %ours %s %t.dispatch | FileCheck --check-prefix=DISPATCH %s
// RUN: env ONEDNN_VERBOSE=profile,0 %ours %s %t.none | FileCheck --check-prefix=NONE %s
// RUN: env ONEDNN_VERBOSE=all,filter=[ %ours %s %t.filter | FileCheck --check-prefix=FILTER %s
// RUN: env ONEDNN_VERBOSE=all,filter=matmul %ours %s %t.filter | FileCheck --check-prefix=ONE %s
// CHECK: info,oneDNN v3.13.2 (commit {{.*}})
// CHECK: info,cpu,runtime:TBB,nthr:{{[0-9]+$}}
// CHECK-NEXT: info,cpu,isa:Intel {{.*}}
// CHECK-NEXT: info,gpu,runtime:Level Zero
// CHECK-NEXT: primitive,info,template:operation,engine,{{.*}},problem_desc,exec_time
// CHECK-NEXT: onednn_verbose,v1,primitive,create:dispatch,matmul,{{[^,]+}},dnnl_matmul_primitive_desc_create
// CHECK-NEXT: matmul unimplemented
// CHECK-NEXT: onednn_verbose,v1,primitive,create:check,softmax,axis is 7; a tensor of rank 2 allows 0 to 1
// CHECK-SAME: {{[^,]*}},dnnl_softmax_forward_primitive_desc_create
// CHECK-NEXT: axis invalid_arguments
// CHECK-NEXT: onednn_verbose,v1,primitive,create:dispatch,softmax,{{[^,]*}}s4{{[^,]*}},
// CHECK-SAME: {{^}}dnnl_softmax_forward_primitive_desc_create
// CHECK-NEXT: type unimplemented
// CHECK-NEXT: onednn_verbose,v1,common,create:check,memory,{{[^,]+}},dnnl_memory_desc_create_with_strides
// CHECK-NEXT: dims invalid_arguments
// CHECK-NEXT: onednn_verbose,v1,primitive,create:cache_miss,cpu,softmax,
// CHECK-NEXT: onednn_verbose,v1,primitive,exec:check,primitive,argument 1 (src) is missing (softmax C27),
// CHECK-SAME: {{^}}dnnl_primitive_execute
// CHECK-NEXT: arguments invalid_arguments
// CHECK-NEXT: silent
// CHECK-NEXT: matmul unimplemented
// CHECKED-NOT: create:dispatch
// CHECKED: matmul unimplemented
// CHECKED: create:check,softmax
// CHECKED-NEXT: {{^}}axis
// CHECKED-NEXT: {{^}}type
// CHECKED-NEXT: create:check,memory
// CHECKED-NEXT: {{^}}dims
// CHECKED-NEXT: exec:check,primitive
// CHECKED-NEXT: {{^}}arguments
// DISPATCH: create:dispatch,matmul
// DISPATCH-NEXT: {{^}}matmul
// DISPATCH-NEXT: {{^}}axis
// DISPATCH-NEXT: create:dispatch,softmax
// DISPATCH-NEXT: {{^}}type
// DISPATCH-NEXT: {{^}}dims
// DISPATCH-NEXT: {{^}}arguments
// NONE-NOT: onednn_verbose
// FILTER: common,error,filter format is ill-formed and is not applied, error: {{.+}}
// FILTER: create:check,softmax
// ONE: common,info,filter format is enabled, hit components: matmul
// ONE: create:dispatch,matmul
// ONE-NOT: softmax,
#include "oneapi/dnnl/dnnl.h"
#include "oneapi/dnnl/dnnl_debug.h"

#include <stdio.h>

static void show(const char *name, dnnl_status_t status) {
  printf("%s %s\n", name, dnnl_status2str(status));
  fflush(stdout);
}

static dnnl_status_t softmax(dnnl_primitive_desc_t *desc, dnnl_engine_t eng, const_dnnl_memory_desc_t data, int axis) {
  return dnnl_softmax_forward_primitive_desc_create(desc, eng, dnnl_forward_inference, dnnl_softmax_accurate, data,
                                                    data, axis, NULL);
}

int main(void) {
  dnnl_engine_t eng;
  dnnl_stream_t order;
  dnnl_memory_desc_t plain, packed, wrong;
  dnnl_primitive_desc_t desc;
  dnnl_primitive_t made;
  const dnnl_dims_t dims = {8, 8}, negative = {8, -3};
  dnnl_engine_create(&eng, dnnl_cpu, 0);
  dnnl_stream_create(&order, eng, dnnl_stream_default_flags);
  dnnl_memory_desc_create_with_tag(&plain, 2, dims, dnnl_f32, dnnl_ab);
  dnnl_memory_desc_create_with_tag(&packed, 2, dims, dnnl_s4, dnnl_ab);
  show("matmul", dnnl_matmul_primitive_desc_create(&desc, eng, plain, plain, NULL, plain, NULL));
  show("axis", softmax(&desc, eng, plain, 7));
  show("type", softmax(&desc, eng, packed, 1));
  show("dims", dnnl_memory_desc_create_with_strides(&wrong, 2, negative, dnnl_f32, NULL));
  softmax(&desc, eng, plain, 1);
  dnnl_primitive_create(&made, desc);
  show("arguments", dnnl_primitive_execute(made, order, 0, NULL));
  printf("silent\n");
  fflush(stdout);
  dnnl_set_verbose(0);
  show("matmul", dnnl_matmul_primitive_desc_create(&desc, eng, plain, plain, NULL, plain, NULL));
  dnnl_primitive_destroy(made);
  dnnl_primitive_desc_destroy(desc);
  dnnl_memory_desc_destroy(plain);
  dnnl_memory_desc_destroy(packed);
  dnnl_stream_destroy(order);
  dnnl_engine_destroy(eng);
  return 0;
}
