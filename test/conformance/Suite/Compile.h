//===- Compile.h - Compiles drawn problems for drawn devices --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// No device is needed: what is looked for is a compiler that ends the process, refuses what was verified, or
// makes a module that is none.
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

/// Legal problems of one primitive, each for a device of random limits: compiled in this process to an artifact, whose
/// groups must fit the device and whose module spirv-val must accept. A problem that verification refuses for what the
/// device may lack (DeviceRefusals.h) is counted and skipped.
class CompileSuite {
public:
  CompileSuite(const SuiteOptions &options, PrimitiveCases &cases) : options(options), cases(cases) {}
  virtual ~CompileSuite();

  /// Makes a folder for the modules.
  Result<void> open();
  void run();
  /// Prints the counts and "N passed, N failed"; gives the exit code.
  int summarize() const;

protected:
  /// Compiles a verified problem and checks what comes out; a test plants what a compiler must not say.
  virtual Result<void> make(const Problem &problem, const Target &target) const;

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
