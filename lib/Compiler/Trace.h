//===- Trace.h - Which line of a stage comes from which -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The texts of all stages of one compilation, and for each of their lines the lines of an earlier stage that it comes
// from. A stage's module is printed and read back, so that its operations have lines as locations, which the stages
// behind it keep; code generation writes them into a line table of DWARF, and from there they are read. Only what is
// traced has locations: the code is the same with and without.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_TRACE_H
#define QUERN_COMPILER_TRACE_H

#include "Compiler/LoopTree.h"
#include "Support/Error.h"
#include "Targets/CodeListing.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace quern {

/// Lines count from 1.
using Lines = llvm::SmallVector<int64_t, 2>;

struct TracedStage {
  std::string name, language; ///< of the text: "mlir", "llvm", "asm", "spirv"
  std::string text;
  std::string of;             ///< the stage that `origins` are lines of; empty where it has none
  std::vector<Lines> origins; ///< of each line of `text`
  /// Of each line the mathematical step that it is of (Steps.h), or nothing; empty but for emit.
  std::vector<std::string> steps;
  std::vector<LoopNode> loops;           ///< of the schedule
  CodeListing listing;                   ///< of assembly; empty where nothing is known
  std::vector<int64_t> instructionLines; ///< of assembly, in the order of the listing
};

/// The module as text, and the module that it reads as, whose locations are the lines of that text. Origins are the
/// lines of the stage `of` among the locations of `module`; none where `of` is empty.
Result<TracedStage> traceModule(mlir::OwningOpRef<mlir::ModuleOp> &module, const std::string &name,
                                const std::string &heading, const std::string &of);

/// Leaves each operation of a lowered module the one line that a line table has room for, and gives functions a scope.
mlir::LogicalResult addDebugScopes(mlir::ModuleOp module, const std::string &of);

/// LLVM IR and x86 assembly with a line table: taken apart into lines without it, and what it says of them.
TracedStage traceLlvm(llvm::StringRef text, const std::string &of);
TracedStage traceAssembly(llvm::StringRef text, const std::string &of, CodeListing listing);

/// {"version": 1, "problem", "target", "plan", "stages": [{"name", "language", "text", "steps", "loops", "of",
/// "origins", "offsets", "marks", "innermost"}]}, and whatever is in `beside`.
std::string traceAsJson(const std::string &problem, const std::string &target, const std::string &plan,
                        llvm::ArrayRef<TracedStage> stages, llvm::json::Object beside);

} // namespace quern

#endif // QUERN_COMPILER_TRACE_H
