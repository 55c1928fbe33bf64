// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints a memory descriptor through its queries, in C.
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "oneapi/dnnl/dnnl.h"
#include "oneapi/dnnl/dnnl_debug.h"

#include <inttypes.h>
#include <stdio.h>

static inline void show(const char *name, dnnl_status_t status) { printf("%s: %s\n", name, dnnl_status2str(status)); }

static inline void showList(const char *name, const dnnl_dims_t *values, int count) {
  printf(" %s=", name);
  for (int d = 0; d < count; ++d)
    printf("%s%" PRId64, d ? "x" : "", (*values)[d]);
}

static inline void showQuery(const char *name, const_dnnl_memory_desc_t desc, dnnl_query_t what, int count) {
  const dnnl_dims_t *values = NULL;
  const dnnl_status_t status = dnnl_memory_desc_query(desc, what, (void *)&values);
  if (status == dnnl_success)
    showList(name, values, count);
  else
    printf(" %s:%s", name, dnnl_status2str(status));
}

/// Returns a descriptor with a tag, or null.
static inline dnnl_memory_desc_t tagged(int ndims, const dnnl_dim_t *dims, dnnl_data_type_t type,
                                        dnnl_format_tag_t tag) {
  dnnl_memory_desc_t desc = NULL;
  dnnl_memory_desc_create_with_tag(&desc, ndims, dims, type, tag);
  return desc;
}

/// Prints one line: the status of creating the descriptor, and the answers to all queries.
static inline void describe(const char *name, dnnl_status_t status, const_dnnl_memory_desc_t desc) {
  printf("%s: %s", name, dnnl_status2str(status));
  if (status == dnnl_success && desc) {
    int ndims = 0, blocks = 0;
    dnnl_data_type_t type = dnnl_data_type_undef;
    dnnl_format_kind_t kind = dnnl_format_kind_undef;
    dnnl_dim_t offset = 0;
    dnnl_memory_desc_query(desc, dnnl_query_ndims_s32, &ndims);
    dnnl_memory_desc_query(desc, dnnl_query_data_type, &type);
    dnnl_memory_desc_query(desc, dnnl_query_format_kind, &kind);
    dnnl_memory_desc_query(desc, dnnl_query_submemory_offset_s64, &offset);
    printf(" %s %s ndims=%d offset=%" PRId64, dnnl_dt2str(type), dnnl_fmt_kind2str(kind), ndims, offset);
    // Quern counts the bytes before the offset: the buffer of a region starts at the whole tensor.
    if (offset == 0)
      printf(" bytes=%zu", dnnl_memory_desc_get_size(desc));
    showQuery("dims", desc, dnnl_query_dims, ndims);
    showQuery("padded", desc, dnnl_query_padded_dims, ndims);
    showQuery("offsets", desc, dnnl_query_padded_offsets, ndims);
    if (kind == dnnl_blocked) {
      dnnl_memory_desc_query(desc, dnnl_query_inner_nblks_s32, &blocks);
      showQuery("strides", desc, dnnl_query_strides, ndims);
      showQuery("blocks", desc, dnnl_query_inner_blks, blocks);
      showQuery("of", desc, dnnl_query_inner_idxs, blocks);
    }
  }
  printf("\n");
}

#endif // DESCRIBE_H
