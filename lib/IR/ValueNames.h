//===- ValueNames.h - Texts whose values say what they are ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Readers of a stage meet %max and %src_2 rather than numbers: an argument is called as an execution calls it, what is
// loaded after where it comes from, and what is computed after the step of emission that it belongs to (Steps.h).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_IR_VALUENAMES_H
#define QUERN_IR_VALUENAMES_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace quern {

/// The text of a module with such names.
std::string namedText(mlir::ModuleOp module);

} // namespace quern

#endif // QUERN_IR_VALUENAMES_H
