//===- Mlir.cpp - Kernels from functions in MLIR --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements quern_mlir.h.
//
//===----------------------------------------------------------------------===//
#include "API/Create.h"
#include "API/Guard.h"

#include "quern/quern_mlir.h"

using namespace quern;
using namespace quern::api;

extern "C" {

quern_status_t quern_primitive_desc_create_from_mlir(quern_primitive_desc_t *handle, quern_engine_t engine,
                                                     const void *module, size_t bytes, const char *function,
                                                     const_quern_primitive_attr_t attr) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("primitive_desc", handle);
    *handle = nullptr;
    QUERN_REQUIRE("engine", engine, "module", module);
    if (bytes == 0 || bytes > maxMlirBytes)
      return invalidArguments("the module has ", bytes, " bytes; 1 to ", maxMlirBytes, " are possible");
    PrimitiveDesc desc; // filled in place: descriptors are large
    auto &mlir = desc.op.emplace<MlirDesc>();
    mlir.module.assign(static_cast<const char *>(module), bytes);
    mlir.function = function ? function : "";
    desc.attr = attributesOf(attr);
    return create(handle, engine, desc, nullptr);
  });
}

quern_status_t quern_primitive_attr_set_mlir_allow_naive(quern_primitive_attr_t attr, int value) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    unwrap(attr)->naive = value != 0;
    return {};
  });
}

quern_status_t quern_primitive_attr_get_mlir_allow_naive(const_quern_primitive_attr_t attr, int *value) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr, "value", value);
    *value = unwrap(attr)->naive;
    return {};
  });
}

} // extern "C"
