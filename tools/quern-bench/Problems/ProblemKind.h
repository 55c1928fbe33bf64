//===- ProblemKind.h - What the harness knows of each primitive -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Titles, families and bounds belong to a primitive, and everything else in the harness to none. A new primitive is one
// file, <Name>Problem.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_PROBLEMS_PROBLEMKIND_H
#define QUERN_BENCH_PROBLEMS_PROBLEMKIND_H

#include "Problem.h"

#include <nlohmann/json_fwd.hpp>

namespace quern::bench {

/// What docs/performance.md promises of one problem; 0: nothing.
struct Bounds {
  double compileMs = 0; ///< cold compile, the compiler warm
  double executeNs = 0; ///< a call on one thread, the kernel included
  double codeKib = 0;   ///< machine code and constants
};

/// Each function is given problems of its own primitive only.
class ProblemKind {
public:
  virtual ~ProblemKind() = default;
  /// The primitive's word in the text form.
  virtual std::string name() const = 0;
  virtual std::string family(const Problem &problem) const = 0;
  virtual std::string group(const Problem &problem) const = 0;
  virtual std::string title(const Problem &problem) const = 0;
  /// Parameters that drivers in Python read, beside tensors and attributes.
  virtual nlohmann::json parameters(const Problem &problem) const = 0;
  /// `plan` is the library's own line of how the problem was scheduled.
  virtual Bounds bounds(const Problem &problem, const std::string &plan) const = 0;
};

// One of each primitive, by its word in the text form: softmaxKind(). Null: it is not measured.
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT) const ProblemKind *WORD##Kind();
#include "Desc/Primitives.def"
/// Of functions in MLIR.
const ProblemKind *mlirKind();

/// The kind of this problem, or null for a primitive that is not measured.
const ProblemKind *kindOf(const quern::PrimitiveDesc &desc);

/// Dense row-major.
bool isDense(const TensorDesc &tensor);
/// "8x16".
std::string join(std::span<const int64_t> values, const char *separator = "x");
/// The tag, or "s" and the strides: "aBcd16b", "s32x1".
std::string layoutName(const TensorDesc &tensor);
/// "f32", "bf16→f32".
std::string typesName(DataType from, DataType to);
/// Appends the short names of post-ops to a list that commas separate: "relu", "add", "sum".
void appendPostOps(const Attributes &attributes, std::string &list);

} // namespace quern::bench

#endif // QUERN_BENCH_PROBLEMS_PROBLEMKIND_H
