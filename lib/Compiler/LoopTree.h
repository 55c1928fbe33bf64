//===- LoopTree.h - The loops of a schedule, and what a turn of each does -===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_LOOPTREE_H
#define QUERN_COMPILER_LOOPTREE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

#include <optional>
#include <string>
#include <vector>

namespace quern {

/// A kernel or a loop in it, and what one turn does, without the loops within.
struct LoopNode {
  int64_t line = 0;                       ///< of the module's text
  int64_t last = 0;                       ///< of what is in it
  int64_t depth = 0;                      ///< 0: a kernel
  std::string name;                       ///< of a kernel
  int64_t space = 0;                      ///< iterations of a kernel
  std::vector<llvm::StringRef> arguments; ///< buffers of a kernel, in the order of a step's
  /// Nothing where no number tells.
  std::optional<int64_t> trips;
  /// Of a loop whose number of turns differs from entry to entry, and that numbers tell; else 0.
  double meanTrips = 0;
  /// Of the loop over the iterations that a call of the kernel is given, how many a turn takes; else 0.
  int64_t ofSpace = 0;
  int64_t loads = 0, stores = 0, bytesRead = 0, bytesWritten = 0; ///< both ways of a condition count
  int64_t operations = 0;                         ///< on floats and vectors; a multiplication that adds is one
  int64_t flops = 0;                              ///< of these; exp and its like are one for each element
  int64_t carried = 0;                            ///< values that stay in registers from turn to turn; of a loop
  llvm::SetVector<llvm::StringRef> read, written; ///< what the memory is called
};

/// In the order of the text. The locations of operations are lines of it, as traceModule() leaves them.
std::vector<LoopNode> loopsOf(mlir::ModuleOp schedule);

} // namespace quern

#endif // QUERN_COMPILER_LOOPTREE_H
