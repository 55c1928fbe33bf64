//===- Timing.h - A problem's kernels beside the machine's peak -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The peak is a loop of independent multiply-adds on registers, compiled by the same stages and run in turns with the
// kernels, so that both meet the same clock.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_OPT_TIMING_H
#define QUERN_OPT_TIMING_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>

namespace quern {

/// Medians; times of one execution on one thread.
struct ProblemTiming {
  std::string peak;                                              ///< of what
  double scheduleMs = 0, lowerMs = 0, codegenMs = 0;             ///< of a warm context
  double ns = 0, operations = 0, peakPerNs = 0, shareOfPeak = 0; ///< operations: two for each multiply-add of a product
  std::string text() const;                                      ///< two lines
};

/// Schedules the problems of `module`, which stays, and times compiling and running. `peak` is f32, f64, bf16 or int8;
/// what the target has no instruction for is refused with a diagnostic, as is a problem that does not compile or run
/// here. `values`: of what is open, as in Sizes.h.
mlir::FailureOr<ProblemTiming> timeProblem(mlir::ModuleOp module, llvm::StringRef target, llvm::StringRef peak,
                                           uint64_t seed, llvm::ArrayRef<int64_t> values);

} // namespace quern

#endif // QUERN_OPT_TIMING_H
