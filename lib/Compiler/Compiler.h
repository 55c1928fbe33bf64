//===- Compiler.h - From descriptors to code ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs verify, emit, schedule, lower and codegen on one problem, up to the stage that the requested form needs. The
// result is a pure function of the arguments: the same problem, target and build give the same bytes. Diagnostics are
// not printed; they become the error, with stage and reproduction line.
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

/// Wall time of each part of one compilation, in ns. A context is created only if no warm one is idle.
struct StageTimes {
  uint64_t contextNs = 0, emitNs = 0, scheduleNs = 0, lowerNs = 0, codegenNs = 0;
  uint64_t totalNs() const { return contextNs + emitNs + scheduleNs + lowerNs + codegenNs; }
  /// Returns a text such as "context 0.001 emit 0.020 schedule 0.130 lower 0.900 codegen 3.100 total 4.151 ms".
  std::string text() const;
};

/// Returns the text, object or artifact of a problem. `form` is an unchecked quern_compiler_form. Thread-safe;
/// concurrent calls do not block each other. Fails with `invalid_arguments` for an unknown form; with the status of the
/// verification; with `unimplemented` if no recipe matches or the form does not apply to the target; with
/// `not_required` for a problem without elements; and with `internal` for defects of Quern. `sourcePath` is the name of
/// the file with the schedule's text in the DWARF of a debug object.
Result<std::string> compileProblem(const PrimitiveDesc &desc, const Target &target, int32_t form, bool verifyIr,
                                   const std::string &sourcePath = "2-schedule.mlir");

/// Returns one line with the implementation, the plan, the iteration space and the scratch; for a caller's function,
/// lines for its groups follow.
Result<std::string> explainProblem(const PrimitiveDesc &desc, const Target &target);

/// Returns the times of this thread's last compileProblem().
const StageTimes &lastStageTimes();

} // namespace quern

#endif // QUERN_COMPILER_COMPILER_H
