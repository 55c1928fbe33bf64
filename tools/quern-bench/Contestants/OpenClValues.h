//===- OpenClValues.h - Elements and attributes in OpenCL C ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_CONTESTANTS_OPENCLVALUES_H
#define QUERN_BENCH_CONTESTANTS_OPENCLVALUES_H

#include "Problems/Problem.h"

#include <string>

namespace quern::bench {

/// Expressions and statements for a problem's elements in a plain kernel, as text. They refer to the element with the
/// logical indices i0, i1, …
class OpenClValues {
public:
  /// Throws std::runtime_error if the problem has no plain kernel.
  explicit OpenClValues(const BenchProblem &problem);

  /// Returns conversions and functions that OpenCL C lacks, to be placed before the kernel.
  static std::string helpers();
  /// Returns the problem's arguments as parameters.
  std::string parameters() const;
  /// Returns "double" if some tensor is f64, otherwise "float".
  const char *real() const { return isDouble ? "double" : "float"; }
  /// Returns the element converted to real(), without attributes.
  std::string element(int32_t argument) const;
  /// Returns a factor for a loaded value or a divisor for a stored one; empty: none.
  std::string scale(int32_t argument) const;
  /// Returns the loaded value with scale and zero point applied.
  std::string loaded(int32_t argument) const;
  /// Returns the value to store for a result, with post-ops, scale and zero point applied; still of type real().
  std::string finished(int32_t argument, const std::string &result) const;
  /// Returns a statement that stores a value of type real(). Not for 4-bit elements.
  std::string stored(int32_t argument, const std::string &value) const;
  const TensorDesc &tensor(int32_t argument) const { return at(argument).desc; }
  std::string nameOf(int32_t argument) const;

private:
  const ArgumentInfo &at(int32_t argument) const;
  std::string quantization(int32_t argument, int32_t vector, const QuantParams &params) const;
  std::string withPostOps(std::string value, int32_t argument) const;

  const VerifiedProblem &problem;
  bool isDouble = false;
};

/// Returns the offset of the element, in elements.
std::string openClOffset(const TensorDesc &tensor);

} // namespace quern::bench

#endif // QUERN_BENCH_CONTESTANTS_OPENCLVALUES_H
