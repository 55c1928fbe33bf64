//===- DigestComparison.h - What differs between the kernels of two builds ===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_KERNELS_DIGESTCOMPARISON_H
#define QUERN_KERNELS_DIGESTCOMPARISON_H

#include "KernelDigest.h"

#include <iosfwd>

namespace quern {

/// The digests of a file, in its order. `invalid_arguments`: one cannot be read, or there is none.
Result<std::vector<KernelDigest>> readDigests(const std::string &path);

/// Prints how many of how many differ, by primitive and target, and `shown` of them with which part differs. True if
/// nothing does: neither a digest nor a reason, and both files have the same problems.
bool compareDigests(std::vector<KernelDigest> before, std::vector<KernelDigest> after, size_t shown, std::ostream &os);

} // namespace quern

#endif // QUERN_KERNELS_DIGESTCOMPARISON_H
