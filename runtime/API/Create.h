//===- Create.h - Creating primitive descriptors --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Helpers of the functions that create primitive descriptors, defined in PrimitiveDesc.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_API_CREATE_H
#define QUERN_RUNTIME_API_CREATE_H

#include "API/Handles.h"

namespace quern::api {

/// Returns a copy of `attr`, or the default attributes if it is null.
Attributes attributesOf(const_quern_primitive_attr_t attr);

/// Verifies a problem for `engine` and stores its descriptor in `handle`. `hint` is the forward problem, or null.
Result<void> create(quern_primitive_desc_t *handle, quern_engine_t engine, const PrimitiveDesc &desc,
                    const PrimitiveDesc *hint, ReorderSides sides = {});

/// Fails if `prop` is not a forward propagation. `primitive` is the name in the message.
Result<void> checkForward(const char *primitive, quern_prop_kind_t prop);

} // namespace quern::api

#endif // QUERN_RUNTIME_API_CREATE_H
