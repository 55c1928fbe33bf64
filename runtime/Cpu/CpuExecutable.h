//===- CpuExecutable.h - A kernel loaded for the CPU ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_CPUEXECUTABLE_H
#define QUERN_RUNTIME_CPU_CPUEXECUTABLE_H

#include "Core/Executable.h"

namespace quern {

class Announcement;
class CompilerLibrary;
struct DebugObject;

/// Who turns an object into running code.
enum class Linker { Orc, Loader };

/// An artifact whose code is mapped.
class CpuExecutable final : public Executable {
public:
  /// Loads an artifact that came as `bytes`. With Linker::Orc `compiler` must be given. Fails if the artifact's
  /// arguments are not those of the problem, or if the linker refuses its code. `debug`, which may be null, has the
  /// code for debuggers and profilers, which are told of it.
  static Result<std::shared_ptr<const Executable>> load(Artifact artifact, std::string bytes,
                                                        const VerifiedProblem &problem, Linker linker,
                                                        const CompilerLibrary *compiler,
                                                        const DebugObject *debug = nullptr);
  /// The same of an artifact without code, whose entries are part of the program.
  static Result<std::shared_ptr<const Executable>>
  adopt(Artifact artifact, std::string bytes, const VerifiedProblem &problem, std::span<void *const> entries);

  const char *linkerName() const override { return !owner ? "program" : linkedBy == Linker::Orc ? "orc" : "loader"; }
  size_t codeBytes() const override { return mappedBytes; }

private:
  CpuExecutable() = default;

  std::shared_ptr<void> owner;                ///< keeps the code mapped
  std::shared_ptr<Announcement> announcement; ///< destroyed in front of it
  Linker linkedBy = Linker::Loader;
  size_t mappedBytes = 0;
};

} // namespace quern

#endif // QUERN_RUNTIME_CPU_CPUEXECUTABLE_H
