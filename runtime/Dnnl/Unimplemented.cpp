//===- Unimplemented.cpp - Functions that the drop-in does not support ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The functions of Exports.def that fail. Callers pass more arguments than these declarations have. On x86-64 and
// AArch64 a callee neither counts nor removes arguments, and the result is the first argument of each of these
// functions.
//
//===----------------------------------------------------------------------===//
#include "Dnnl/Dropin.h"

using namespace quern::dropin;

extern "C" {

#define PRIMITIVE(NAME, KIND)                                                                                          \
  QUERN_API quern_status_t dnnl_##NAME(quern_primitive_desc_t *desc) noexcept {                                        \
    if (!desc)                                                                                                         \
      return quern_invalid_arguments;                                                                                  \
    *desc = nullptr;                                                                                                   \
    return refusePrimitive(KIND, "dnnl_" #NAME);                                                                       \
  }
#define UNIMPLEMENTED(NAME)                                                                                            \
  QUERN_API quern_status_t dnnl_##NAME(void) noexcept { return refuse("dnnl_" #NAME); }
#include "Dnnl/Exports.def"

} // extern "C"
