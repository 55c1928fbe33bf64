//===- Launch.h - The calls that lowered kernels ask for ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel names its arguments, or says for several calls which buffers each gets (quern.calls, Targets/Cpu/Pipeline.h). This is both,
// read.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_LAUNCH_H
#define QUERN_COMPILER_LAUNCH_H

#include "mlir/IR/BuiltinOps.h"

namespace quern {

struct KernelCall {
  struct Buffer {
    llvm::StringRef name;
    int64_t byteOffset = 0;
  };
  mlir::Operation *kernel;
  llvm::SmallVector<Buffer, 4> buffers; ///< one for each of its arguments
  bool besidePrevious = false;          ///< independent of the call before it
};

/// The calls of the lowered kernels of `module` (those with quern.arguments), in order. Diagnoses attributes that are none.
mlir::FailureOr<llvm::SmallVector<KernelCall, 4>> callsOf(mlir::ModuleOp module);

} // namespace quern

#endif // QUERN_COMPILER_LAUNCH_H
