//===- Functions.h - Callers' functions in the compiler -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_FUNCTIONS_H
#define QUERN_COMPILER_FUNCTIONS_H

#include "Primitives/Registry.h"
#include "Targets/Backend.h"

namespace quern {

/// Reads a caller's function and returns the canonical bytes of its descriptor. If the target's recipes do not support
/// some part of it, returns `unimplemented` with the operation, its location in the caller's text and the reasons of
/// all recipes.
Result<std::string> readMlir(const PrimitiveDesc &given, const Target &target);

/// The `emit` stage of a function that was read: partitions it into problems and appends these to `module`. `partition`
/// receives a line for each problem.
Result<void> emitMlir(mlir::ModuleOp module, const VerifiedProblem &problem, const Backend &backend,
                      const Target &target, std::string &partition);

} // namespace quern

#endif // QUERN_COMPILER_FUNCTIONS_H
