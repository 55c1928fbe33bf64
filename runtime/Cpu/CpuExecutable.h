//===- CpuExecutable.h - A kernel loaded for the CPU ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_CPUEXECUTABLE_H
#define QUERN_RUNTIME_CPU_CPUEXECUTABLE_H

#include "Engine/Executable.h"

namespace quern {

class CompilerLibrary;

/// The linker of an object; Program: its functions are part of the program.
enum class Linker { Orc, Loader, Program };

/// The code of an artifact in executable memory.
struct LinkedCode {
  Linker linker = Linker::Program;
  std::vector<void *> entries{};        ///< functions of the artifact's entries
  std::vector<const void *> sections{}; ///< only for Loader: address of each section; null: not mapped
  size_t mappedBytes = 0;               ///< 0 for Program
  std::shared_ptr<void> owner{};        ///< keeps the code mapped
  std::shared_ptr<void> registration{}; ///< keeps the code registered with
                                        ///< debuggers; destroyed before `owner`

  /// Links an artifact, whose serialized form is `bytes`. Linker::Orc requires `compiler`. `object` replaces the
  /// artifact's object if it is not null. Fails if the linker rejects the code.
  static Result<LinkedCode> link(const Artifact &artifact, const std::string &bytes, const std::string *object,
                                 Linker linker, const CompilerLibrary *compiler);
  /// Returns the code of an artifact without an object, whose entries are linked into the program.
  static Result<LinkedCode> ofProgram(const Artifact &artifact, std::span<void *const> entries);
};

/// An artifact whose code is mapped.
class CpuExecutable final : public Executable {
public:
  /// Fails if the arguments of the artifact and the problem differ. `bytes` is the artifact's serialized form.
  static Result<std::shared_ptr<const Executable>> create(Artifact artifact, std::string bytes,
                                                          const VerifiedProblem &problem, LinkedCode code);

  const char *linkerName() const override;
  size_t codeBytes() const override { return code.mappedBytes; }

private:
  explicit CpuExecutable(LinkedCode &&code) : code(std::move(code)) {}

  const LinkedCode code;
};

} // namespace quern

#endif // QUERN_RUNTIME_CPU_CPUEXECUTABLE_H
