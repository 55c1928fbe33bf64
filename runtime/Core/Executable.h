//===- Executable.h - A loaded kernel ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An artifact whose code is loaded: launch steps and argument order, checked once so that execution need not. Immutable
// and shared by every primitive of the same key. How its entries are called is the business of the device: runtime/Cpu
// and runtime/LevelZero derive from it.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_EXECUTABLE_H
#define QUERN_RUNTIME_CORE_EXECUTABLE_H

#include "Artifact/Artifact.h"
#include "Launch/Program.h"
#include "Launch/Scratch.h"
#include "Primitives/Registry.h"
#include "Support/CheckedMath.h"

#include <memory>
#include <span>

namespace quern {

class Device;

class Executable {
public:
  virtual ~Executable() = default;
  Executable(const Executable &) = delete;
  Executable &operator=(const Executable &) = delete;

  const Program &program() const { return launch; }
  /// Their functions are null on a device.
  std::span<const KernelStep> steps() const { return stepList; }
  /// In the order of the kernel's buffers.
  std::span<const ArtifactArgument> arguments() const { return argumentList; }
  /// The scratch of an execution, without regions whose bytes depend on sizes.
  const ScratchNeeds &scratch() const { return scratchNeeds; }
  /// What kernels share in front of regions.
  int64_t kernelSharedBytes() const { return kernelShared; }
  /// Bytes that an execution shares: the kernels' own, and behind them so many of regions.
  Result<int64_t> sharedBytes(int64_t regions) const;
  /// Of an execution whose sharedBytes() are not beyond int64.
  int64_t regionsStart() const { return roundUp(kernelShared, static_cast<int64_t>(scratchAlignment)).value(); }
  double estimatedSeconds() const { return seconds; }

  const std::string &artifactBytes() const { return serialized; }
  /// The hash of its key, as in the name of its cache file.
  const std::string &key() const { return keyText; }
  const std::string &plan() const { return planText; }
  const std::string &target() const { return targetText; }
  /// "orc", "loader" or "driver".
  virtual const char *linkerName() const = 0;
  virtual size_t codeBytes() const = 0;
  /// Where it is loaded; null: on the CPU.
  virtual const Device *device() const { return nullptr; }
  /// What the device's driver has made of the code, for this device and driver alone; empty on the CPU.
  virtual Result<std::string> nativeCode() const { return std::string(); }
  /// Whether it was loaded with native code, and the driver took that.
  virtual bool isFromNative() const { return false; }
  /// What it occupies in a cache.
  size_t memoryBytes() const { return codeBytes() + serialized.size() + sizeof(*this); }

protected:
  Executable() = default;
  /// `unimplemented` or `runtime_error` if the artifact's arguments are not those of the problem.
  static Result<void> checkArguments(const Artifact &artifact, const VerifiedProblem &problem);
  /// Everything but the code; `functions` of the artifact's entries.
  Result<void> take(Artifact &&artifact, std::string &&bytes, std::span<void *const> functions);

private:
  std::vector<KernelStep> stepList;
  std::vector<ArtifactArgument> argumentList;
  Program launch;
  ScratchNeeds scratchNeeds;
  int64_t kernelShared = 0;
  double seconds = 0;
  std::string serialized, keyText, planText, targetText;
};

} // namespace quern

#endif // QUERN_RUNTIME_CORE_EXECUTABLE_H
