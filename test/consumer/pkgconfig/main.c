/*===- main.c - A C program that uses an installed Quern -------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Built with the flags of `pkg-config quern`. Computes a softmax, checks that
 * every row sums to 1, and transposes a matrix. It also shows that the public
 * headers are valid C.
 *===----------------------------------------------------------------------===*/
#include "quern/quern.h"

#include <math.h>
#include <stdio.h>

enum { rows = 7, columns = 33 };

static float src[rows * columns], dst[rows * columns];

static int report(const char *what) {
  fprintf(stderr, "%s: %s\n", what, quern_get_last_error_message());
  return 1;
}

static int compute(quern_engine_t engine, quern_primitive_desc_t desc) {
  const_quern_memory_desc_t srcDesc = quern_primitive_desc_query_md(desc, quern_query_src_md, 0);
  const_quern_memory_desc_t dstDesc = quern_primitive_desc_query_md(desc, quern_query_dst_md, 0);
  quern_stream_t stream = NULL;
  quern_memory_t srcMemory = NULL, dstMemory = NULL;
  quern_primitive_t primitive = NULL;
  int failed = quern_stream_create(&stream, engine, quern_stream_default_flags) != quern_success ||
               quern_memory_create(&srcMemory, srcDesc, engine, src) != quern_success ||
               quern_memory_create(&dstMemory, dstDesc, engine, dst) != quern_success ||
               quern_primitive_create(&primitive, desc) != quern_success;
  quern_exec_arg_t args[] = {{QUERN_ARG_SRC, srcMemory}, {QUERN_ARG_DST, dstMemory}};
  failed = failed || quern_primitive_execute(primitive, stream, 2, args) != quern_success ||
           quern_stream_wait(stream) != quern_success;
  if (failed)
    report("softmax");
  quern_primitive_destroy(primitive);
  quern_memory_destroy(dstMemory);
  quern_memory_destroy(srcMemory);
  quern_stream_destroy(stream);
  return failed;
}

/* Transposes dst into memory that the library allocates, and checks it. */
static int turn(quern_engine_t engine) {
  const quern_dims_t dims = {rows, columns};
  quern_memory_desc_t srcDesc = NULL, dstDesc = NULL;
  quern_memory_t srcMemory = NULL, dstMemory = NULL;
  quern_primitive_desc_t desc = NULL;
  quern_primitive_t primitive = NULL;
  quern_stream_t stream = NULL;
  void *mapped = NULL;
  int failed = quern_memory_desc_create_with_string_tag(&srcDesc, 2, dims, quern_f32, "ab") != quern_success ||
               quern_memory_desc_create_with_string_tag(&dstDesc, 2, dims, quern_f32, "ba") != quern_success ||
               quern_memory_create(&srcMemory, srcDesc, engine, dst) != quern_success ||
               quern_memory_create(&dstMemory, dstDesc, engine, QUERN_MEMORY_ALLOCATE) != quern_success ||
               quern_reorder_primitive_desc_create(&desc, srcDesc, engine, dstDesc, engine, NULL) != quern_success ||
               quern_primitive_create(&primitive, desc) != quern_success ||
               quern_stream_create(&stream, engine, quern_stream_default_flags) != quern_success;
  quern_exec_arg_t args[] = {{QUERN_ARG_FROM, srcMemory}, {QUERN_ARG_TO, dstMemory}};
  failed = failed || quern_primitive_execute(primitive, stream, 2, args) != quern_success ||
           quern_stream_wait(stream) != quern_success || quern_memory_map_data(dstMemory, &mapped) != quern_success;
  if (failed)
    report("reorder");
  for (int i = 0; !failed && i < rows * columns; ++i)
    failed = ((const float *)mapped)[i % columns * rows + i / columns] != dst[i];
  quern_memory_unmap_data(dstMemory, mapped);
  quern_stream_destroy(stream);
  quern_primitive_destroy(primitive);
  quern_primitive_desc_destroy(desc);
  quern_memory_destroy(dstMemory);
  quern_memory_destroy(srcMemory);
  quern_memory_desc_destroy(dstDesc);
  quern_memory_desc_destroy(srcDesc);
  return failed;
}

int main(void) {
  quern_engine_t engine = NULL;
  quern_primitive_desc_t desc = NULL;
  for (int i = 0; i < rows * columns; ++i)
    src[i] = (float)(i % 11) - 5.0f;
  if (quern_engine_create(&engine, quern_cpu, 0) != quern_success)
    return report("engine");
  if (quern_primitive_desc_create_from_text(
          &desc, engine, "softmax fwd_i alg=accurate src=f32:7x33:ab dst=f32:7x33:ab axis=1") != quern_success)
    return report("descriptor");
  int failed = compute(engine, desc);
  quern_primitive_desc_destroy(desc);
  failed = turn(engine) || failed;
  quern_engine_destroy(engine);
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int column = 0; column < columns; ++column)
      sum += dst[row * columns + column];
    failed = failed || fabs(sum - 1) > 1e-5;
  }
  puts(failed ? "wrong" : "every row sums to 1");
  return failed;
}
