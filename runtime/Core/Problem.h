//===- Problem.h - A verified problem on an engine -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a primitive descriptor is: immutable and shared by its clones and by the primitives made from it. What takes
// compiling to know (the scratchpad) is found out at the first question.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_PROBLEM_H
#define QUERN_RUNTIME_CORE_PROBLEM_H

#include "Core/Kernels.h"
#include "Core/Objects.h"

namespace quern {

/// Where a reorder's tensors are.
struct ReorderSides {
  Engine *src = nullptr, *dst = nullptr; ///< null: the engine that it runs on, or the CPU if the descriptor says so
};

class Problem {
public:
  /// Verifies `desc` for the engine's target. `hint` is the forward problem of a backward one, or null.
  static Result<std::shared_ptr<const Problem>> create(Engine *engine, const PrimitiveDesc &desc,
                                                       const PrimitiveDesc *hint, ReorderSides sides = {});

  const EngineRef &engine() const { return device; }
  const EngineRef &srcEngine() const { return srcDevice; }
  const EngineRef &dstEngine() const { return dstDevice; }
  /// Where an execution argument is; a host scalar is nowhere.
  const Engine *engineOf(int32_t argument) const {
    return argument == arg::src ? srcDevice.get() : argument == arg::dst ? dstDevice.get() : device.get();
  }
  /// Whether a reorder moves the bytes of a tensor from one engine to another as they are: it has no kernel.
  bool isCopy() const { return copies; }
  const VerifiedProblem &verified() const { return problem; }
  const KernelKey &key() const { return kernelKey; }
  /// Without a kernel: there are no elements, or they are copied.
  bool hasKernel() const { return !problem.isNoop && !copies; }
  bool usesCallerScratchpad() const { return problem.desc.attr.scratchpadMode == ScratchpadMode::User; }
  /// Whether the layout of this execution argument was `any` in what the problem was made of.
  bool choseLayout(int32_t argument) const;
  /// The threads that a scratchpad given by the caller provides for.
  int scratchpadThreads() const { return threads; }

  /// The kernel; the one already held if a question brought it. The first to take that is told
  /// where the question found it.
  Result<AcquiredKernel> acquire() const;
  /// The same, or the kernel of the family. A problem with memory of the caller's, or on a device, has its own.
  Result<AcquiredKernel> acquireTier(Tiers wanted) const;
  /// As Kernels::acquireApart(). Only of problems that acquireTier() has given the kernel of a family.
  Result<AcquiredKernel> acquireApart(const std::atomic<bool> *isCut) const;
  /// What is asked for, by default what QUERN_TIERS says now, and for a problem that is to be deterministic
  /// `Specialised` in place of `Both`. `invalid_arguments` if the variable is none of its values.
  Result<Tiers> tiers(Tiers asked) const;
  /// The text form; made at the first call.
  const std::string &text() const;
  /// A kernel that the caller has brought: questions about the scratchpad need no other, if none was held yet.
  void adopt(std::shared_ptr<const Executable> executable) const;
  /// All of the scratch that an execution may use; brings the kernel.
  Result<int64_t> scratchpadBytes() const;
  /// The 1-D u8 descriptor of the scratchpad, or the zero descriptor; brings the kernel in user mode only.
  Result<const TensorDesc *> scratchpadDesc() const;
  /// Brings the kernel; 0 without one.
  Result<double> estimatedSeconds() const;

private:
  Problem(Engine *engine, const EngineRef &src, const EngineRef &dst, VerifiedProblem &&verified, uint64_t anyFields);
  AcquiredKernel takeHeld() const;
  /// The kernel, kept from then on. Null if there is none.
  Result<std::shared_ptr<const Executable>> hold() const;
  Result<std::shared_ptr<const Executable>> holdForScratchpad() const;

  EngineRef device, srcDevice, dstDevice;
  VerifiedProblem problem;
  KernelKey kernelKey;
  uint64_t anyFields; ///< bit i: tensor i of the operation was `any` or absent
  bool copies;
  int threads;
  mutable ForkMutex mutex;     ///< guards the next two members
  mutable AcquiredKernel held; ///< with where it came from, until that was told
  mutable std::shared_ptr<const Executable> adopted;
  mutable std::once_flag textOnce;
  mutable std::string textForm;
  mutable std::once_flag scratchpadOnce;
  mutable TensorDesc scratchpad;
};

/// The threads that scratchpads of problems made by this thread provide for.
int maxConcurrency();
Result<void> setMaxConcurrency(int threads);

} // namespace quern

#endif // QUERN_RUNTIME_CORE_PROBLEM_H
