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
  bool hasUsualNumbers = true; ///< false: its parameters are not those that the judge of results is made for
};

/// Compiles a problem that was described and executes it with every buffer flush at an inaccessible page, at its end
/// and at its beginning. Both must give the same bytes, and those that the reference expects where computing that is
/// cheap. Tensors of more than a few MiB are not executed. Throws Failure.
void runProblem(Input &input, const DrawnLine &drawn);

} // namespace quern::fuzz

#endif // QUERN_TEST_FAULTS_FUZZ_RUNPROBLEM_H
