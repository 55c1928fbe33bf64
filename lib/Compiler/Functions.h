//===- Functions.h - Functions of the caller's in the compiler ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_FUNCTIONS_H
#define QUERN_COMPILER_FUNCTIONS_H

#include "Primitives/Registry.h"
#include "Targets/Backend.h"

namespace quern {

/// The canonical bytes of the descriptor of a caller's function as it was read. `unimplemented` with the operation, its
/// place in the caller's text and the reasons of all recipes where the target's take a part of it not.
Result<std::string> readMlir(const PrimitiveDesc &given, const Target &target);

/// The `emit` stage of a function that was read: appends the problems that it is cut into to `module`. `whyCut` gets a
/// line for each.
Result<void> emitMlir(mlir::ModuleOp module, const VerifiedProblem &problem, const Backend &backend,
                      const Target &target, std::string &whyCut);

} // namespace quern

#endif // QUERN_COMPILER_FUNCTIONS_H
