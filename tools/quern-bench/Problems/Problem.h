//===- Problem.h - One problem to be measured -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A verified problem with its entries for tables. It is sent to the contestants' processes as one line of JSON: those
// written in C++ read its text form, those in Python the other fields.
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

/// Location of a function in MLIR; empty for a primitive.
struct ModuleFunction {
  std::string file, function;
};

struct BenchProblem {
  std::string line; ///< line as given: Quern's text form, or "mlir=FILE:function", of tensors with static sizes
  VerifiedProblem verified;
  ModuleFunction module;
  /// The equivalent primitives, for peers that have them: the text form after " = " in the line. Empty if there is
  /// none.
  std::string equivalent;

  /// Reads a line and verifies it for this machine. Throws std::runtime_error.
  static BenchProblem parse(const std::string &line);

  const ProblemKind &kind() const;
  /// Returns the minimum number of bytes to move: every element of every input once, and every element of an output
  /// with its padding and compensation. An output that a sum reads counts twice.
  int64_t trafficBytes() const;
  /// Returns the row in the table of means: the first of its primitive's families that applies (docs/performance.md).
  std::string family() const;
  /// Returns the group of problems with a common mean: "forward", "backward", "reorder".
  std::string group() const;
  /// Returns a short name, unique within a set: "f32 1024x1000", "bf16→f32 log 16x50257", "f32 32x64x56x56 abcd→acdb".
  std::string title() const;

  /// Returns `problem <json>`.
  std::string encode() const;
  /// The inverse of encode(). Throws std::runtime_error.
  static BenchProblem decode(const std::string &text);
};

/// Returns the problems of a file, one per line; blank lines and text after '#' are skipped. Paths of modules are
/// relative to the folder of the file. Throws std::runtime_error.
std::vector<std::string> readProblemFile(const std::string &path);

} // namespace quern::bench

#endif // QUERN_BENCH_PROBLEMS_PROBLEM_H
