// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks buffers of memory in C: allocated, caller-owned, absent and set later; mapping; functions with the index of a
// buffer; buffers that are aligned only to their elements.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "describe.h"

#include <string.h>

static dnnl_engine_t engine;
static dnnl_memory_desc_t desc, empty, none;

static void allocated(void) {
  dnnl_memory_t memory = NULL;
  void *handle = NULL, *mapped = NULL, *again = NULL;
  show("allocated", dnnl_memory_create(&memory, desc, engine, DNNL_MEMORY_ALLOCATE));
  show("handle", dnnl_memory_get_data_handle(memory, &handle));
  show("map", dnnl_memory_map_data(memory, &mapped));
  printf("a buffer %d\n", handle != NULL && mapped != NULL);
  memset(mapped, 7, dnnl_memory_desc_get_size(desc));
  show("unmap", dnnl_memory_unmap_data(memory, mapped));
  show("map again", dnnl_memory_map_data_v2(memory, &again, 0));
  printf("kept %d\n", ((const char *)again)[5]);
  show("unmap again", dnnl_memory_unmap_data_v2(memory, again, 0));
  const_dnnl_memory_desc_t its = NULL;
  dnnl_engine_t of = NULL;
  show("descriptor", dnnl_memory_get_memory_desc(memory, &its));
  show("engine", dnnl_memory_get_engine(memory, &of));
  printf("its own %d, of the engine %d\n", dnnl_memory_desc_equal(its, desc) && its != desc, of == engine);
  show("destroy", dnnl_memory_destroy(memory));
}

static void given(void) {
  float values[6] = {1, 2, 3, 4, 5, 6}, others[6] = {0};
  dnnl_memory_t memory = NULL;
  void *handle = NULL;
  show("given", dnnl_memory_create(&memory, desc, engine, values));
  dnnl_memory_get_data_handle(memory, &handle);
  printf("the same %d\n", handle == values);
  show("another", dnnl_memory_set_data_handle(memory, others));
  dnnl_memory_get_data_handle_v2(memory, &handle, 0);
  printf("the same %d\n", handle == others);
  show("none", dnnl_memory_set_data_handle_v2(memory, NULL, 0));
  dnnl_memory_get_data_handle(memory, &handle);
  printf("null %d\n", handle == NULL);
  show("second buffer", dnnl_memory_get_data_handle_v2(memory, &handle, 1));
  show("set a second", dnnl_memory_set_data_handle_v2(memory, values, 1));
  show("map a second", dnnl_memory_map_data_v2(memory, &handle, 1));
  show("unmap a second", dnnl_memory_unmap_data_v2(memory, values, 1));
  dnnl_memory_destroy(memory);
}

static void counted(void) {
  float values[6] = {0};
  void *handles[2] = {values, values}, *handle = NULL;
  dnnl_memory_t memory = NULL;
  show("one", dnnl_memory_create_v2(&memory, desc, engine, 1, handles));
  dnnl_memory_get_data_handle(memory, &handle);
  printf("the same %d\n", handle == values);
  dnnl_memory_destroy(memory);
  memory = NULL;
  show("none", dnnl_memory_create_v2(&memory, desc, engine, 0, NULL));
  show("-1", dnnl_memory_create_v2(&memory, desc, engine, -1, handles));
  handles[0] = DNNL_MEMORY_ALLOCATE;
  show("allocated", dnnl_memory_create_v2(&memory, desc, engine, 1, handles));
  dnnl_memory_get_data_handle(memory, &handle);
  printf("a buffer %d\n", handle != NULL);
  dnnl_memory_destroy(memory);
}

static void nothing(void) {
  dnnl_memory_t memory = NULL;
  show("empty", dnnl_memory_create(&memory, empty, engine, DNNL_MEMORY_ALLOCATE));
  void *mapped = &memory;
  show("map", dnnl_memory_map_data(memory, &mapped));
  show("unmap", dnnl_memory_unmap_data(memory, mapped));
  dnnl_memory_destroy(memory);
  show("zero", dnnl_memory_create(&memory, none, engine, DNNL_MEMORY_NONE));
  dnnl_memory_destroy(memory);
}

// A transposing copy between buffers that start at one byte and at one element past an aligned address.
static void unaligned(void) {
  char bytes[2][64];
  dnnl_memory_t from = NULL, to = NULL;
  dnnl_stream_t stream = NULL;
  dnnl_primitive_desc_t change = NULL;
  dnnl_primitive_t primitive = NULL;
  const dnnl_dims_t dims = {2, 3};
  dnnl_memory_desc_t turned = tagged(2, dims, dnnl_f32, dnnl_ba);
  const float values[6] = {1, 2, 3, 4, 5, 6};
  float taken[6];
  memcpy(bytes[0] + 4, values, sizeof(values));
  dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
  dnnl_memory_create(&from, desc, engine, bytes[0] + 4);
  dnnl_memory_create(&to, turned, engine, bytes[1] + 12);
  dnnl_reorder_primitive_desc_create(&change, desc, engine, turned, engine, NULL);
  dnnl_primitive_create(&primitive, change);
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  show("unaligned", dnnl_primitive_execute(primitive, stream, 2, arguments));
  dnnl_stream_wait(stream);
  memcpy(taken, bytes[1] + 12, sizeof(taken));
  for (int i = 0; i < 6; ++i)
    printf("%g ", taken[i]);
  printf("\n");
  dnnl_primitive_destroy(primitive);
  dnnl_primitive_desc_destroy(change);
  dnnl_memory_destroy(from);
  dnnl_memory_destroy(to);
  dnnl_memory_desc_destroy(turned);
  dnnl_stream_destroy(stream);
}

int main(void) {
  const dnnl_dims_t dims = {2, 3}, zero = {0, 3};
  dnnl_engine_create(&engine, dnnl_cpu, 0);
  desc = tagged(2, dims, dnnl_f32, dnnl_ab);
  empty = tagged(2, zero, dnnl_f32, dnnl_ab);
  none = tagged(0, zero, dnnl_f32, dnnl_a);
  allocated();
  given();
  counted();
  nothing();
  unaligned();
  dnnl_memory_desc_destroy(desc);
  dnnl_memory_desc_destroy(empty);
  dnnl_memory_desc_destroy(none);
  dnnl_engine_destroy(engine);
  return 0;
}
