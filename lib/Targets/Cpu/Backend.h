//===- Backend.h - The backend of CPUs ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_BACKEND_H
#define QUERN_TARGETS_CPU_BACKEND_H

#include "Targets/Backend.h"

namespace quern {

std::unique_ptr<Backend> createCpuBackend(CpuArch arch);

} // namespace quern

#endif // QUERN_TARGETS_CPU_BACKEND_H
