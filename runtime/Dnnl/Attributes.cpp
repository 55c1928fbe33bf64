//===- Attributes.cpp - Attributes that libquern has in another form ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Setting an attribute that Quern does not have succeeds for its default, which asks for nothing, and is `unimplemented` otherwise.
//
//===----------------------------------------------------------------------===//
#include "Dnnl/Dropin.h"

using namespace quern::dropin;

namespace {

// dnnl_quantization_mode_t and dnnl_rounding_mode_t
constexpr int quantizationStatic = 1, quantizationDynamicFp = 3;
constexpr int roundingEnvironment = 0, roundingStochastic = 1;

/// The descriptor of no tensor, kept for the life of the process.
const_quern_memory_desc_t zeroDesc() noexcept {
  static const quern_memory_desc_t zero = [] {
    quern_memory_desc_t created = nullptr;
    quern_memory_desc_create_with_strides(&created, 0, nullptr, quern_data_type_undef, nullptr);
    return created;
  }();
  return zero;
}

} // namespace

extern "C" {

QUERN_API quern_status_t dnnl_primitive_attr_create(quern_primitive_attr_t *attr) noexcept {
  readEnvironment();
  return quern_primitive_attr_create(attr);
}

QUERN_API quern_status_t dnnl_primitive_attr_set_scales_v2(quern_primitive_attr_t attr, int arg, int mask, int ndims,
                                                           const quern_dims_t groups, quern_data_type_t type, int isOnHost) noexcept {
  return isOnHost ? refuse("host scalar scales") : quern_primitive_attr_set_scales(attr, arg, mask, ndims, groups, type);
}

QUERN_API quern_status_t dnnl_primitive_attr_set_scales_v3(quern_primitive_attr_t attr, int arg, int mask, int ndims,
                                                           const quern_dims_t groups, quern_data_type_t type, int isOnHost,
                                                           int quantization) noexcept {
  if (quantization < quantizationStatic || quantization > quantizationDynamicFp)
    return quern_invalid_arguments;
  if (quantization != quantizationStatic)
    return refuse("dynamic quantization");
  return dnnl_primitive_attr_set_scales_v2(attr, arg, mask, ndims, groups, type, isOnHost);
}

QUERN_API quern_status_t dnnl_primitive_attr_set_zero_points_v2(quern_primitive_attr_t attr, int arg, int mask, int ndims,
                                                                const quern_dims_t groups, quern_data_type_t type, int isOnHost) noexcept {
  return isOnHost ? refuse("host scalar zero points") : quern_primitive_attr_set_zero_points(attr, arg, mask, ndims, groups, type);
}

QUERN_API quern_status_t dnnl_primitive_attr_set_rounding(quern_primitive_attr_t attr, int arg, int mode) noexcept {
  if (!attr || (mode != roundingEnvironment && mode != roundingStochastic))
    return quern_invalid_arguments;
  return mode == roundingEnvironment ? quern_success : refuse("stochastic rounding");
}

QUERN_API quern_status_t dnnl_primitive_attr_get_rounding(const_quern_primitive_attr_t attr, int arg, int *mode) noexcept {
  if (!attr || !mode)
    return quern_invalid_arguments;
  *mode = roundingEnvironment;
  return quern_success;
}

QUERN_API quern_status_t dnnl_primitive_attr_set_dropout_v2(quern_primitive_attr_t attr, const_quern_memory_desc_t mask,
                                                            quern_data_type_t seedType, int useOffset, int useHostScalars) noexcept {
  if (!attr)
    return quern_invalid_arguments;
  // oneDNN 3.13 takes a null mask for no dropout too, unless a seed type says otherwise.
  const bool isNone = !mask && seedType == quern_data_type_undef;
  return isNone || (mask && quern_memory_desc_equal(mask, zeroDesc())) ? quern_success : refuse("dropout");
}

QUERN_API quern_status_t dnnl_primitive_attr_set_dropout(quern_primitive_attr_t attr, const_quern_memory_desc_t mask) noexcept {
  return mask ? dnnl_primitive_attr_set_dropout_v2(attr, mask, quern_data_type_undef, 0, 0) : quern_invalid_arguments;
}

QUERN_API quern_status_t dnnl_primitive_attr_get_dropout_v2(const_quern_primitive_attr_t attr, const_quern_memory_desc_t *mask,
                                                            quern_data_type_t *seedType, int *useOffset, int *useHostScalars) noexcept {
  if (!attr)
    return quern_invalid_arguments;
  if (mask)
    *mask = zeroDesc();
  if (seedType)
    *seedType = quern_data_type_undef;
  if (useOffset)
    *useOffset = 0;
  if (useHostScalars)
    *useHostScalars = 0;
  return quern_success;
}

QUERN_API quern_status_t dnnl_primitive_attr_get_dropout(const_quern_primitive_attr_t attr, const_quern_memory_desc_t *mask) noexcept {
  return dnnl_primitive_attr_get_dropout_v2(attr, mask, nullptr, nullptr, nullptr);
}

} // extern "C"
