//===- Replay.h - Runs a lowered kernel on made-up data -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Buffers come from what the kernel says of its arguments, never from a descriptor, so that edited IR of any stage can
// be run. Every buffer lies at an inaccessible page (GuardedBuffer.h): what a kernel writes beside it is reported, what
// it reads there ends the program.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_OPT_REPLAY_H
#define QUERN_OPT_REPLAY_H

#include "GuardedBuffer.h"

#include "quern-compiler/Compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace quern {

struct RuntimeSizes;

/// The kernels of a lowered module, in the order in which they run: what their llvm.funcs carry.
struct KernelInfo {
  struct Argument {
    std::string name;
    mlir::Type element;
    int64_t elements = 0;  ///< as far as some kernel reaches
    bool isRegion = false; ///< memory between kernels: bytes, of whatever types they see there
  };
  struct StepBuffer {
    size_t argument = 0;
    int64_t byteOffset = 0;
  };
  struct Step {
    size_t symbol = 0; ///< into `symbols`
    int64_t iterations = 0;
    llvm::SmallVector<StepBuffer, 4> buffers;
  };
  llvm::SmallVector<llvm::StringRef, 2> symbols;
  std::vector<Step> steps; ///< every call, loops unrolled
  int64_t scratchBytes = 0, sharedBytes = 0;
  std::vector<Argument> arguments;
};

/// Diagnoses a module without kernels, with open sizes that `sizes` does not tell, or with some that cannot run on the
/// same arguments: one name is one buffer.
mlir::FailureOr<KernelInfo> kernelsOf(mlir::ModuleOp module, const RuntimeSizes &sizes);

/// One argument's memory, before and after.
struct Buffer {
  std::string name;
  mlir::Type element;
  std::vector<char> bytes, before;
  bool changed() const { return bytes != before; }
  int64_t elements() const;
  double at(int64_t index) const; ///< integers and narrow floats are exact in double
};

/// The kernels of a lowered module in this process, with buffers filled from a seed.
class Replay {
public:
  /// Fails with a diagnostic on `module`, which must outlive the result, if it cannot be compiled or run here.
  static mlir::FailureOr<std::unique_ptr<Replay>> load(mlir::ModuleOp module, llvm::StringRef target, uint64_t seed,
                                                       const RuntimeSizes &sizes, GuardedSide side = GuardedSide::End);
  /// The whole space of every kernel, once.
  void run();
  /// What the buffers but regions hold now. Fails with a diagnostic if a kernel wrote outside of them.
  mlir::FailureOr<std::vector<Buffer>> results();

private:
  Replay(mlir::ModuleOp module, KernelInfo info, compiler::LoadedKernel kernel, std::vector<int64_t> sizes,
         GuardedSide side);

  mlir::ModuleOp module;
  KernelInfo info;
  compiler::LoadedKernel kernel;
  std::vector<GuardedBuffer> arenas; ///< of the arguments
  GuardedBuffer scratch, shared;
  std::vector<Buffer> buffers;
  std::vector<int64_t> sizes;
  std::vector<std::vector<void *>> pointers; ///< by step
};

/// Generates code for `target`, fills every argument from `seed`, and runs the whole space of every kernel, with
/// buffers that begin and with buffers that end at an inaccessible page. The same seed gives the same data for every
/// stage and target. Fails with a diagnostic on `module` if it cannot be compiled, run here, writes outside its
/// buffers, or gives other bits where these lie elsewhere.
mlir::FailureOr<std::vector<Buffer>> replay(mlir::ModuleOp module, llvm::StringRef target, uint64_t seed,
                                            const RuntimeSizes &sizes);

/// "dst: digest …, first 4: …", or that it is unchanged.
std::string describe(const Buffer &buffer, int64_t values);

/// Compares what two runs left in their buffers: |a − b| <= tolerance·max(|b|, r), r the root mean square of the
/// oracle's buffer; NaN equals NaN. One line for each buffer in `report`; tolerance 0 stands for 32 last places of the
/// element type, one of a type narrower than f32; integers then are equal.
bool agree(const std::vector<Buffer> &results, const std::vector<Buffer> &oracle, double tolerance,
           std::string &report);

} // namespace quern

#endif // QUERN_OPT_REPLAY_H
