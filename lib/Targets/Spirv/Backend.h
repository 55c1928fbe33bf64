//===- Backend.h - The backend of SPIR-V devices --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_SPIRV_BACKEND_H
#define QUERN_TARGETS_SPIRV_BACKEND_H

#include "Targets/Backend.h"

namespace quern {

std::unique_ptr<Backend> createSpirvBackend();

} // namespace quern

#endif // QUERN_TARGETS_SPIRV_BACKEND_H
