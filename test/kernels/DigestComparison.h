//===- DigestComparison.h - Differences between kernels of two builds ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_KERNELS_DIGESTCOMPARISON_H
#define QUERN_KERNELS_DIGESTCOMPARISON_H

#include "KernelDigest.h"

#include <iosfwd>

namespace quern {

/// Returns the digests of a file, in order; `invalid_arguments` if a line cannot be read or the file has none.
Result<std::vector<KernelDigest>> readDigests(const std::string &path);

/// Prints the numbers of compared and different kernels by primitive and target, and `shown` of the different ones with
/// the part that differs. Returns true if no digest and no reason differs and both files have the same problems.
bool compareDigests(std::vector<KernelDigest> before, std::vector<KernelDigest> after, size_t shown, std::ostream &os);

} // namespace quern

#endif // QUERN_KERNELS_DIGESTCOMPARISON_H
