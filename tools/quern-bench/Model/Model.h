//===- Model.h - Innermost loops on LLVM's processor models ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Estimates the speed on other processors: the cycles that llvm-mca computes for each innermost loop of a problem's
// kernels, and the work of an iteration. Loops of products are compared with the peak of the instruction set's
// products, others with handwritten loops (Bounds.h).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_MODEL_MODEL_H
#define QUERN_BENCH_MODEL_MODEL_H

#include <map>
#include <string>
#include <vector>

namespace quern::bench {

struct ModeledLoop {
  std::string kernel, step; ///< the kernel, and the step of most instructions of the loop
  bool isProduct = false;   ///< true for a loop of a contraction, which sums products over K
  size_t line = 0;          ///< line of the schedule
  size_t instructions = 0;
  size_t spills = 0;    ///< stores and loads of spilled registers
  double bytesRead = 0; ///< bytes that an iteration loads
  std::string multiply; ///< the instruction of most of its products; AArch64 only
  double flops = 0;     ///< flops of multiply-adds per iteration; AArch64 only
  std::map<std::string, double>
      cycles;                         ///< cycles per iteration, by processor; absent if its model lacks an instruction
  std::map<std::string, double> busy; ///< the part of `cycles` in which only multiplications are issued
};

/// Returns the loops of a trace (docs/command.md). Only estimates for `processors` are kept. Throws std::exception if
/// `trace` is not a trace.
std::vector<ModeledLoop> modeledLoopsIn(const std::string &trace, const std::string &target,
                                        const std::vector<std::string> &processors);
/// Returns the loops of a problem, compiled for a target. Throws std::runtime_error.
std::vector<ModeledLoop> modeledLoopsOf(const std::string &line, const std::string &target,
                                        const std::vector<std::string> &processors);

struct ModelSettings {
  std::vector<std::string> processors, targets, lines;
  std::string bounds; ///< folder of handwritten loops
  std::string mca;    ///< path of llvm-mca
};

struct ModelReport {
  /// Tables of loops compared with handwritten ones, and of loops of products by target and processor.
  std::string text;
  size_t spills = 0; ///< number of spills in loops of products
};
/// Compiles and models the problems. Throws std::runtime_error.
ModelReport describeModel(const ModelSettings &settings);

} // namespace quern::bench

#endif // QUERN_BENCH_MODEL_MODEL_H
