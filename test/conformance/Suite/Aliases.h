//===- Aliases.h - Outputs laid on other arguments ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An execution whose output shares bytes with another argument must give the right result, or be refused as
// `invalid_arguments` before anything is written. Which types and layouts meet is drawn with the problem; where the one
// lies on the other is drawn here.
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
  /// Lays outputs of the problem, and the scratchpad, on other arguments in several ways, each with an execution of its
  /// own on what `data` holds. `announce` is told before each what it is.
  Result<void> run(Kernel &kernel, const Problem &problem, ProblemData &data, const Case &drawn,
                   const std::function<void(std::string_view)> &announce);
  /// The counts: right and refused, by what lay on what.
  void print(std::ostream &os) const;
  /// What so many problems must have met and these have not.
  std::vector<std::string> missing(int64_t problems) const;

private:
  struct Counts {
    int64_t right = 0, refused = 0;
  };
  struct Alias;
  Result<void> runOne(Kernel &kernel, const Problem &problem, ProblemData &data, FillKind fill, const Alias &alias);

  std::map<std::string, Counts> counts;
  std::array<Counts, 6> shifts{}; ///< by how far the one begins behind the other
};

} // namespace quern

#endif // QUERN_CONFORMANCE_SUITE_ALIASES_H
