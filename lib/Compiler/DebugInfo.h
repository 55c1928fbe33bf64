//===- DebugInfo.h - Kernels as debuggers and profilers read them ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// DWARF whose source is the text of the schedule: a line for each instruction, and of each kernel the parameters of its
// interface (quern/kernel_abi.h) and its tensors by name. Only what is asked for has it: the code is the same with and
// without.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_DEBUGINFO_H
#define QUERN_COMPILER_DEBUGINFO_H

#include "Compiler/Trace.h"
#include "Support/Error.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace quern {

/// For a lowered module for a CPU whose locations are lines of the stage `of`, whose text is the file `path`.
void addDebugInfo(mlir::ModuleOp module, const std::string &of, llvm::StringRef path);

/// The text of a stage, behind each line a comment: the lines of the stage `of` that it comes from, and their
/// mathematical step. It parses as without.
std::string locatedText(const TracedStage &stage, const TracedStage &of);

/// An object with DWARF, and in sections that are not loaded what a reader without LLVM needs of it: `source` in
/// .quern.source, and in .quern.lines of each row of the line table the byte of .text (u64) and the line (u32), in the
/// order of the bytes.
Result<std::string> addDebugSections(llvm::StringRef object, llvm::StringRef source);

} // namespace quern

#endif // QUERN_COMPILER_DEBUGINFO_H
