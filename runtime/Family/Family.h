//===- Family.h - Problems that one kernel with open sizes serves ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The *family* of a problem is the same operation with its dims in a canonical form and with open sizes, strides and
// offsets. Dims are sorted by the strides of the result, neighbors that are one run of memory in every tensor are
// merged, and dims of size 1 are dropped. Therefore all softmaxes over dense rows, of any rank, are in one family. For
// a recurrent network, the numbers of steps and sequences are open and no dims are moved. The kernel of the family
// computes the problem with its sizes, which are determined once, when the primitive is created.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_FAMILY_FAMILY_H
#define QUERN_RUNTIME_FAMILY_FAMILY_H

#include "Primitives/Registry.h"

#include <optional>
#include <vector>

namespace quern {

struct Family {
  VerifiedProblem problem;    ///< has the same arguments as the original problem
  KernelKey key;              ///< key of the family's kernel
  std::vector<int64_t> sizes; ///< sizes of the original problem for the kernel (quern_kernel_args::sizes)
};

/// Returns the family of a verified problem without open sizes, or nullopt. Problems with padding, most masks, post-ops
/// with tensors, or a caller-owned scratchpad have no family; see docs/packs.md.
std::optional<Family> familyOf(const VerifiedProblem &problem, const Target &target);

} // namespace quern

#endif // QUERN_RUNTIME_FAMILY_FAMILY_H
