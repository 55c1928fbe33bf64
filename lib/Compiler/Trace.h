//===- Trace.h - The origins of the lines of each stage -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Creates the texts of all stages of one compilation, and for each line the lines of an earlier stage that it comes
// from. A stage's module is printed and parsed again, so that the locations of its operations are lines, which later
// stages keep. Code generation writes them to a DWARF line table, from which they are read. Only traced compilations
// have locations; the code is the same with and without them.
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

/// Line numbers, starting at 1.
using Lines = llvm::SmallVector<int64_t, 2>;

struct TracedStage {
  std::string name, language; ///< language of the text: "mlir", "llvm", "asm", "spirv"
  std::string text;
  std::string of;             ///< stage that `origins` refer to; empty if there are none
  std::vector<Lines> origins; ///< origins of each line of `text`
  /// Mathematical step of each line (Steps.h), or "". Set only for the stage emit.
  std::vector<std::string> steps;
  std::vector<LoopNode> loops;           ///< loops of the schedule; empty for other stages
  CodeListing listing;                   ///< instructions of the assembly; empty for other stages or if unknown
  std::vector<int64_t> instructionLines; ///< lines of the assembly's instructions, in the order of the listing
};

/// Returns the module as text and replaces `module` by the one parsed from that text, whose locations are its lines.
/// Origins are the lines of the stage `of` in the locations of `module`; none if `of` is empty.
Result<TracedStage> traceModule(mlir::OwningOpRef<mlir::ModuleOp> &module, const std::string &name,
                                const std::string &heading, const std::string &of);

/// Reduces the location of each operation of a lowered module to one line of the stage `of`, because a line table has
/// only one per instruction.
void keepOneLine(mlir::ModuleOp module, const std::string &of);

/// Like keepOneLine(), and also gives functions the scope that a line table requires.
mlir::LogicalResult addDebugScopes(mlir::ModuleOp module, const std::string &of);

/// Splits LLVM IR or assembly with a line table into lines without it, and reads the origins from the table.
TracedStage traceLlvm(llvm::StringRef text, const std::string &of);
TracedStage traceAssembly(llvm::StringRef text, const std::string &of, CodeListing listing);

/// Returns {"version": 1, "problem", "target", "plan", "stages": [{"name", "language", "text", "steps", "loops", "of",
/// "origins", "offsets", "marks", "innermost"}]}, merged with the keys of `fields`.
std::string traceAsJson(const std::string &problem, const std::string &target, const std::string &plan,
                        llvm::ArrayRef<TracedStage> stages, llvm::json::Object fields);

} // namespace quern

#endif // QUERN_COMPILER_TRACE_H
