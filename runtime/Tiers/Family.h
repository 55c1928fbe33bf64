//===- Family.h - Problems that one kernel of open sizes serves -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The *family* of a problem is the same operation with its dims in a canonical form and their sizes, strides and
// offsets open: dims are sorted by the strides of the result, neighbours that are one run of memory in every tensor are
// merged, those of one element are left out. So every softmax of dense rows is of one family, whatever its rank. Of a
// recurrent network the numbers of steps and sequences are open and nothing is moved. The kernel of the family computes
// the problem with the sizes that this one has, which are found once and for all.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_TIERS_FAMILY_H
#define QUERN_RUNTIME_TIERS_FAMILY_H

#include "Primitives/Registry.h"

#include <optional>
#include <vector>

namespace quern {

struct Family {
  VerifiedProblem problem;    ///< with the arguments of the problem that it was made of
  KernelKey key;              ///< for the target
  std::vector<int64_t> sizes; ///< of that problem, as its kernel takes them (quern_kernel_args::sizes)
};

/// The family of a verified problem without open sizes; nothing if it has none: layouts with blocks or padding,
/// attributes with values for single indices, a scratchpad of the caller's, or operations whose dims do not merge.
std::optional<Family> familyOf(const VerifiedProblem &problem, const Target &target);

} // namespace quern

#endif // QUERN_RUNTIME_TIERS_FAMILY_H
