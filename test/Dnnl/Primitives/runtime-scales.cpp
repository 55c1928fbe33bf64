// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that vectors of scales and zero points may have any dims in reorders with known and open sizes: oneDNN reads
// the buffer whatever its descriptor is.
//
// REQUIRES: onednn-3.13
// RUN: %both --tolerance=1e-5 %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

engine eng(engine::kind::cpu, 0);
stream strm(eng);
constexpr memory::dim open = DNNL_RUNTIME_DIM_VAL;

/// Returns dense row-major memory with these dims; its values do not depend on the dims.
memory vectorOf(const memory::dims &dims, type of, unsigned seed) {
  memory::dims strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;)
    strides[d - 1] = strides[d] * dims[d];
  memory made({dims, of, strides}, eng);
  size_t count = 1;
  for (memory::dim dim : dims)
    count *= static_cast<size_t>(dim);
  if (of == type::s32) {
    std::vector<int32_t> values(count);
    for (size_t i = 0; i < count; ++i)
      values[i] = static_cast<int32_t>(i * seed % 7) - 3;
    fill(made, values);
  } else {
    fill(made, someValues(count, seed));
  }
  return made;
}

void reorderWith(const char *name, const memory::dims &known, int mask, int flag,
                 const std::vector<memory::dims> &shapes) {
  const memory::dims data{2, 16, 3, 4};
  primitive_attr attr;
  if (flag == DNNL_ARG_ATTR_SCALES)
    attr.set_scales_mask(DNNL_ARG_SRC, mask);
  else
    attr.set_zero_points_mask(DNNL_ARG_SRC, mask);
  const type from = flag == DNNL_ARG_ATTR_SCALES ? type::f32 : type::s8; // zero points apply to integers
  reorder::primitive_desc desc(eng, {known, from, tag::abcd}, eng, {known, type::f32, tag::acdb}, attr, true);
  for (const memory::dims &shape : shapes) {
    if (!desc) {
      std::printf("%s: refused\n", name);
      continue;
    }
    memory src({data, from, tag::abcd}, eng), dst({data, type::f32, tag::acdb}, eng);
    const std::vector<float> values = someValues(384, 1);
    from == type::f32 ? fill(src, values) : fill(src, std::vector<int8_t>(values.begin(), values.end()));
    reorder(desc).execute(strm, {{DNNL_ARG_FROM, src},
                                 {DNNL_ARG_TO, dst},
                                 {flag | DNNL_ARG_SRC, vectorOf(shape, from == type::f32 ? type::f32 : type::s32, 5)}});
    strm.wait();
    print(name, read<float>(dst));
  }
}

} // namespace

int main() {
  const memory::dims known{2, 16, 3, 4}, all{open, open, open, open};
  for (const memory::dims &sizes : {known, all}) {
    // oneDNN reads one zero point, whatever the mask is.
    reorderWith("point", sizes, 0, DNNL_ARG_ATTR_ZERO_POINTS, {{1}, {1, 1}, {1, 1, 1, 1}});
    reorderWith("none", sizes, 0, DNNL_ARG_ATTR_SCALES, {{1}, {1, 1}, {1, 1, 1, 1}});
    reorderWith("one", sizes, 2, DNNL_ARG_ATTR_SCALES, {{16}, {1, 16}, {16, 1}, {1, 16, 1, 1}});
    reorderWith("two", sizes, 3, DNNL_ARG_ATTR_SCALES, {{32}, {2, 16}, {2, 16, 1, 1}, {4, 8}});
    reorderWith("three", sizes, 7, DNNL_ARG_ATTR_SCALES, {{96}, {2, 16, 3}, {2, 16, 3, 1}, {32, 3}});
    reorderWith("last", sizes, 12, DNNL_ARG_ATTR_SCALES, {{12}, {3, 4}, {1, 1, 3, 4}});
    reorderWith("all", sizes, 15, DNNL_ARG_ATTR_SCALES, {{384}, {2, 16, 3, 4}});
  }
  return 0;
}
