//===- LoopTree.h - The loops of a schedule and their contents ------------===//
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

/// A kernel, or a loop in it, and the contents of one iteration without inner loops.
struct LoopNode {
  int64_t line = 0;                       ///< first line in the module's text
  int64_t last = 0;                       ///< last line of its contents
  int64_t depth = 0;                      ///< loop depth; 0: a kernel
  std::string name;                       ///< name of a kernel
  int64_t space = 0;                      ///< iterations of a kernel
  std::vector<llvm::StringRef> arguments; ///< buffers of a kernel, in the order of a step's buffers
  /// Number of iterations, if it is constant.
  std::optional<int64_t> trips;
  /// Average number of iterations of a loop whose number differs between entries and is known; otherwise 0.
  double meanTrips = 0;
  /// Step of the loop over a call's range of iterations; otherwise 0.
  int64_t ofSpace = 0;
  int64_t loads = 0, stores = 0, bytesRead = 0, bytesWritten = 0; ///< counts include both branches of conditions
  int64_t operations = 0;                         ///< operations on floats and vectors; a multiply-add is one
  int64_t flops = 0;                              ///< floating-point operations, per element; exp etc. are one
  int64_t carried = 0;                            ///< loop-carried values
  llvm::SetVector<llvm::StringRef> read, written; ///< names of the memory
};

/// Returns the loops in the order of the text. The locations of operations must be its lines, as traceModule() sets
/// them.
std::vector<LoopNode> loopsOf(mlir::ModuleOp schedule);

} // namespace quern

#endif // QUERN_COMPILER_LOOPTREE_H
