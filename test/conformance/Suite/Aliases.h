//===- Aliases.h - Outputs that overlap other arguments -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An execution whose output overlaps another argument must compute the right result, or be refused as
// `invalid_arguments` before anything is written. The problem determines types and layouts; the offsets of the output
// are drawn here.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SUITE_ALIASES_H
#define QUERN_CONFORMANCE_SUITE_ALIASES_H

#include "Cases.h"

#include <array>
#include <functional>

namespace quern {

class AliasRounds {
public:
  /// Runs executions on the contents of `data` in which outputs of the problem, or the scratchpad, overlap other
  /// arguments. Calls `announce` with a description before each.
  Result<void> run(Kernel &kernel, const ParsedProblem &problem, ProblemData &data, const Case &drawn,
                   const std::function<void(std::string_view)> &announce);
  /// Prints how many executions were right and refused, by the kinds of the two arguments.
  void print(std::ostream &os) const;
  /// Returns offsets that `problems` problems must have covered and these did not.
  std::vector<std::string> missing(int64_t problems) const;

private:
  struct Counts {
    int64_t right = 0, refused = 0;
  };
  struct Alias;
  Result<void> runOne(Kernel &kernel, const ParsedProblem &problem, ProblemData &data, FillKind fill,
                      const Alias &alias);

  std::map<std::string, Counts> counts;
  std::array<Counts, 6> shifts{}; ///< by offset
};

} // namespace quern

#endif // QUERN_CONFORMANCE_SUITE_ALIASES_H
