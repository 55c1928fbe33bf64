//===- Attributes.cpp - Creation of attributes ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads the environment variables of oneDNN before the first attributes are created, because they set defaults.
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
