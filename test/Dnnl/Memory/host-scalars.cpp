// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks scales and zero points that are host scalars: descriptors, values, reorders, and refusals of other memory.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// RUN: env ONEDNN_VERBOSE=profile %both --verbose %s %t | FileCheck --check-prefix=VERBOSE %s
// CHECK: quantized: -7 -4 3 5 7 127
// CHECK: lines compared, 0 differ
// VERBOSE: attr-scales:dst:0:f32:host_scalar attr-zero-points:dst:0:s32:host_scalar
// VERBOSE: lines compared, 0 differ
#include "values.hpp"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

void describe(type element) {
  attempt("descriptor", [&] {
    const memory::desc desc = memory::desc::host_scalar(element);
    std::printf("type %d, rank %d, %zu bytes, format kind %d, equal %d\n", static_cast<int>(desc.get_data_type()),
                desc.get_ndims(), desc.get_size(), static_cast<int>(desc.get_format_kind()),
                desc == memory::desc::host_scalar(element));
  });
}

} // namespace

int main() {
  engine eng(engine::kind::cpu, 0);
  stream order(eng);
  for (type element : {type::f32, type::bf16, type::f16, type::s32, type::s8, type::u8, type::undef})
    describe(element);
  memory::desc scalar = memory::desc::host_scalar(type::f32);
  memory scale(scalar, 2.5f), zeroPoint(memory::desc::host_scalar(type::s32), 3);
  std::printf("value %.2f\n", static_cast<double>(scale.get_host_scalar_value<float>()));
  scale.set_host_scalar_value(0.5f);
  std::printf("value %.2f\n", static_cast<double>(scale.get_host_scalar_value<float>()));
  attempt("handle", [&] { scale.get_data_handle(); });
  attempt("engine", [&] { memory(scalar, eng); });
  attempt("blob", [&] { std::printf("equal %d\n", memory::desc(scalar.get_blob()) == scalar); });
  attempt("reshape", [&] { scalar.reshape({1, 1}); });
  attempt("axes", [&] { scalar.permute_axes({0}); });

  const memory::desc wide({2, 3}, type::f32, tag::ab), narrow({2, 3}, type::s8, tag::ab);
  memory src(wide, eng), dst(narrow, eng), back(wide, eng);
  fill<float>(src, {-5, -3.5f, 0, 1, 2, 400});
  primitive_attr quantize, widen;
  quantize.set_host_scale(DNNL_ARG_DST, type::f32);
  quantize.set_host_zero_point(DNNL_ARG_DST, type::s32);
  widen.set_host_scale(DNNL_ARG_SRC, type::f32);
  reorder::primitive_desc desc(eng, wide, eng, narrow, quantize);
  reorder(desc).execute(order, {{DNNL_ARG_SRC, src},
                                {DNNL_ARG_DST, dst},
                                {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, scale},
                                {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, zeroPoint}});
  order.wait();
  print("quantized", read<int8_t>(dst));
  reorder(reorder::primitive_desc(eng, narrow, eng, wide, widen))
      .execute(order, {{DNNL_ARG_SRC, dst}, {DNNL_ARG_DST, back}, {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, scale}});
  order.wait();
  print("widened", read<float>(back));
  return 0;
}
