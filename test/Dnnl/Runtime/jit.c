// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks kernels for a disassembler and for perf: object files in the working directory, lines of a perf map, records
// of a jitdump. A kernel that a query of the descriptor has loaded, before the primitive was created, is included. A
// function that several steps call is listed once.
//
// REQUIRES: onednn-3.13
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %ours %s %t | FileCheck %s
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: env ONEDNN_JIT_DUMP=1 ONEDNN_JIT_PROFILE=6 JITDUMPDIR=%t.dir %ours %s %t | FileCheck %s
// RUN: %llvm/llvm-objdump -d %t.dir/dnnl_dump_cpu_softmax.0.o | FileCheck --check-prefix=CODE %s
// CHECK: dnnl_dump_cpu_softmax.0.o 7f 45 4c 46
// CHECK-NEXT: dnnl_dump_cpu_softmax.1.o none
// CHECK-NEXT: dnnl_dump_cpu_rnn.1.o 7f 45 4c 46
// CHECK-NEXT: dnnl_dump_cpu_rnn.2.o none
// CHECK-NEXT: map: {{[0-9a-f]+}} {{[1-9a-f][0-9a-f]*}} quern_softmax.kernel0
// CHECK-NEXT: map: {{[0-9a-f]+}} {{[1-9a-f][0-9a-f]*}} quern_rnn.kernel0
// CHECK-NOT: map: {{[0-9a-f]+}} 0
// CHECK: record 0 of {{[0-9]+}} bytes: quern_softmax.kernel0, whole 1
// CODE: <{{.+}}>:
// CODE: ret
#include "oneapi/dnnl/dnnl.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void makeSoftmax(dnnl_engine_t eng, dnnl_dim_t columns) {
  const dnnl_dims_t dims = {3, columns};
  dnnl_memory_desc_t data;
  dnnl_primitive_desc_t desc;
  dnnl_primitive_t made;
  dnnl_memory_desc_create_with_tag(&data, 2, dims, dnnl_f32, dnnl_ab);
  dnnl_softmax_forward_primitive_desc_create(&desc, eng, dnnl_forward_inference, dnnl_softmax_accurate, data, data, 1,
                                             NULL);
  dnnl_primitive_create(&made, desc);
  dnnl_primitive_destroy(made);
  dnnl_primitive_desc_destroy(desc);
  dnnl_memory_desc_destroy(data);
}

/// Creates an LSTM after a query of its memory, like a program that passes a scratchpad.
static void makeLstm(dnnl_engine_t eng) {
  const dnnl_dims_t layer = {5, 3, 16}, state = {1, 1, 3, 16}, weights = {1, 1, 16, 4, 16}, bias = {1, 1, 4, 16};
  dnnl_memory_desc_t x, h, w, b;
  dnnl_primitive_desc_t desc;
  dnnl_primitive_t made;
  int64_t bytes = 0;
  dnnl_memory_desc_create_with_tag(&x, 3, layer, dnnl_f32, dnnl_tnc);
  dnnl_memory_desc_create_with_tag(&h, 4, state, dnnl_f32, dnnl_ldnc);
  dnnl_memory_desc_create_with_tag(&w, 5, weights, dnnl_f32, dnnl_format_tag_any);
  dnnl_memory_desc_create_with_tag(&b, 4, bias, dnnl_f32, dnnl_ldgo);
  dnnl_lstm_forward_primitive_desc_create(&desc, eng, dnnl_forward_inference, dnnl_unidirectional_left2right, x, h, h,
                                          w, w, NULL, NULL, b, x, h, h, 0, NULL);
  dnnl_primitive_desc_query(desc, dnnl_query_memory_consumption_s64, 0, &bytes);
  dnnl_primitive_create(&made, desc);
  dnnl_primitive_destroy(made);
  dnnl_primitive_desc_destroy(desc);
  for (dnnl_memory_desc_t *md = (dnnl_memory_desc_t[]){x, h, w, b, NULL}; *md; ++md)
    dnnl_memory_desc_destroy(*md);
}

static void showObject(const char *name) {
  unsigned char magic[4] = {0};
  FILE *file = fopen(name, "r");
  if (file && fread(magic, 1, 4, file) == 4)
    printf("%s %02x %02x %02x %02x\n", name, magic[0], magic[1], magic[2], magic[3]);
  else
    printf("%s none\n", name);
  if (file)
    fclose(file);
}

static void showMap(void) {
  char path[64], line[256];
  snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof(line), file))
    printf("map: %s", line);
  if (file)
    fclose(file);
  remove(path);
}

static void showDump(void) {
  char path[64];
  glob_t found;
  snprintf(path, sizeof(path), ".debug/jit/dnnl.*/jit-%d.dump", (int)getpid());
  if (glob(path, 0, NULL, &found) != 0)
    return;
  FILE *file = fopen(found.gl_pathv[0], "r");
  uint64_t words[12] = {0}; // a header of 40 bytes, a record of 56
  char name[64] = "";
  if (file && fread(words, 8, 12, file) == 12) {
    const uint32_t kind = (uint32_t)words[5], bytes = (uint32_t)(words[5] >> 32);
    for (size_t i = 0; i < sizeof(name) - 1 && fread(&name[i], 1, 1, file) == 1 && name[i]; ++i) {}
    const uint64_t address = words[8], codeBytes = words[10];
    char *code = malloc(codeBytes);
    const int isWhole =
        fread(code, 1, codeBytes, file) == codeBytes && bytes == 56 + strlen(name) + 1 + codeBytes && address != 0;
    printf("record %u of %u bytes: %s, whole %d\n", kind, bytes, name, isWhole);
    free(code);
  }
  if (file)
    fclose(file);
  globfree(&found);
}

int main(void) {
  dnnl_engine_t eng;
  dnnl_engine_create(&eng, dnnl_cpu, 0);
  if (!getenv("ONEDNN_JIT_DUMP")) {
    makeSoftmax(eng, 5); // before dumps are enabled
    dnnl_set_jit_dump(1);
    dnnl_set_jit_profiling_flags(DNNL_JIT_PROFILE_LINUX_PERF);
    dnnl_set_jit_profiling_jitdumpdir(".");
  }
  makeSoftmax(eng, 7);
  makeSoftmax(eng, 7); // from the cache
  makeLstm(eng);
  dnnl_set_jit_dump(0);
  dnnl_set_jit_profiling_flags(DNNL_JIT_PROFILE_NONE);
  makeSoftmax(eng, 9);
  showObject("dnnl_dump_cpu_softmax.0.o");
  showObject("dnnl_dump_cpu_softmax.1.o");
  showObject("dnnl_dump_cpu_rnn.1.o");
  showObject("dnnl_dump_cpu_rnn.2.o");
  showMap();
  showDump();
  dnnl_engine_destroy(eng);
  return 0;
}
