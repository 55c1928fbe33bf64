//===- Attributes.cpp - Attributes that libquern has in another form ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// New attributes start with what oneDNN's environment variables say.
//
//===----------------------------------------------------------------------===//
#include "Dnnl/Dropin.h"

using namespace quern::dropin;

extern "C" {

QUERN_API quern_status_t dnnl_primitive_attr_create(quern_primitive_attr_t *attr) noexcept {
  readEnvironment();
  return quern_primitive_attr_create(attr);
}

} // extern "C"
