//===- Executable.h - A loaded kernel ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An artifact whose code is loaded: launch steps and argument order, checked once so that executions need no checks.
// Immutable; primitives with the same key share it. The subclasses in runtime/Cpu and runtime/LevelZero call its
// entries.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_ENGINE_EXECUTABLE_H
#define QUERN_RUNTIME_ENGINE_EXECUTABLE_H

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
  /// Returns the launch steps. Their functions are null on a device.
  std::span<const KernelStep> steps() const { return stepList; }
  /// Returns the arguments in the order of the kernel's buffers.
  std::span<const ArtifactArgument> arguments() const { return argumentList; }
  /// Returns the scratch of an execution, without regions whose size depends on open sizes.
  const ScratchNeeds &scratch() const { return scratchNeeds; }
  /// Returns the bytes of shared scratch that the kernels use. The regions follow them.
  int64_t kernelSharedBytes() const { return kernelShared; }
  /// Returns the shared bytes of an execution: the kernels' bytes, then `regions` bytes of regions.
  Result<int64_t> sharedBytes(int64_t regions) const;
  /// Returns the offset of the regions in the shared scratch. sharedBytes() of the execution must not overflow int64.
  int64_t regionsStart() const { return roundUp(kernelShared, static_cast<int64_t>(scratchAlignment)).value(); }
  double estimatedSeconds() const { return seconds; }

  const std::string &artifactBytes() const { return serialized; }
  /// Returns the hash of the key, as in the name of its cache file.
  const std::string &key() const { return keyText; }
  const std::string &plan() const { return planText; }
  const std::string &target() const { return targetText; }
  /// Returns "orc", "loader", "program" or "driver".
  virtual const char *linkerName() const = 0;
  virtual size_t codeBytes() const = 0;
  /// Returns the device that the code is loaded on; null on the CPU.
  virtual const Device *device() const { return nullptr; }
  /// Returns the driver's binary of the code, valid only for this device and driver; empty on the CPU.
  virtual Result<std::string> nativeCode() const { return std::string(); }
  /// Returns true if the kernel was loaded from native code that the driver accepted.
  virtual bool isFromNative() const { return false; }
  /// Returns the bytes that the executable occupies in the memory cache.
  size_t memoryBytes() const { return codeBytes() + serialized.size() + sizeof(*this); }

protected:
  Executable() = default;
  /// Checks that the artifact has the arguments of the problem. Otherwise fails with `runtime_error`.
  static Result<void> checkArguments(const Artifact &artifact, const VerifiedProblem &problem);
  /// Initializes everything except the code. `functions` are those of the artifact's entries.
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

#endif // QUERN_RUNTIME_ENGINE_EXECUTABLE_H
