//===- OpenClValues.h - Elements and attributes in OpenCL C ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_CONTESTANTS_OPENCLVALUES_H
#define QUERN_BENCH_CONTESTANTS_OPENCLVALUES_H

#include "Problems/Problem.h"

#include <string>

namespace quern::bench {

/// What a plain kernel says of a problem's elements, as text. The element meant is the one with the
/// logical indices i0, i1, …
class OpenClValues {
public:
  /// Throws std::runtime_error for what has no plain kernel.
  explicit OpenClValues(const Problem &problem);

  /// Conversions that OpenCL C lacks, to stand in front of the kernel.
  static std::string helpers();
  /// The problem's arguments, as parameters.
  std::string parameters() const;
  /// float, or double if some tensor is f64.
  const char *real() const { return isDouble ? "double" : "float"; }
  /// As a real, without attributes.
  std::string element(int32_t argument) const;
  /// A factor of what is read or a divisor of what is written; empty: none.
  std::string scale(int32_t argument) const;
  /// What is read of a tensor, scale and zero point applied.
  std::string loaded(int32_t argument) const;
  /// What is written for a result: post-ops, scale and zero point applied; still a real.
  std::string finished(int32_t argument, const std::string &result) const;
  /// A statement that writes a real. Not for elements of 4 bits.
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

/// Where the element lies, in elements.
std::string openClOffset(const TensorDesc &tensor);

} // namespace quern::bench

#endif // QUERN_BENCH_CONTESTANTS_OPENCLVALUES_H
