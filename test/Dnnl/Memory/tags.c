// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks every format tag with shapes of each rank: the layout, or the status.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "describe.h"

int main(void) {
  const dnnl_dims_t dims = {3, 37, 5, 7, 2, 3, 2, 1, 2, 3, 1, 2};
  for (int tag = 0; tag < dnnl_format_tag_last; ++tag)
    for (int ndims = 1; ndims <= 12; ++ndims) {
      dnnl_memory_desc_t desc = NULL;
      const dnnl_status_t status =
          dnnl_memory_desc_create_with_tag(&desc, ndims, dims, dnnl_bf16, (dnnl_format_tag_t)tag);
      if (status == dnnl_success)
        describe(dnnl_fmt_tag2str((dnnl_format_tag_t)tag), status, desc);
      else if (ndims == 3)
        printf("%s: %s\n", dnnl_fmt_tag2str((dnnl_format_tag_t)tag), dnnl_status2str(status));
      dnnl_memory_desc_destroy(desc);
    }
  return 0;
}
