//===- Problem.h - Problems from lines and files --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A line of text, parsed and verified. Errors have the line and a caret under the wrong word, for errors in syntax and
// in meaning.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_PROBLEM_H
#define QUERN_TOOLS_PROBLEM_H

#include "Options.h"
#include "Primitives/Registry.h"

#include <string>
#include <vector>

namespace quern {

struct ParsedProblem {
  Target target;       ///< target for which it is verified
  PrimitiveDesc given; ///< descriptor as parsed
  VerifiedProblem verified;
  std::string text; ///< text of the verified descriptor, without `any`

  const PrimitiveDesc &desc() const { return verified.desc; }
  /// Bytes of the inputs and outputs, each element once and without gaps. Used to compute GB/s.
  int64_t bytesMoved() const;
  /// Number of operations in the products of matrices of a gemm or an RNN, two for each multiply-add, for all steps of
  /// each sequence. 0 for other primitives, and if a size or the length of a sequence is known only at execution.
  int64_t productOperations() const;
  /// Returns true if the line has `any` as the layout of this tensor.
  bool wasAny(std::string_view tensor) const;
};

Result<ParsedProblem> readProblem(std::string_view line, const Target &target);
/// Like the function above, for a target in text form.
Result<ParsedProblem> readProblem(std::string_view line, const std::string &target);

/// Reads a function in MLIR, `FILE` or `FILE:function`, unmodified.
Result<PrimitiveDesc> readMlirFile(const std::string &file, bool allowNaive);
/// Returns the line of a function in MLIR, `FILE` or `FILE:function`, as the compiler has read it. `allowNaive`:
/// operations that no recipe supports are lowered to naive loops.
Result<std::string> lineOfMlir(const std::string &file, bool allowNaive);
/// Adds the lines of such functions to `lines`.
Result<void> addMlir(std::vector<std::string> &lines, const std::vector<std::string> &functions, bool allowNaive);
/// The problem of a command: a line, or the line of the function `mlir` if that is given instead.
struct GivenProblem {
  std::string line, mlir;
  bool allowNaive = false;
  /// Adds the positional `LINE`, and as alternatives --mlir with --naive.
  void addTo(Command &command);
  Result<std::string> read() const;
};
/// Returns the text form of a function's oracle. With `hasErrors` it takes two more buffers for the error bounds of
/// each output; otherwise it computes in the function's own arithmetic.
std::string oracleOf(const PrimitiveDesc &desc, bool hasErrors);

/// Returns the line with each `?` replaced by a size, from left to right; a single size replaces all of them. Fails
/// with `invalid_arguments` if the number of sizes differs.
Result<std::string> withSizes(std::string_view line, const std::vector<int64_t> &sizes);

/// Returns the problems of a file, one per line. `#` starts a comment; blank lines are skipped.
Result<std::vector<std::string>> readProblemFile(const std::string &path);

/// Returns the message with the line and a caret under the first word of it that the message names; only the message if
/// it names none.
std::string withCaret(std::string_view message, std::string_view line);

} // namespace quern

#endif // QUERN_TOOLS_PROBLEM_H
