//===- RunProblem.h - A problem run at both ends of guarded memory -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_FAULTS_FUZZ_RUNPROBLEM_H
#define QUERN_TEST_FAULTS_FUZZ_RUNPROBLEM_H

#include "Harness.h"

#include <vector>

namespace quern::fuzz {

/// A line with values for its `?`.
struct DrawnLine {
  std::string line;
  std::vector<int64_t> sizes;  ///< one for each `?`, or one for all of them
  bool hasUsualNumbers = true; ///< false: the tolerances of the judge do not apply to its parameters
};

/// Compiles a described problem and executes it twice: every buffer ends, and then starts, at an inaccessible page.
/// Both must compute the same bytes, and the expected ones if the reference can compute them cheaply. Tensors of more
/// than a few MiB are not executed. Throws Failure.
void runProblem(Input &input, const DrawnLine &drawn);

} // namespace quern::fuzz

#endif // QUERN_TEST_FAULTS_FUZZ_RUNPROBLEM_H
