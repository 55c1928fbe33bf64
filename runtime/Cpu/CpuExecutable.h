//===- CpuExecutable.h - A kernel loaded for the CPU ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_CPUEXECUTABLE_H
#define QUERN_RUNTIME_CPU_CPUEXECUTABLE_H

#include "Core/Executable.h"

namespace quern {

class CodeRegistration;
class CompilerLibrary;
struct DebugObject;

/// The linker of an object.
enum class Linker { Orc, Loader };

/// An artifact whose code is mapped.
class CpuExecutable final : public Executable {
public:
  /// Loads an artifact, whose serialized form is `bytes`. Linker::Orc requires `compiler`. Fails if the arguments of
  /// the artifact and the problem differ, or if the linker rejects the code. `debug`, which may be null, has the code
  /// that is reported to debuggers and profilers.
  static Result<std::shared_ptr<const Executable>> load(Artifact artifact, std::string bytes,
                                                        const VerifiedProblem &problem, Linker linker,
                                                        const CompilerLibrary *compiler,
                                                        const DebugObject *debug = nullptr);
  /// Like load(), for an artifact without code, whose entries are linked into the program.
  static Result<std::shared_ptr<const Executable>>
  adopt(Artifact artifact, std::string bytes, const VerifiedProblem &problem, std::span<void *const> entries);

  const char *linkerName() const override { return !owner ? "program" : linkedBy == Linker::Orc ? "orc" : "loader"; }
  size_t codeBytes() const override { return mappedBytes; }

private:
  CpuExecutable() = default;

  std::shared_ptr<void> owner;                    ///< keeps the code mapped
  std::shared_ptr<CodeRegistration> registration; ///< destroyed before `owner`
  Linker linkedBy = Linker::Loader;
  size_t mappedBytes = 0;
};

} // namespace quern

#endif // QUERN_RUNTIME_CPU_CPUEXECUTABLE_H
