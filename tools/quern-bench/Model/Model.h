//===- Model.h - Innermost loops on LLVM's models of processors -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Speed on processors that are not here: the cycles that llvm-mca gives each innermost loop of a problem's kernels, and
// what a turn does. Loops of products are compared with the peak of the level's instruction for them, others with loops
// written by hand (Bounds.h).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_MODEL_MODEL_H
#define QUERN_BENCH_MODEL_MODEL_H

#include <map>
#include <string>
#include <vector>

namespace quern::bench {

struct ModelledLoop {
  std::string kernel, step; ///< the step that most of its instructions are of
  bool isProduct = false;   ///< sums products over K: a loop of a contraction
  size_t line = 0;          ///< of the schedule
  size_t instructions = 0;
  size_t spills = 0;                    ///< stores and loads of spilled registers
  double bytesRead = 0;                 ///< in a turn
  std::string multiply;                 ///< the instruction that most of its products are by; of an AArch64 loop
  double flops = 0;                     ///< of multiplications that add, in a turn; so, too
  std::map<std::string, double> cycles; ///< of a turn, by processor; none where its model lacks an instruction
  std::map<std::string, double> busy;   ///< of these, those in which multiplications alone are begun
};

/// Those of a trace (docs/command.md). Only estimates for `processors` are kept. Throws std::exception if it is none.
std::vector<ModelledLoop> modelledLoopsIn(const std::string &trace, const std::string &target,
                                          const std::vector<std::string> &processors);
/// Those of a problem, compiled for a target. Throws std::runtime_error.
std::vector<ModelledLoop> modelledLoopsOf(const std::string &line, const std::string &target,
                                          const std::vector<std::string> &processors);

struct ModelSettings {
  std::vector<std::string> processors, targets, lines;
  std::string bounds; ///< folder of loops written by hand
  std::string mca;    ///< the program
};

/// Tables: loops beside those written by hand; loops of products by target and processor, in sum and each. Throws
/// std::runtime_error.
struct ModelReport {
  std::string text;
  size_t spills = 0; ///< in loops of products
};
ModelReport describeModel(const ModelSettings &settings);

} // namespace quern::bench

#endif // QUERN_BENCH_MODEL_MODEL_H
