//===- Launch.h - The calls that a module asks for ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A module with a ProgramAttr says which problems run when and on what. In one without, each kernel runs once, where it
// stands, on what its arguments are named after. This is either, flat and multiplied out.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_IR_LAUNCH_H
#define QUERN_IR_LAUNCH_H

#include "Artifact/Program.h"

#include "mlir/IR/BuiltinOps.h"

namespace quern {

struct KernelCall {
  struct Buffer {
    llvm::StringRef name; ///< of an argument of the problem, or of a region
    Polynomial byteOffset;
  };
  mlir::Operation *kernel;
  llvm::SmallVector<Buffer, 4> buffers; ///< one for each of its arguments
  bool besidePrevious = false;          ///< independent of the call before it
};

struct Launch {
  struct Region {
    llvm::StringRef name;
    Polynomial bytes;
  };
  /// As DerivedSize has it, by name.
  struct Size {
    DerivedSize::Kind kind;
    llvm::StringRef argument;
    Polynomial limit, count, stride, value;
  };
  std::vector<KernelCall> calls;
  std::vector<LaunchLoop> loops; ///< around ranges of `calls`, as an artifact has them
  std::vector<Region> regions;
  std::vector<Size> sizes; ///< behind the given ones
  std::vector<SizeCheck> checks;
};

/// The launch of the scheduled or lowered kernels of `module`, and of those problems that its program calls and that
/// are not scheduled yet. Diagnoses a program that is none of this module, in one line: what the verifier finds out.
mlir::FailureOr<Launch> launchOf(mlir::ModuleOp module);

} // namespace quern

#endif // QUERN_IR_LAUNCH_H
