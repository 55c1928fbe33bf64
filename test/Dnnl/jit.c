// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels for a disassembler and for perf: object files in the working directory, lines of a perf map, records of a jitdump.
//
// REQUIRES: onednn-3.13
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %ours %s %t | FileCheck %s
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: env ONEDNN_JIT_DUMP=1 ONEDNN_JIT_PROFILE=6 JITDUMPDIR=%t.dir %ours %s %t | FileCheck %s
// RUN: %llvm/llvm-objdump -d %t.dir/dnnl_dump_cpu_softmax.0.o | FileCheck --check-prefix=CODE %s
// CHECK: object 7f 45 4c 46
// CHECK: another: no
// CHECK: map: {{[0-9a-f]+}} {{[1-9a-f][0-9a-f]*}} quern_softmax.step0
// CHECK: record 0 of {{[0-9]+}} bytes: quern_softmax.step0, whole 1
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
  dnnl_softmax_forward_primitive_desc_create(&desc, eng, dnnl_forward_inference, dnnl_softmax_accurate, data, data, 1, NULL);
  dnnl_primitive_create(&made, desc);
  dnnl_primitive_destroy(made);
  dnnl_primitive_desc_destroy(desc);
  dnnl_memory_desc_destroy(data);
}

static void showObject(void) {
  unsigned char magic[4] = {0};
  FILE *file = fopen("dnnl_dump_cpu_softmax.0.o", "r");
  if (file && fread(magic, 1, 4, file) == 4)
    printf("object %02x %02x %02x %02x\n", magic[0], magic[1], magic[2], magic[3]);
  printf("another: %s\n", access("dnnl_dump_cpu_softmax.1.o", F_OK) == 0 ? "yes" : "no");
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
  uint64_t words[12] = {0}; // header of 40 bytes, record of 56
  char name[64] = "";
  if (file && fread(words, 8, 12, file) == 12) {
    const uint32_t kind = (uint32_t)words[5], bytes = (uint32_t)(words[5] >> 32);
    for (size_t i = 0; i < sizeof(name) - 1 && fread(&name[i], 1, 1, file) == 1 && name[i]; ++i) {
    }
    const uint64_t address = words[8], codeBytes = words[10];
    char *code = malloc(codeBytes);
    const int isWhole = fread(code, 1, codeBytes, file) == codeBytes && bytes == 56 + strlen(name) + 1 + codeBytes && address != 0;
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
    makeSoftmax(eng, 5); // before anything is asked for
    dnnl_set_jit_dump(1);
    dnnl_set_jit_profiling_flags(DNNL_JIT_PROFILE_LINUX_PERF);
    dnnl_set_jit_profiling_jitdumpdir(".");
  }
  makeSoftmax(eng, 7);
  makeSoftmax(eng, 7); // from the cache
  dnnl_set_jit_dump(0);
  dnnl_set_jit_profiling_flags(DNNL_JIT_PROFILE_NONE);
  makeSoftmax(eng, 9);
  showObject();
  showMap();
  showDump();
  dnnl_engine_destroy(eng);
  return 0;
}
