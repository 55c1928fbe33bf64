//===- Problem.h - A verified problem on an engine ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a primitive descriptor is: immutable and shared by its clones and by the primitives made from it. What takes compiling to know (the
// scratchpad) is found out at the first question.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_PROBLEM_H
#define QUERN_RUNTIME_PROBLEM_H

#include "Kernels.h"
#include "Objects.h"

namespace quern {

class Problem {
public:
  /// Verifies `desc` for the engine's target. `hint` is the forward problem of a backward one, or null. A reorder goes to `dstEngine`,
  /// which may be the same engine (null).
  static Result<std::shared_ptr<const Problem>> create(Engine *engine, const PrimitiveDesc &desc, const PrimitiveDesc *hint,
                                                       Engine *dstEngine = nullptr);

  const EngineRef &engine() const { return device; }
  const EngineRef &dstEngine() const { return dstDevice; }
  const VerifiedProblem &verified() const { return problem; }
  const KernelKey &key() const { return kernelKey; }
  bool isNoop() const { return problem.isNoop; }
  bool usesCallerScratchpad() const { return problem.desc.attr.scratchpadMode == ScratchpadMode::User; }
  /// Whether the layout of this execution argument was `any` in what the problem was made of.
  bool choseLayout(int32_t argument) const;
  /// The threads that a scratchpad given by the caller provides for.
  int scratchpadThreads() const { return threads; }

  /// The kernel; the one already held if a question brought it.
  Result<AcquiredKernel> acquire() const;
  /// The text form; made at the first call.
  const std::string &text() const;
  /// All of the scratch that an execution may use; brings the kernel.
  Result<int64_t> scratchpadBytes() const;
  /// The 1-D u8 descriptor of the scratchpad, or the zero descriptor; brings the kernel in user mode only.
  Result<const TensorDesc *> scratchpadDesc() const;
  /// Brings the kernel; 0 for an empty tensor.
  Result<double> estimatedSeconds() const;

private:
  Problem(Engine *engine, Engine *dstEngine, VerifiedProblem &&verified, uint64_t anyFields);
  /// The kernel, kept from then on. Null for an empty tensor.
  Result<std::shared_ptr<const Executable>> hold() const;

  EngineRef device, dstDevice;
  VerifiedProblem problem;
  KernelKey kernelKey;
  uint64_t anyFields; ///< bit i: tensor i of the operation was `any` or absent
  int threads;
  mutable std::mutex mutex; ///< guards what follows
  mutable std::shared_ptr<const Executable> held;
  mutable std::once_flag textOnce;
  mutable std::string textForm;
  mutable std::once_flag scratchpadOnce;
  mutable TensorDesc scratchpad;
};

/// The threads that scratchpads of problems made by this thread provide for.
int maxConcurrency();
Result<void> setMaxConcurrency(int threads);

} // namespace quern

#endif // QUERN_RUNTIME_PROBLEM_H
