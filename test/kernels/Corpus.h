//===- Corpus.h - The problems whose kernels are looked at ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Lines of files, and what the generators of the conformance program draw. A seed means the same problems everywhere.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_KERNELS_CORPUS_H
#define QUERN_KERNELS_CORPUS_H

#include "Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace quern {

/// A problem and what it is compiled for, both in text form.
struct KernelRequest {
  std::string target, line;
  auto operator<=>(const KernelRequest &) const = default;
};

struct CorpusOptions {
  std::vector<std::string> targets;
  std::vector<std::string> files; ///< of problems
  std::vector<std::string> sets;  ///< of cases, by name
  int64_t count = 0;              ///< drawn of each set for each target
  uint64_t seed = 1;
};

/// Every CPU level of x86.
std::vector<std::string> cpuTargets();
/// These, and four devices: with and without vectors of a work-item's own, with f16 and f64 or neither, and
/// with different sub-groups.
std::vector<std::string> defaultTargets();
/// The names of all sets of cases.
std::vector<std::string> allSets();
/// A set of cases for each primitive.
std::vector<std::string> setsOfPrimitives();
/// Each problem for each target, none twice; those of files come first.
Result<std::vector<KernelRequest>> corpusOf(const CorpusOptions &options);

} // namespace quern

#endif // QUERN_KERNELS_CORPUS_H
