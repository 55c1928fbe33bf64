//===- ValueNames.h - Module text with meaningful names -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A printed stage has names such as %max and %src_2 instead of numbers: an argument has the name that an execution
// uses, a loaded value the name of its memory, and a computed value the name of its step of emission (Steps.h).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_IR_VALUENAMES_H
#define QUERN_IR_VALUENAMES_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace quern {

/// Returns the text of a module with such names.
std::string namedText(mlir::ModuleOp module);

} // namespace quern

#endif // QUERN_IR_VALUENAMES_H
