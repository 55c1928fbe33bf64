//===- Integers.cpp - Integer arithmetic of oneDNN ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// oneDNN computes binary, sum and eltwise of integers in f32; Quern is exact. If all tensors are integers, the drop-in
// selects f32 by the accumulation mode. Other problems are unchanged, so they keep their keys.
//
//===----------------------------------------------------------------------===//
#include "Dnnl/Dropin.h"

#include <initializer_list>
#include <span>

using namespace quern::dropin;

namespace {

bool isInteger(const_quern_memory_desc_t desc) {
  quern_data_type_t type = quern_data_type_undef;
  if (!desc || quern_memory_desc_query(desc, quern_query_data_type, &type) != quern_success)
    return false;
  return type == quern_s32 || type == quern_s8 || type == quern_u8;
}

/// Calls `create` with a copy of the attributes in mode f32 if all tensors are integers, otherwise with `attr`.
template <typename Create>
quern_status_t createInF32(std::span<const const_quern_memory_desc_t> descs, const_quern_primitive_attr_t attr,
                           const Create &create) {
  for (const_quern_memory_desc_t desc : descs)
    if (desc && !isInteger(desc))
      return create(attr);
  quern_primitive_attr_t copy = nullptr;
  if (const quern_status_t made = attr ? quern_primitive_attr_clone(&copy, attr) : quern_primitive_attr_create(&copy);
      made != quern_success)
    return made;
  quern_primitive_attr_set_accumulation_mode(copy, quern_accumulation_mode_f32);
  const quern_status_t status = create(copy);
  quern_primitive_attr_destroy(copy);
  return status;
}

} // namespace

extern "C" {

QUERN_API quern_status_t dnnl_eltwise_forward_primitive_desc_create(quern_primitive_desc_t *desc, quern_engine_t engine,
                                                                    quern_prop_kind_t prop, quern_alg_kind_t alg,
                                                                    const_quern_memory_desc_t src,
                                                                    const_quern_memory_desc_t dst, float alpha,
                                                                    float beta,
                                                                    const_quern_primitive_attr_t attr) noexcept {
  return createInF32(std::initializer_list{src, dst}, attr, [&](const_quern_primitive_attr_t used) {
    return quern_eltwise_forward_primitive_desc_create(desc, engine, prop, alg, src, dst, alpha, beta, used);
  });
}

QUERN_API quern_status_t dnnl_binary_primitive_desc_create_v2(quern_primitive_desc_t *desc, quern_engine_t engine,
                                                              quern_alg_kind_t alg, const_quern_memory_desc_t src0,
                                                              const_quern_memory_desc_t src1,
                                                              const_quern_memory_desc_t src2,
                                                              const_quern_memory_desc_t dst,
                                                              const_quern_primitive_attr_t attr) noexcept {
  return createInF32(std::initializer_list{src0, src1, src2, dst}, attr, [&](const_quern_primitive_attr_t used) {
    return quern_binary_primitive_desc_create_v2(desc, engine, alg, src0, src1, src2, dst, used);
  });
}

QUERN_API quern_status_t dnnl_binary_primitive_desc_create(quern_primitive_desc_t *desc, quern_engine_t engine,
                                                           quern_alg_kind_t alg, const_quern_memory_desc_t src0,
                                                           const_quern_memory_desc_t src1,
                                                           const_quern_memory_desc_t dst,
                                                           const_quern_primitive_attr_t attr) noexcept {
  return dnnl_binary_primitive_desc_create_v2(desc, engine, alg, src0, src1, nullptr, dst, attr);
}

QUERN_API quern_status_t dnnl_sum_primitive_desc_create(quern_primitive_desc_t *desc, quern_engine_t engine,
                                                        const_quern_memory_desc_t dst, int n, const float *scales,
                                                        const const_quern_memory_desc_t *srcs,
                                                        const_quern_primitive_attr_t attr) noexcept {
  const auto create = [&](const_quern_primitive_attr_t used) {
    return quern_sum_primitive_desc_create(desc, engine, dst, n, scales, srcs, used);
  };
  if (!srcs || n < 1 || (dst && !isInteger(dst)))
    return create(attr);
  return createInF32({srcs, static_cast<size_t>(n)}, attr, create);
}

} // extern "C"
