//===- Replay.h - Execution of a lowered kernel ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Buffers are created from the attributes of a kernel's arguments and not from a descriptor, so edited IR of any stage
// can be run. Every buffer is adjacent to an inaccessible page (GuardedBuffer.h): writes outside of it are reported,
// and reads past the guarded end terminate the program.
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

/// The kernels of a lowered module, in the order in which they run, from the attributes of their llvm.funcs.
struct KernelInfo {
  struct Argument {
    std::string name;
    mlir::Type element;
    int64_t elements = 0;  ///< number of elements that some kernel can access
    bool isRegion = false; ///< true for memory between kernels: bytes, which each kernel sees as its own types
  };
  struct StepBuffer {
    size_t argument = 0;
    int64_t byteOffset = 0;
  };
  struct ReplayStep {
    size_t symbol = 0; ///< index into `symbols`
    int64_t iterations = 0;
    llvm::SmallVector<StepBuffer, 4> buffers;
  };
  llvm::SmallVector<llvm::StringRef, 2> symbols;
  std::vector<ReplayStep> steps; ///< every call, loops unrolled
  int64_t scratchBytes = 0, sharedBytes = 0;
  std::vector<Argument> arguments;
};

/// Returns the kernels of a module and their arguments; arguments of the same name share a buffer. Fails with a
/// diagnostic if the module has no kernels, open sizes that are not in `sizes`, or kernels that cannot share arguments.
mlir::FailureOr<KernelInfo> kernelsOf(mlir::ModuleOp module, const RuntimeSizes &sizes);

/// The memory of one argument, before and after a run.
struct Buffer {
  std::string name;
  mlir::Type element;
  std::vector<char> bytes, before;
  bool changed() const { return bytes != before; }
  int64_t elements() const;
  double at(int64_t index) const; ///< integers and narrow floats are exact in double
};

/// The kernels of a lowered module, loaded into this process, with buffers filled from a seed.
class Replay {
public:
  /// Compiles and loads `module`, which must outlive the result. Fails with a diagnostic on `module` if this machine
  /// cannot compile or run it.
  static mlir::FailureOr<std::unique_ptr<Replay>> load(mlir::ModuleOp module, llvm::StringRef target, uint64_t seed,
                                                       const RuntimeSizes &sizes, GuardedSide side = GuardedSide::End);
  /// Runs the whole space of every kernel once.
  void run();
  /// Returns the contents of all buffers except regions. Fails with a diagnostic if a kernel wrote outside of them.
  mlir::FailureOr<std::vector<Buffer>> results();

private:
  Replay(mlir::ModuleOp module, KernelInfo info, compiler::LoadedKernel kernel, std::vector<int64_t> sizes,
         GuardedSide side);

  mlir::ModuleOp module;
  KernelInfo info;
  compiler::LoadedKernel kernel;
  std::vector<GuardedBuffer> arenas; ///< memory of the arguments
  GuardedBuffer scratch, shared;
  std::vector<Buffer> buffers;
  std::vector<int64_t> sizes;
  std::vector<std::vector<void *>> pointers; ///< addresses of the buffers of each step
};

/// Generates code for `target`, fills every argument from `seed`, and runs the whole space of every kernel twice: with
/// buffers that start and with buffers that end at an inaccessible page. The same seed gives the same data for every
/// stage and target. Fails with a diagnostic on `module` if it cannot be compiled or run here, if it writes outside its
/// buffers, or if the two runs differ.
mlir::FailureOr<std::vector<Buffer>> replay(mlir::ModuleOp module, llvm::StringRef target, uint64_t seed,
                                            const RuntimeSizes &sizes);

/// Returns "dst: digest …, first 4: …", or that the buffer is unchanged.
std::string describe(const Buffer &buffer, int64_t values);

/// Compares the buffers of two runs: |a − b| <= tolerance·max(|b|, r), where r is the root mean square of the oracle's
/// buffer; NaN equals NaN. Appends one line per buffer to `report`. Tolerance 0 means 32 ULP of the element type, or 1
/// ULP if it is narrower than f32; integers must then be equal.
bool agree(const std::vector<Buffer> &results, const std::vector<Buffer> &oracle, double tolerance,
           std::string &report);

} // namespace quern

#endif // QUERN_OPT_REPLAY_H
