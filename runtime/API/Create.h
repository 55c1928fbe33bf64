//===- Create.h - How primitive descriptors are created -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the functions that create a primitive descriptor share. PrimitiveDesc.cpp has them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_API_CREATE_H
#define QUERN_RUNTIME_API_CREATE_H

#include "API/Handles.h"

namespace quern::api {

/// The attributes to use: the default ones where the caller gives none.
Attributes attributesOf(const_quern_primitive_attr_t attr);

/// Verifies the problem, which runs on `engine`; `hint` is that of the forward pass, or null.
Result<void> create(quern_primitive_desc_t *handle, quern_engine_t engine, const PrimitiveDesc &desc,
                    const PrimitiveDesc *hint, ReorderSides sides = {});

/// Refuses what is no forward propagation of `primitive`.
Result<void> checkForward(const char *primitive, quern_prop_kind_t prop);

} // namespace quern::api

#endif // QUERN_RUNTIME_API_CREATE_H
