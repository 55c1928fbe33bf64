// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that both libraries return the same statuses for invalid problems and arguments.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "describe.h"

#define INFER dnnl_forward_inference
#define ACCURATE dnnl_softmax_accurate

static dnnl_engine_t engine, second;
static dnnl_stream_t stream;
static dnnl_memory_desc_t rows, turned, columns, ints, any, none;

static dnnl_memory_t allocate(const_dnnl_memory_desc_t desc, dnnl_engine_t of) {
  dnnl_memory_t memory = NULL;
  dnnl_memory_create(&memory, desc, of, DNNL_MEMORY_ALLOCATE);
  return memory;
}

static void forward(const char *name, dnnl_prop_kind_t prop, dnnl_alg_kind_t alg, dnnl_memory_desc_t src,
                    dnnl_memory_desc_t dst, int axis) {
  dnnl_primitive_desc_t desc = NULL;
  show(name, dnnl_softmax_forward_primitive_desc_create(&desc, engine, prop, alg, src, dst, axis, NULL));
  dnnl_primitive_desc_destroy(desc);
}

static void backward(const char *name, dnnl_memory_desc_t data, dnnl_memory_desc_t gradient, int axis,
                     dnnl_primitive_desc_t hint) {
  dnnl_primitive_desc_t desc = NULL;
  show(name, dnnl_softmax_backward_primitive_desc_create(&desc, engine, ACCURATE, gradient, gradient, data, axis, hint,
                                                         NULL));
  dnnl_primitive_desc_destroy(desc);
}

static void change(const char *name, dnnl_memory_desc_t src, dnnl_memory_desc_t dst, dnnl_engine_t to) {
  dnnl_primitive_desc_t desc = NULL;
  show(name, dnnl_reorder_primitive_desc_create(&desc, src, engine, dst, to, NULL));
  dnnl_primitive_desc_destroy(desc);
}

static void problems(void) {
  forward("axis 2", INFER, ACCURATE, rows, rows, 2);
  forward("axis -1", INFER, ACCURATE, rows, rows, -1);
  forward("eltwise", INFER, dnnl_eltwise_relu, rows, rows, 1);
  forward("no algorithm", INFER, dnnl_alg_kind_undef, rows, rows, 1);
  forward("backward", dnnl_backward_data, ACCURATE, rows, rows, 1);
  forward("no kind", dnnl_prop_kind_undef, ACCURATE, rows, rows, 1);
  forward("src any", INFER, ACCURATE, any, rows, 1);
  forward("no dst", INFER, ACCURATE, rows, none, 1);
  forward("ints", INFER, ACCURATE, ints, rows, 1);

  dnnl_primitive_desc_t hint = NULL;
  dnnl_softmax_forward_primitive_desc_create(&hint, engine, dnnl_forward_training, ACCURATE, rows, rows, 1, NULL);
  backward("no hint", rows, rows, 1, NULL);
  backward("hint", rows, rows, 1, hint);
  backward("any", rows, any, 1, hint);
  backward("axis", rows, rows, 2, hint);
  dnnl_primitive_desc_destroy(hint);

  change("shapes", rows, columns, engine);
  change("to any", rows, any, engine);
  change("from any", any, rows, engine);
  change("to the second engine", rows, turned, second);
  dnnl_primitive_t primitive = NULL;
  show("no descriptor", dnnl_primitive_create(&primitive, NULL));
}

static void execute(const char *name, dnnl_primitive_t primitive, int count, const dnnl_exec_arg_t *arguments) {
  show(name, dnnl_primitive_execute(primitive, stream, count, arguments));
}

