//===- Problem.h - A verified problem on an engine -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The problem of a primitive descriptor. Immutable; the descriptor's clones and primitives share it. Properties that
// need a compiled kernel (such as the scratchpad) are determined by the first query.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_PROBLEM_H
#define QUERN_RUNTIME_CORE_PROBLEM_H

#include "Engine/Objects.h"
#include "Kernels/Sources.h"

namespace quern {

/// The engines of a reorder's tensors.
struct ReorderSides {
  Engine *src = nullptr, *dst = nullptr; ///< null: the problem's engine, or the CPU if the descriptor specifies it
};

class Problem {
public:
  /// Verifies `desc` for the engine's target. `hint` is the forward problem of a backward one, or null.
  static Result<std::shared_ptr<const Problem>> create(Engine *engine, const PrimitiveDesc &desc,
                                                       const PrimitiveDesc *hint, ReorderSides sides = {});

  const EngineRef &engine() const { return device; }
  const EngineRef &srcEngine() const { return srcDevice; }
  const EngineRef &dstEngine() const { return dstDevice; }
  /// Returns the engine of an execution argument. Not meaningful for a host scalar, which has no engine.
  const Engine *engineOf(int32_t argument) const {
    return argument == arg::src ? srcDevice.get() : argument == arg::dst ? dstDevice.get() : device.get();
  }
  /// Returns true if a reorder only copies bytes from one engine to another. It then has no kernel.
  bool isCopy() const { return copies; }
  const VerifiedProblem &verified() const { return problem; }
  const KernelKey &key() const { return kernelKey; }
  /// Returns false if the problem has no elements or only copies bytes.
  bool hasKernel() const { return !problem.isNoop && !copies; }
  bool usesCallerScratchpad() const { return problem.desc.attr.scratchpadMode == ScratchpadMode::User; }
  /// Returns true if the layout of this execution argument was `any` in the original descriptor.
  bool choseLayout(int32_t argument) const;
  /// Number of threads that a caller-owned scratchpad is sized for.
  int scratchpadThreads() const { return threads; }

  /// Returns the kernel. If a query has already acquired it, returns that one; the first call then reports its origin,
  /// later calls report quern_origin_memory. May return the kernel of the family (see acquireKernel()), except on a
  /// device or with a caller-owned scratchpad.
  Result<AcquiredKernel> acquire(Tiers tiers = Tiers::Specialized) const;
  /// See acquireUnsharedKernel(). Only for problems for which acquire() returned the kernel of a family. The request is
  /// canceled once `*isCut` is true; the pointer may be null.
  Lookup<AcquiredKernel> acquireUnshared(const std::atomic<bool> *isCut) const;
  /// Returns `asked`, or for Tiers::Default the present value of QUERN_TIERS. A deterministic problem gets
  /// `Specialized` in place of `Both`. Fails with `invalid_arguments` if the variable has another value.
  Result<Tiers> tiers(Tiers asked) const;
  /// Returns the text form, which is created by the first call.
  const std::string &text() const;
  /// Keeps a kernel that the caller passed, if there is none yet. Queries for the scratchpad then use it.
  void adopt(std::shared_ptr<const Executable> executable) const;
  /// Returns the bytes of all scratch that an execution may use. Acquires the kernel.
  Result<int64_t> scratchpadBytes() const;
  /// Returns the 1-D u8 descriptor of the scratchpad, or the zero descriptor. Acquires the kernel only in user mode.
  Result<const TensorDesc *> scratchpadDesc() const;
  /// Returns the estimate for one core; 0 without a kernel. Acquires the kernel.
  Result<double> estimatedSeconds() const;

private:
  Problem(Engine *engine, const EngineRef &src, const EngineRef &dst, VerifiedProblem &&verified, uint64_t anyFields);
  KernelRequest request() const { return {problem, kernelKey, device->target, device->device}; }
  AcquiredKernel takeKernel() const;
  /// Acquires the kernel and keeps it. Returns null if there is none.
  Result<std::shared_ptr<const Executable>> keepKernel() const;
  Result<std::shared_ptr<const Executable>> kernelForScratchpad() const;

  EngineRef device, srcDevice, dstDevice;
  VerifiedProblem problem;
  KernelKey kernelKey;
  uint64_t anyFields; ///< bit i: tensor i of the operation was `any` or absent in the original descriptor
  bool copies;
  int threads;
  mutable ForkMutex mutex;       ///< guards the next two members
  mutable AcquiredKernel kernel; ///< has its origin until acquire() has returned it once
  mutable std::shared_ptr<const Executable> adopted;
  mutable std::once_flag textOnce;
  mutable std::string textForm;
  mutable std::once_flag scratchpadOnce;
  mutable TensorDesc scratchpad;
};

/// Returns the verified problem of a descriptor. A function in MLIR that is given as bytes is first read.
Result<VerifiedProblem> verifiedProblemOf(const PrimitiveDesc &desc, const Target &target,
                                          const PrimitiveDesc *hint = nullptr);

/// Returns the number of threads for which scratchpads of problems that this thread creates are sized.
int maxConcurrency();
Result<void> setMaxConcurrency(int threads);

} // namespace quern

#endif // QUERN_RUNTIME_CORE_PROBLEM_H
