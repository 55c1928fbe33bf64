//===- Problem.h - One problem to be measured -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A verified problem with what tables say of it. It travels to the contestants' processes as one line of JSON: those
// written in C++ read the text form in it, those in Python the fields beside.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_PROBLEMS_PROBLEM_H
#define QUERN_BENCH_PROBLEMS_PROBLEM_H

#include "Primitives/Registry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace quern::bench {

class ProblemKind;

/// Where a function in MLIR is; empty for a primitive.
struct ModuleFunction {
  std::string file, function;
};

struct Problem {
  std::string line; ///< as it was given: Quern's text form, or "mlir=FILE:function", of tensors with static sizes
  VerifiedProblem verified;
  ModuleFunction module;
  /// The same as primitives, for who has those: the text form behind " = " in the line. Empty if there is none.
  std::string equivalent;

  /// Reads a line and verifies it for this machine. Throws std::runtime_error.
  static Problem parse(const std::string &line);

  const ProblemKind &kind() const;
  /// What has to move at least: every element of every input once, and every element of an output with its padding and
  /// compensation; an output that a sum reads counts twice.
  int64_t trafficBytes() const;
  /// Which row of the table of means it belongs to: the first that applies of its primitive's
  /// families (docs/performance.md).
  std::string family() const;
  /// Problems over which means are taken as a whole: "forward", "backward", "reorder".
  std::string group() const;
  /// Short and unambiguous within a set: "f32 1024x1000", "bf16→f32 log 16x50257", "f32 32x64x56x56 abcd→acdb".
  std::string title() const;

  /// `problem <json>`.
  std::string encode() const;
  /// The inverse. Throws std::runtime_error.
  static Problem decode(const std::string &text);
};

/// The problems of a file: one line each; blank lines and what follows '#' are skipped. Files of modules count from the
/// folder of this one. Throws std::runtime_error.
std::vector<std::string> readProblemFile(const std::string &path);

} // namespace quern::bench

#endif // QUERN_BENCH_PROBLEMS_PROBLEM_H
