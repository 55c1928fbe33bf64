//===- Problem.h - Problems from lines and files --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A line of text, parsed and verified. Errors carry the line and a caret under the place, whether the text
// or the meaning is at fault.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_PROBLEM_H
#define QUERN_TOOLS_PROBLEM_H

#include "Options.h"
#include "Primitives/Registry.h"

#include <string>
#include <vector>

namespace quern {

struct Problem {
  Target target;       ///< what it is verified for
  PrimitiveDesc given; ///< as parsed
  VerifiedProblem verified;
  std::string text; ///< of the verified descriptor: nothing is left to `any`

  const PrimitiveDesc &desc() const { return verified.desc; }
  /// Bytes that the inputs and outputs hold: each element once, gaps not counted. What GB/s is computed from.
  int64_t bytesMoved() const;
  /// Whether the line left the layout of this tensor open.
  bool wasAny(std::string_view tensor) const;
};

Result<Problem> readProblem(std::string_view line, const Target &target);
/// For a target in text form.
Result<Problem> readProblem(std::string_view line, const std::string &target);

/// A function in MLIR, `FILE` or `FILE:function`, as it is given.
Result<PrimitiveDesc> readMlirFile(const std::string &file, bool allowNaive);
/// The line of a function in MLIR, `FILE` or `FILE:function`, as the compiler has read it. `allowNaive`: what no
/// recipe takes is lowered loop by loop.
Result<std::string> lineOfMlir(const std::string &file, bool allowNaive);
/// Adds the lines of such functions.
Result<void> addMlir(std::vector<std::string> &lines, const std::vector<std::string> &functions, bool allowNaive);
/// What a command is about: the line, or that of the function of `mlir` where this is given in its place.
struct GivenProblem {
  std::string line, mlir;
  bool allowNaive = false;
  /// Adds `LINE`, and in its place --mlir with --naive.
  void addTo(Command &command);
  Result<std::string> read() const;
};
/// The same function as its own oracle: with arguments for errors behind its own, or in its own arithmetic.
std::string oracleOf(const PrimitiveDesc &desc, bool hasErrors);

/// The line with its `?` replaced by sizes, from left to right; one size serves all of them. `invalid_arguments`
/// for another number of sizes.
Result<std::string> withSizes(std::string_view line, const std::vector<int64_t> &sizes);

/// The problems of a file, one a line. `#` begins a comment; blank lines are skipped.
Result<std::vector<std::string>> readProblemFile(const std::string &path);

/// Appends the line and a caret under the first word of it that the message speaks of; the
/// message alone if there is none.
std::string withCaret(std::string_view message, std::string_view line);

} // namespace quern

#endif // QUERN_TOOLS_PROBLEM_H
