//===- Launch.h - The kernel calls of a module ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A module with a ProgramAttr specifies when each problem runs and on which buffers. In a module without one, each
// kernel runs once, in order, on the buffers that its arguments are named after. Launch represents both forms: calls in
// order, with expanded polynomials.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_IR_LAUNCH_H
#define QUERN_IR_LAUNCH_H

#include "Artifact/Program.h"

#include "mlir/IR/BuiltinOps.h"

namespace quern {

struct KernelCall {
  struct Buffer {
    llvm::StringRef name; ///< name of an argument of the problem, or of a region
    Polynomial byteOffset;
  };
  mlir::Operation *kernel;
  llvm::SmallVector<Buffer, 4> buffers; ///< one for each tensor argument of the kernel
  bool independentOfPrevious = false;   ///< true if the call is independent of the one before
};

struct Launch {
  struct Region {
    llvm::StringRef name;
    Polynomial bytes;
  };
  /// Like DerivedSize, but with the argument's name.
  struct Size {
    DerivedSize::Kind kind;
    llvm::StringRef argument;
    Polynomial limit, count, stride, value;
  };
  std::vector<KernelCall> calls;
  std::vector<LaunchLoop> loops; ///< loops around ranges of `calls`, as in an artifact
  std::vector<Region> regions;
  std::vector<Size> sizes; ///< derived sizes, which follow those that are passed
  std::vector<SizeCheck> checks;
};

/// Returns the launch of the kernels of `module`, scheduled or lowered, and of problems that its program calls but that
/// are not scheduled yet. Emits a one-line diagnostic if the program does not match the module; the attribute's
/// verifier calls this function.
mlir::FailureOr<Launch> launchOf(mlir::ModuleOp module);

} // namespace quern

#endif // QUERN_IR_LAUNCH_H
