//===- Sizes.h - Problems of runtime sizes, run with numbers --------------===//
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

/// What an execution tells kernels: the list of sizes, and by argument name the type that they give it.
struct RuntimeSizes {
  std::vector<int64_t> values;
  llvm::StringMap<mlir::MemRefType> types;
};

/// Puts `values`, in the order of a kernel's list of sizes, for what is open in the problems of `module`, of which each
/// has the same list. Fails with a diagnostic if there are not as many as that.
mlir::FailureOr<RuntimeSizes> closeSizes(mlir::ModuleOp module, llvm::ArrayRef<int64_t> values);

} // namespace quern

#endif // QUERN_OPT_SIZES_H
