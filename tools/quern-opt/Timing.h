//===- Timing.h - Speed of kernels relative to the peak -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The peak is measured with a loop of independent multiply-adds on registers. It is compiled by the same stages and run
// alternately with the kernels, so both run at the same clock frequency.
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
  std::string peak;                                              ///< name of the peak
  double scheduleMs = 0, lowerMs = 0, codegenMs = 0;             ///< CPU times of the stages in a warm context
  double ns = 0, operations = 0, peakPerNs = 0, shareOfPeak = 0; ///< operations: two for each multiply-add of a product
  std::string text() const;                                      ///< two lines
};

/// Schedules the problems of `module`, which is not modified, and times compilation and execution. `peak` is f32, f64,
/// bf16 or int8. Fails with a diagnostic if the target has no instruction for the peak, or if a problem cannot be
/// compiled or run here. `values` replace open sizes, as in Sizes.h.
mlir::FailureOr<ProblemTiming> timeProblem(mlir::ModuleOp module, llvm::StringRef target, llvm::StringRef peak,
                                           uint64_t seed, llvm::ArrayRef<int64_t> values);

} // namespace quern

#endif // QUERN_OPT_TIMING_H
