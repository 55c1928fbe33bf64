// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks sparse tensors: descriptors in each encoding, their queries by buffer index, sizes, blobs and comparison;
// memory with several buffers; refusals. No primitive of Quern supports them.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: csr: success sparse encoding=csr values=5 buffers=3 f32:20 s32:20 s64:40
// CHECK: coo: success sparse encoding=coo values=5 buffers=3 bf16:10 s32:20 s32:20
// CHECK: packed: success sparse encoding=packed values=5 buffers=3 s8:0 undef:0 undef:0
// CHECK: lines compared, 0 differ
#include "describe.h"

#include <stdint.h>

static void describeSparse(const char *name, dnnl_status_t status, const_dnnl_memory_desc_t desc) {
  printf("%s: %s", name, dnnl_status2str(status));
  if (status == dnnl_success && desc) {
    dnnl_format_kind_t kind = dnnl_format_kind_undef;
    dnnl_sparse_encoding_t encoding = dnnl_sparse_encoding_undef;
    dnnl_dim_t values = -1;
    int buffers = -1, ndims = -1;
    dnnl_memory_desc_query_v2(desc, dnnl_query_ndims_s32, 0, &ndims);
    dnnl_memory_desc_query_v2(desc, dnnl_query_format_kind, 0, &kind);
    dnnl_memory_desc_query_v2(desc, dnnl_query_sparse_encoding, 0, &encoding);
    dnnl_memory_desc_query_v2(desc, dnnl_query_nnz_s64, 0, &values);
    dnnl_memory_desc_query_v2(desc, dnnl_query_num_handles_s32, 0, &buffers);
    printf(" %s encoding=%s values=%" PRId64 " buffers=%d", dnnl_fmt_kind2str(kind), dnnl_sparse_encoding2str(encoding),
           values, buffers);
    for (int i = 0; i < buffers; ++i) {
      dnnl_data_type_t type = dnnl_data_type_undef;
      dnnl_memory_desc_query_v2(desc, dnnl_query_data_type, i, &type);
      printf(" %s:%zu", dnnl_dt2str(type), dnnl_memory_desc_get_size_v2(desc, i));
    }
    showQuery("dims", desc, dnnl_query_dims, ndims);
    showQuery("padded", desc, dnnl_query_padded_dims, ndims);
    showQuery("strides", desc, dnnl_query_strides, ndims);
  }
  printf("\n");
}

/// Prints the status of every query, with and without an index.
static void showQueries(const char *name, const_dnnl_memory_desc_t desc) {
  const dnnl_query_t all[] = {
      dnnl_query_ndims_s32,   dnnl_query_dims,           dnnl_query_data_type,       dnnl_query_submemory_offset_s64,
      dnnl_query_padded_dims, dnnl_query_padded_offsets, dnnl_query_format_kind,     dnnl_query_strides,
      dnnl_query_inner_blks,  dnnl_query_inner_idxs,     dnnl_query_inner_nblks_s32, dnnl_query_sparse_encoding,
      dnnl_query_nnz_s64,     dnnl_query_num_handles_s32};
  int64_t room[4];
  printf("queries of %s:", name);
  for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
    printf(" %d=%d", (int)all[i], (int)dnnl_memory_desc_query(desc, all[i], room));
    for (int index = 0; index < 2; ++index)
      printf(",%d", (int)dnnl_memory_desc_query_v2(desc, all[i], index, room));
  }
  printf("\n");
}