static void arguments(void) {
  dnnl_memory_t a = allocate(rows, engine), b = allocate(rows, engine), elsewhere = allocate(rows, second),
                other = allocate(turned, engine);
  dnnl_primitive_desc_t desc = NULL;
  dnnl_primitive_t softmax = NULL;
  dnnl_softmax_forward_primitive_desc_create(&desc, engine, INFER, ACCURATE, rows, rows, 1, NULL);
  dnnl_primitive_create(&softmax, desc);
  const dnnl_exec_arg_t right[] = {{DNNL_ARG_SRC, a}, {DNNL_ARG_DST, b}, {DNNL_ARG_SRC, a}},
                        inPlace[] = {{DNNL_ARG_SRC, a}, {DNNL_ARG_DST, a}}, noSrc[] = {{DNNL_ARG_DST, b}},
                        unknown[] = {{DNNL_ARG_SRC, a}, {DNNL_ARG_DST, b}, {DNNL_ARG_WEIGHTS, other}},
                        scratch[] = {{DNNL_ARG_SRC, a}, {DNNL_ARG_DST, b}, {DNNL_ARG_SCRATCHPAD, other}},
                        unset[] = {{DNNL_ARG_SRC, a}, {DNNL_ARG_DST, b}, {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, other}},
                        foreign[] = {{DNNL_ARG_SRC, elsewhere}, {DNNL_ARG_DST, b}},
                        reversed[] = {{DNNL_ARG_DST, b}, {DNNL_ARG_SRC, a}};
  execute("right", softmax, 2, right);
  execute("in place", softmax, 2, inPlace);
  execute("reversed", softmax, 2, reversed);
  execute("without dst", softmax, 1, right);
  execute("without src", softmax, 1, noSrc);
  execute("without any", softmax, 0, right);
  execute("twice", softmax, 3, right);
  execute("one that it does not take", softmax, 3, unknown);
  execute("a scratchpad that it does not need", softmax, 3, scratch);
  execute("scales that are not set", softmax, 3, unset);
  execute("memory of the second engine", softmax, 2, foreign);
  execute("null arguments", softmax, 2, NULL);
  execute("-1 arguments", softmax, -1, right);
  execute("null primitive", NULL, 2, right);
  show("null stream", dnnl_primitive_execute(softmax, NULL, 2, right));
  dnnl_stream_wait(stream);
  dnnl_primitive_destroy(softmax);
  dnnl_primitive_desc_destroy(desc);
  dnnl_memory_destroy(a);
  dnnl_memory_destroy(b);
  dnnl_memory_destroy(elsewhere);
  dnnl_memory_destroy(other);
}

static void memory(void) {
  dnnl_memory_t made = NULL;
  const dnnl_dims_t open = {DNNL_RUNTIME_DIM_VAL, 6};
  dnnl_memory_desc_t unknown = tagged(2, open, dnnl_f32, dnnl_ab);
  show("memory of any", dnnl_memory_create(&made, any, engine, DNNL_MEMORY_ALLOCATE));
  show("memory of runtime dims", dnnl_memory_create(&made, unknown, engine, DNNL_MEMORY_ALLOCATE));
  show("memory of nothing", dnnl_memory_create(&made, none, engine, DNNL_MEMORY_ALLOCATE));
  dnnl_memory_destroy(made);
  show("null descriptor", dnnl_memory_create(&made, NULL, engine, DNNL_MEMORY_ALLOCATE));
  show("null engine", dnnl_memory_create(&made, rows, NULL, DNNL_MEMORY_ALLOCATE));
  dnnl_memory_desc_destroy(unknown);
}

int main(void) {
  const dnnl_dims_t dims = {4, 6}, other = {6, 4}, zero = {0};
  dnnl_engine_create(&engine, dnnl_cpu, 0);
  dnnl_engine_create(&second, dnnl_cpu, 0);
  dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
  rows = tagged(2, dims, dnnl_f32, dnnl_ab);
  turned = tagged(2, dims, dnnl_f32, dnnl_ba);
  columns = tagged(2, other, dnnl_f32, dnnl_ab);
  ints = tagged(2, dims, dnnl_s32, dnnl_ab);
  any = tagged(2, dims, dnnl_f32, dnnl_format_tag_any);
  none = tagged(0, zero, dnnl_f32, dnnl_a);
  problems();
  arguments();
  memory();
  dnnl_memory_desc_t all[] = {rows, turned, columns, ints, any, none};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i)
    dnnl_memory_desc_destroy(all[i]);
  dnnl_stream_destroy(stream);
  dnnl_engine_destroy(engine);
  dnnl_engine_destroy(second);
  return 0;
}
