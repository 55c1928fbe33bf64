// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks engines and streams in C: their number, flags, the engines of objects, the lifetime of an engine after its
// handle is destroyed, and profiling.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#define DNNL_EXPERIMENTAL_PROFILING
#include "describe.h"

static void engines(void) {
  printf("cpus %zu, gpus %zu, any %zu\n", dnnl_engine_get_count(dnnl_cpu), dnnl_engine_get_count(dnnl_gpu),
         dnnl_engine_get_count(dnnl_any_engine));
  dnnl_engine_t engine = NULL;
  show("cpu 1", dnnl_engine_create(&engine, dnnl_cpu, 1));
  show("gpu", dnnl_engine_create(&engine, dnnl_gpu, 0));
  show("any", dnnl_engine_create(&engine, dnnl_any_engine, 0));
  dnnl_engine_kind_t kind;
  show("kind of null", dnnl_engine_get_kind(NULL, &kind));
  show("destroy null", dnnl_engine_destroy(NULL));
  show("cpu", dnnl_engine_create(&engine, dnnl_cpu, 0));
  show("destroy", dnnl_engine_destroy(engine));
}

static void streams(dnnl_engine_t engine) {
  for (unsigned flags = 0; flags < 9; ++flags) {
    if (flags & dnnl_stream_profiling) // oneDNN supports it only on GPUs
      continue;
    dnnl_stream_t stream = NULL;
    printf("flags %u: ", flags);
    const dnnl_status_t status = dnnl_stream_create(&stream, engine, flags);
    show("stream", status);
    if (status == dnnl_success) {
      dnnl_engine_t back = NULL;
      show("engine", dnnl_stream_get_engine(stream, &back));
      show("wait", dnnl_stream_wait(stream));
      show("wait again", dnnl_stream_wait(stream));
      printf("same %d\n", back == engine);
    }
    show("destroy", dnnl_stream_destroy(stream));
  }
  dnnl_stream_t stream = NULL;
  show("no engine", dnnl_stream_create(&stream, NULL, dnnl_stream_default_flags));
}

// An engine lives as long as the objects that were created from it.
static void lives(void) {
  dnnl_engine_t engine = NULL, back = NULL;
  dnnl_stream_t stream = NULL;
  dnnl_memory_t memory = NULL;
  const dnnl_dims_t dims = {4};
  dnnl_memory_desc_t desc = tagged(1, dims, dnnl_f32, dnnl_a);
  dnnl_engine_create(&engine, dnnl_cpu, 0);
  dnnl_memory_create(&memory, desc, engine, DNNL_MEMORY_ALLOCATE);
  dnnl_primitive_desc_t copy = NULL;
  show("reorder", dnnl_reorder_primitive_desc_create(&copy, desc, engine, desc, engine, NULL));
  dnnl_primitive_t primitive = NULL;
  show("primitive", dnnl_primitive_create(&primitive, copy));
  show("stream", dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
  show("engine of memory", dnnl_memory_get_engine(memory, &back));
  printf("same %d\n", back == engine);
  show("destroy descriptor", dnnl_primitive_desc_destroy(copy));
  dnnl_memory_desc_destroy(desc);
  const_dnnl_primitive_desc_t kept = NULL;
  show("descriptor of primitive", dnnl_primitive_get_primitive_desc(primitive, &kept));
  show("query", dnnl_primitive_desc_query(kept, dnnl_query_engine, 0, &back));
  printf("same %d\n", back == engine);
  dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, memory}, {DNNL_ARG_TO, memory}};
  show("execute", dnnl_primitive_execute(primitive, stream, 2, args));
  show("wait", dnnl_stream_wait(stream));
  dnnl_primitive_destroy(primitive);
  dnnl_memory_destroy(memory);
  dnnl_stream_destroy(stream);
  dnnl_engine_destroy(engine);
}

int main(void) {
  dnnl_engine_t engine = NULL;
  engines();
  dnnl_engine_create(&engine, dnnl_cpu, 0);
  streams(engine);
  lives();
  dnnl_engine_destroy(engine);
  return 0;
}
