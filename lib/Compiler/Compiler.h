//===- Compiler.h - Descriptors to code -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs verify, emit, schedule, lower and codegen on one problem, as far as the wanted form needs. A pure function of
// its arguments: the same problem, target and build give the same bytes. Diagnostics never reach a stream; they become
// the error, with stage and repro line.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_COMPILER_H
#define QUERN_COMPILER_COMPILER_H

#include "Desc/PrimitiveDesc.h"
#include "Desc/Target.h"
#include "Support/Error.h"
#include "quern-compiler/Bridge.h"

#include <cstdint>
#include <string>

namespace quern {

/// Wall time of each part of one compilation. A context is made when no warm one is idle.
struct StageTimes {
  uint64_t contextNs = 0, emitNs = 0, scheduleNs = 0, lowerNs = 0, codegenNs = 0;
  uint64_t totalNs() const { return contextNs + emitNs + scheduleNs + lowerNs + codegenNs; }
  /// "context 0.001 emit 0.020 schedule 0.130 lower 0.900 codegen 3.100 total 4.151 ms".
  std::string text() const;
};

/// The text, object or artifact of a problem; `form` is a quern_compiler_form, from outside and unchecked. Thread-safe;
/// threads do not wait for each other. Errors: whatever verification returns; `unimplemented` when no recipe matches or
/// the form does not apply to the target; `not_required` for a problem without elements; `internal` for our bugs.
/// `sourcePath`: what the DWARF of a debug object calls the file with the schedule's text.
Result<std::string> compileProblem(const PrimitiveDesc &desc, const Target &target, int32_t form, bool verifyIr,
                                   const std::string &sourcePath = "2-schedule.mlir");

/// One line: the implementation, the plan, the iteration space and the scratch.
Result<std::string> explainProblem(const PrimitiveDesc &desc, const Target &target);

/// Of this thread's last compileProblem().
const StageTimes &lastStageTimes();

} // namespace quern

#endif // QUERN_COMPILER_COMPILER_H
