//===- Compile.h - Compilation of drawn problems --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Needs no device. It finds compilers that terminate the process, refuse verified problems, or create invalid modules.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SUITE_COMPILE_H
#define QUERN_CONFORMANCE_SUITE_COMPILE_H

#include "Cases.h"
#include "DeviceRefusals.h"
#include "Problem.h"
#include "Suite.h"

#include <string>

namespace quern {

/// Compiles valid problems of one primitive in this process, each for a device with random limits. The groups of the
/// artifact must fit the device, and spirv-val must accept its module. Problems that verification refuses because the
/// device may lack a feature (DeviceRefusals.h) are counted and skipped.
class CompileSuite {
public:
  CompileSuite(const SuiteOptions &options, PrimitiveCases &cases) : options(options), cases(cases) {}
  virtual ~CompileSuite();

  /// Creates a folder for the modules.
  Result<void> open();
  void run();
  /// Prints the counts and "N passed, N failed"; returns the exit code.
  int summarize() const;

protected:
  /// Compiles a verified problem and checks the artifact; tests override it to plant refusals.
  virtual Result<void> make(const ParsedProblem &problem, const Target &target) const;

private:
  Result<void> compile(const std::string &line, const Target &target);
  Result<void> validate(const std::string &module) const;

  SuiteOptions options;
  PrimitiveCases &cases;
  std::string folder;
  DeviceRefusals skipped;
  int64_t compiled = 0, empty = 0, failed = 0;
};

} // namespace quern

#endif // QUERN_CONFORMANCE_SUITE_COMPILE_H
