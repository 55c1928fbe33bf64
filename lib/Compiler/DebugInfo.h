//===- DebugInfo.h - Kernels for debuggers and profilers ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Creates DWARF whose source file is the text of the schedule. Each instruction has a line; each kernel has the
// parameters of its interface (quern/kernel_abi.h) and its tensors by name. Only debug objects have it; the code is the
// same with and without it.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_DEBUGINFO_H
#define QUERN_COMPILER_DEBUGINFO_H

#include "Compiler/Trace.h"
#include "Support/Error.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace quern {

/// Adds debug information to a module that is lowered for a CPU. Its locations are lines of the stage `of`, whose text
/// is the file `path`.
void addDebugInfo(mlir::ModuleOp module, const std::string &of, llvm::StringRef path);

/// Returns the text of a stage. A comment after each line that has origins gives them, as lines of the stage `of`, and
/// the first mathematical step among them. The comments do not affect parsing.
std::string locatedText(const TracedStage &stage, const TracedStage &of);

/// Returns an object with DWARF and two additional, unloaded sections for readers without LLVM: .quern.source is
/// `source`; .quern.lines has, for each row of the line table, the offset in .text (u64) and the line (u32), in
/// ascending order of offsets.
Result<std::string> addDebugSections(llvm::StringRef object, llvm::StringRef source);

} // namespace quern

#endif // QUERN_COMPILER_DEBUGINFO_H
