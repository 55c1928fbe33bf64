// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks memory descriptors: constructors, regions, reshapes, comparison, sizes in bytes, and refusals.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "describe.h"

#include <stdlib.h>

static void views(void) {
  dnnl_memory_desc_t parent, part, other;
  const dnnl_dims_t dims = {8, 32, 6, 10}, partDims = {4, 16, 3, 5}, offsets = {2, 16, 1, 4}, odd = {2, 3, 1, 4};
  describe("parent", dnnl_memory_desc_create_with_tag(&parent, 4, dims, dnnl_f32, dnnl_nChw16c), parent);
  describe("part", dnnl_memory_desc_create_submemory(&part, parent, partDims, offsets), part);
  dnnl_memory_desc_destroy(part);
  printf("not at a block: %s\n", dnnl_status2str(dnnl_memory_desc_create_submemory(&part, parent, partDims, odd)));
  printf("too large: %s\n", dnnl_status2str(dnnl_memory_desc_create_submemory(&part, parent, dims, offsets)));

  const int permutation[] = {1, 0, 3, 2}, twice[] = {0, 0, 1, 2};
  describe("permuted", dnnl_memory_desc_permute_axes(&other, parent, permutation), other);
  dnnl_memory_desc_destroy(other);
  printf("no permutation: %s\n", dnnl_status2str(dnnl_memory_desc_permute_axes(&other, parent, twice)));
  dnnl_memory_desc_destroy(parent);

  const dnnl_dims_t flat = {256, 60}, split = {2, 4, 32, 3, 2, 10, 1}, wrong = {7, 32};
  describe("plain", dnnl_memory_desc_create_with_strides(&parent, 4, dims, dnnl_s8, NULL), parent);
  describe("merged", dnnl_memory_desc_reshape(&other, parent, 2, flat), other);
  dnnl_memory_desc_destroy(other);
  describe("split", dnnl_memory_desc_reshape(&other, parent, 7, split), other);
  dnnl_memory_desc_destroy(other);
  printf("other volume: %s\n", dnnl_status2str(dnnl_memory_desc_reshape(&other, parent, 2, wrong)));
  dnnl_memory_desc_destroy(parent);
}

static void bytes(void) {
  dnnl_memory_desc_t desc, clone, copy;
  const dnnl_dims_t dims = {5, 7}, strides = {9, 1};
  describe("strided", dnnl_memory_desc_create_with_strides(&desc, 2, dims, dnnl_u8, strides), desc);
  size_t size = 0;
  printf("size: %s", dnnl_status2str(dnnl_memory_desc_get_blob(NULL, &size, desc)));
  printf(" %zu\n", size);
  uint8_t *blob = malloc(size);
  printf("get: %s\n", dnnl_status2str(dnnl_memory_desc_get_blob(blob, &size, desc)));
  describe("copy", dnnl_memory_desc_create_with_blob(&copy, blob), copy);
  describe("clone", dnnl_memory_desc_clone(&clone, desc), clone);
  printf("equal: %d %d\n", dnnl_memory_desc_equal(desc, copy), dnnl_memory_desc_equal(desc, clone));
  printf("destroy: %s\n", dnnl_status2str(dnnl_memory_desc_destroy(copy)));
  free(blob);
  dnnl_memory_desc_destroy(clone);
  dnnl_memory_desc_destroy(desc);
}

// Exported by oneDNN's builds without a declaration.
dnnl_status_t dnnl_memory_desc_create_with_string_tag(dnnl_memory_desc_t *, int, const dnnl_dims_t, dnnl_data_type_t,
                                                      const char *);
dnnl_status_t dnnl_memory_desc_set_data_type(dnnl_memory_desc_t, dnnl_data_type_t);

static void undeclared(void) {
  dnnl_memory_desc_t desc;
  const dnnl_dims_t dims = {5, 7, 3, 2};
  describe("by name", dnnl_memory_desc_create_with_string_tag(&desc, 4, dims, dnnl_f32, "aBcd16b"), desc);
  describe("other type", dnnl_memory_desc_set_data_type(desc, dnnl_s8), desc);
  dnnl_memory_desc_destroy(desc);
}

static void refused(void) {
  dnnl_memory_desc_t desc = NULL;
  const dnnl_dims_t dims = {5, 7}, negative = {5, -7}, empty = {5, 0};
  describe("zero", dnnl_memory_desc_create_with_tag(&desc, 0, dims, dnnl_f32, dnnl_ab), desc);
  dnnl_memory_desc_destroy(desc);
  describe("empty", dnnl_memory_desc_create_with_tag(&desc, 2, empty, dnnl_f32, dnnl_ab), desc);
  dnnl_memory_desc_destroy(desc);
  describe("any", dnnl_memory_desc_create_with_tag(&desc, 2, dims, dnnl_f32, dnnl_format_tag_any), desc);
  dnnl_memory_desc_destroy(desc);
  printf("13 dims: %s\n", dnnl_status2str(dnnl_memory_desc_create_with_tag(&desc, 13, dims, dnnl_f32, dnnl_ab)));
  printf("negative: %s\n", dnnl_status2str(dnnl_memory_desc_create_with_tag(&desc, 2, negative, dnnl_f32, dnnl_ab)));
  printf("tag: %s\n", dnnl_status2str(dnnl_memory_desc_create_with_tag(&desc, 2, dims, dnnl_f32, dnnl_abc)));
  printf("no tag: %s\n",
         dnnl_status2str(dnnl_memory_desc_create_with_tag(&desc, 2, dims, dnnl_f32, dnnl_format_tag_undef)));
  printf("null: %s\n", dnnl_status2str(dnnl_memory_desc_create_with_tag(NULL, 2, dims, dnnl_f32, dnnl_ab)));
  printf("null dims: %s\n", dnnl_status2str(dnnl_memory_desc_create_with_strides(&desc, 2, NULL, dnnl_f32, NULL)));
  for (int type = 0; type < 16; ++type)
    printf("%s: %zu\n", dnnl_dt2str((dnnl_data_type_t)type), dnnl_data_type_size((dnnl_data_type_t)type));
}

int main(void) {
  views();
  bytes();
  undeclared();
  refused();
  return 0;
}
