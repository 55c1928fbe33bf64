//===- Corpus.h - The problems whose kernels are compared -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The problems are lines of files, and cases of the conformance program's generators. A seed draws the same problems on
// every machine.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_KERNELS_CORPUS_H
#define QUERN_KERNELS_CORPUS_H

#include "Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace quern {

/// A problem and its target, both in text form.
struct KernelRequest {
  std::string target, line;
  auto operator<=>(const KernelRequest &) const = default;
};

struct CorpusOptions {
  std::vector<std::string> targets;
  std::vector<std::string> files; ///< files of problems
  std::vector<std::string> sets;  ///< names of sets of cases
  int64_t count = 0;              ///< number of cases drawn per set and target
  uint64_t seed = 1;
};

/// Returns every CPU level of x86.
std::vector<std::string> cpuTargets();
/// Returns cpuTargets() and four devices: with and without vectors per work-item, with f16 and f64 or neither, and with
/// different sub-groups.
std::vector<std::string> defaultTargets();
/// Returns the names of all sets of cases.
std::vector<std::string> allSets();
/// Returns one set of cases for each primitive.
std::vector<std::string> setsOfPrimitives();
/// Returns each problem for each target, without duplicates; those of files come first.
Result<std::vector<KernelRequest>> corpusOf(const CorpusOptions &options);

} // namespace quern

#endif // QUERN_KERNELS_CORPUS_H