static void refuse(void) {
  const dnnl_dims_t dims = {4, 6}, cube = {2, 3, 4}, negative = {-1, 6};
  dnnl_memory_desc_t desc = NULL;
  show("three dims in csr", dnnl_memory_desc_create_with_csr_encoding(&desc, 3, cube, dnnl_f32, 5, dnnl_s32, dnnl_s32));
  show("three dims in coo", dnnl_memory_desc_create_with_coo_encoding(&desc, 3, cube, dnnl_f32, 5, dnnl_s32));
  show("a negative dim",
       dnnl_memory_desc_create_with_csr_encoding(&desc, 2, negative, dnnl_f32, 5, dnnl_s32, dnnl_s32));
  show("a negative rank", dnnl_memory_desc_create_with_csr_encoding(&desc, -1, dims, dnnl_f32, 5, dnnl_s32, dnnl_s32));
  show("no dims", dnnl_memory_desc_create_with_coo_encoding(&desc, 2, NULL, dnnl_f32, 5, dnnl_s32));
  show("no type", dnnl_memory_desc_create_with_coo_encoding(&desc, 2, dims, dnnl_data_type_undef, 5, dnnl_s32));
  show("nowhere to", dnnl_memory_desc_create_with_packed_encoding(NULL, 2, dims, dnnl_f32, 5));
}

static void useMemory(dnnl_engine_t eng, const_dnnl_memory_desc_t csr) {
  float values[5] = {1, 2, 3, 4, 5};
  int32_t columns[5] = {0, 5, 1, 2, 3};
  int64_t rows[5] = {0, 2, 3, 3, 5}, otherRows[5] = {0, 1, 2, 3, 5};
  void *handles[3] = {values, columns, rows}, *found = NULL, *mapped = NULL;
  dnnl_memory_t memory = NULL;
  show("memory of three buffers", dnnl_memory_create_v2(&memory, csr, eng, 3, handles));
  for (int i = 0; i < 3; ++i) {
    dnnl_memory_get_data_handle_v2(memory, &found, i);
    const dnnl_status_t status = dnnl_memory_map_data_v2(memory, &mapped, i);
    printf("buffer %d: given %d mapped %s %d\n", i, found == handles[i], dnnl_status2str(status), mapped == handles[i]);
    show("unmap", dnnl_memory_unmap_data_v2(memory, mapped, i));
  }
  show("set", dnnl_memory_set_data_handle_v2(memory, otherRows, 2));
  dnnl_memory_get_data_handle_v2(memory, &found, 2);
  printf("set %d\n", found == otherRows);
  show("the first without its index", dnnl_memory_get_data_handle(memory, &found));
  printf("first %d\n", found == values);
  const_dnnl_memory_desc_t same = NULL;
  dnnl_memory_get_memory_desc(memory, &same);
  printf("its descriptor %d\n", dnnl_memory_desc_equal(same, csr));
  dnnl_memory_destroy(memory);

  for (int i = 0; i < 3; ++i)
    handles[i] = DNNL_MEMORY_ALLOCATE;
  show("memory of its own", dnnl_memory_create_v2(&memory, csr, eng, 3, handles));
  for (int i = 0; i < 3; ++i) {
    dnnl_memory_get_data_handle_v2(memory, &found, i);
    printf("buffer %d: %d\n", i, found != NULL);
  }
  dnnl_memory_destroy(memory);
  show("no buffers", dnnl_memory_create_v2(&memory, csr, eng, 0, handles));
  show("null for all", dnnl_memory_create_v2(&memory, csr, eng, 3, NULL));
}

