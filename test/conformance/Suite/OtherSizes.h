//===- OtherSizes.h - More sizes for a kernel with open sizes -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SUITE_OTHERSIZES_H
#define QUERN_CONFORMANCE_SUITE_OTHERSIZES_H

#include "Random.h"

#include <string_view>
#include <vector>

namespace quern {

/// Returns other values for the `?` of a line. All open dims with one value, which is drawn, become smaller together:
/// one less, 1, and a value in between. Strides stay, so the resulting layouts are valid and have gaps. The verifier
/// decides whether the problem is valid (a known dim may require the old value).
std::vector<std::vector<int64_t>> otherSizesOf(std::string_view line, const std::vector<int64_t> &sizes,
                                               Random &random);

} // namespace quern

#endif // QUERN_CONFORMANCE_SUITE_OTHERSIZES_H
