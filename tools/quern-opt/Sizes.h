//===- Sizes.h - Numbers that replace open sizes --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The kernel of a problem with open sizes runs with the numbers of --sizes; its oracle is the same problem with
// these numbers in its types.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_OPT_SIZES_H
#define QUERN_OPT_SIZES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <vector>

namespace quern {

/// The sizes of an execution: the list that kernels receive, and the type of each argument with these sizes.
struct RuntimeSizes {
  std::vector<int64_t> values;
  llvm::StringMap<mlir::MemRefType> types;
};

/// Replaces the open sizes in the problems of `module`, which all have the same list of sizes, by `values`. Fails with
/// a diagnostic if the number of values differs.
mlir::FailureOr<RuntimeSizes> closeSizes(mlir::ModuleOp module, llvm::ArrayRef<int64_t> values);

} // namespace quern

#endif // QUERN_OPT_SIZES_H
