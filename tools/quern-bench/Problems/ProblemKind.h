//===- ProblemKind.h - Tables, families and bounds by primitive -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Titles, families and bounds depend on the primitive; the rest of the harness does not. A new primitive needs one
// file, <Name>Problem.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_PROBLEMS_PROBLEMKIND_H
#define QUERN_BENCH_PROBLEMS_PROBLEMKIND_H

#include "Problem.h"

#include <nlohmann/json_fwd.hpp>

namespace quern::bench {

/// Upper bounds that docs/performance.md promises for a problem; 0: none.
struct PromisedBounds {
  double compileMs = 0; ///< cold compilation with a warm compiler
  double executeNs = 0; ///< a call on one thread, including the kernel
  double codeKib = 0;   ///< machine code and constants
};

/// Each function is only called with problems of its primitive.
class ProblemKind {
public:
  virtual ~ProblemKind() = default;
  /// Returns the primitive's word in the text form.
  virtual std::string name() const = 0;
  virtual std::string family(const BenchProblem &problem) const = 0;
  virtual std::string group(const BenchProblem &problem) const = 0;
  virtual std::string title(const BenchProblem &problem) const = 0;
  /// Returns the parameters that Python drivers read, in addition to tensors and attributes.
  virtual nlohmann::json parameters(const BenchProblem &problem) const = 0;
  /// Returns the bounds of a problem. `plan` is the library's description of its schedule.
  virtual PromisedBounds bounds(const BenchProblem &problem, const std::string &plan) const = 0;
};

// One function per primitive, named by its word in the text form: softmaxKind(). Null: the primitive is not measured.
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT) const ProblemKind *WORD##Kind();
#include "Desc/Primitives.def"
/// Returns the kind of functions in MLIR.
const ProblemKind *mlirKind();

/// Returns the kind of this problem, or null for a primitive that is not measured.
const ProblemKind *kindOf(const quern::PrimitiveDesc &desc);

/// Returns true for dense row-major tensors.
bool isDense(const TensorDesc &tensor);
/// Returns the values with separators, such as "8x16".
std::string join(std::span<const int64_t> values, const char *separator = "x");
/// Returns the tag, or "s" and the strides: "aBcd16b", "s32x1".
std::string layoutName(const TensorDesc &tensor);
/// Returns the name of a type, or of two if they differ, such as "f32" or "bf16→f32".
std::string typesName(DataType from, DataType to);
/// Appends the short names of post-ops to a comma-separated list: "relu", "add", "sum".
void appendPostOps(const Attributes &attributes, std::string &list);

} // namespace quern::bench

#endif // QUERN_BENCH_PROBLEMS_PROBLEMKIND_H
