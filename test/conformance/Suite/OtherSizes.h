//===- OtherSizes.h - More sizes for a kernel of open sizes ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SUITE_OTHERSIZES_H
#define QUERN_CONFORMANCE_SUITE_OTHERSIZES_H

#include "Random.h"

#include <string_view>
#include <vector>

namespace quern {

/// Other values for the `?` of a line: all open dims of one value, drawn, become smaller alike, once to one less, once
/// to 1 and once to something between, while strides stay, so that the layouts that come of it are legal and have gaps.
/// Whether the whole is (a dim that is not open may have to have the old value) is for the verifier to say.
std::vector<std::vector<int64_t>> otherSizesOf(std::string_view line, const std::vector<int64_t> &sizes,
                                               Random &random);

} // namespace quern

#endif // QUERN_CONFORMANCE_SUITE_OTHERSIZES_H