int main(void) {
  const dnnl_dims_t dims = {4, 6}, open = {DNNL_RUNTIME_DIM_VAL, 6}, seven = {1, 2, 1, 2, 1, 2, 1};
  dnnl_engine_t eng;
  dnnl_engine_create(&eng, dnnl_cpu, 0);
  dnnl_memory_desc_t csr = NULL, coo = NULL, packed = NULL, other = NULL, copy = NULL;
  describeSparse("csr", dnnl_memory_desc_create_with_csr_encoding(&csr, 2, dims, dnnl_f32, 5, dnnl_s32, dnnl_s64), csr);
  describeSparse("coo", dnnl_memory_desc_create_with_coo_encoding(&coo, 2, dims, dnnl_bf16, 5, dnnl_s32), coo);
  describeSparse("packed", dnnl_memory_desc_create_with_packed_encoding(&packed, 2, dims, dnnl_s8, 5), packed);
  showQueries("csr", csr);
  showQueries("coo", coo);
  showQueries("packed", packed);
  other = tagged(2, dims, dnnl_f32, dnnl_ab);
  showQueries("a dense tensor", other);
  printf("dense and sparse equal: %d\n", dnnl_memory_desc_equal(csr, other));
  dnnl_memory_desc_destroy(other);

  show("more values", dnnl_memory_desc_create_with_csr_encoding(&other, 2, dims, dnnl_f32, 6, dnnl_s32, dnnl_s64));
  printf("equal: %d\n", dnnl_memory_desc_equal(csr, other));
  dnnl_memory_desc_destroy(other);
  show("other pointers", dnnl_memory_desc_create_with_csr_encoding(&other, 2, dims, dnnl_f32, 5, dnnl_s32, dnnl_s32));
  printf("equal: %d\n", dnnl_memory_desc_equal(csr, other));
  dnnl_memory_desc_destroy(other);
  show("none at all", dnnl_memory_desc_create_with_coo_encoding(&other, 1, dims, dnnl_f32, 0, dnnl_s32));
  printf("bytes: %zu\n", dnnl_memory_desc_get_size_v2(other, 0));
  dnnl_memory_desc_destroy(other);
  describeSparse("of rank 7", dnnl_memory_desc_create_with_packed_encoding(&other, 7, seven, dnnl_f32, 5), other);
  dnnl_memory_desc_destroy(other);
  show("rows given later", dnnl_memory_desc_create_with_csr_encoding(&other, 2, open, dnnl_f32, 5, dnnl_s32, dnnl_s32));
  dnnl_memory_desc_destroy(other);
  show("rank 0", dnnl_memory_desc_create_with_csr_encoding(&other, 0, dims, dnnl_f32, 5, dnnl_s32, dnnl_s32));
  dnnl_memory_desc_destroy(other);

  show("clone", dnnl_memory_desc_clone(&copy, csr));
  printf("equal: %d\n", dnnl_memory_desc_equal(csr, copy));
  dnnl_memory_desc_destroy(copy);
  uint8_t blob[1024];
  size_t size = sizeof(blob);
  show("blob", dnnl_memory_desc_get_blob(blob, &size, coo));
  show("from the blob", dnnl_memory_desc_create_with_blob(&copy, blob));
  printf("equal: %d\n", dnnl_memory_desc_equal(coo, copy));
  dnnl_memory_desc_destroy(copy);

  const dnnl_dims_t part = {1, 1}, start = {0, 0}, flat = {24};
  const int swapped[] = {1, 0};
  show("a region", dnnl_memory_desc_create_submemory(&other, csr, part, start));
  show("another shape", dnnl_memory_desc_reshape(&other, csr, 1, flat));
  show("axes swapped", dnnl_memory_desc_permute_axes(&other, csr, swapped));
  refuse();
  useMemory(eng, csr);

  dnnl_primitive_desc_t pd = NULL;
  dnnl_memory_desc_t dense = tagged(2, dims, dnnl_f32, dnnl_ab);
  const const_dnnl_memory_desc_t sources[] = {csr, dense};
  const float scales[] = {1, 1};
  show("reorder from", dnnl_reorder_primitive_desc_create(&pd, csr, eng, dense, eng, NULL));
  show("reorder to", dnnl_reorder_primitive_desc_create(&pd, dense, eng, csr, eng, NULL));
  show("sum", dnnl_sum_primitive_desc_create(&pd, eng, dense, 2, scales, sources, NULL));
  show("concat", dnnl_concat_primitive_desc_create(&pd, eng, NULL, 2, 0, sources, NULL));
  dnnl_memory_desc_destroy(dense);
  dnnl_memory_desc_destroy(csr);
  dnnl_memory_desc_destroy(coo);
  dnnl_memory_desc_destroy(packed);
  dnnl_engine_destroy(eng);
  return 0;
}
