//===- Tags.h - Reorders between named layouts ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every ordered pair of tags that oneDNN names, and every permutation of the dims: two plain layouts differ by a
// permutation, whatever the dims are called.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_REORDER_TAGS_H
#define QUERN_CONFORMANCE_REORDER_TAGS_H

#include "Cases.h"

#include <string_view>

namespace quern::cases::reorder {

inline constexpr int minTagRank = 2, maxTagRank = 6;

std::vector<std::string_view> namedTags(int rank);

} // namespace quern::cases::reorder

#endif // QUERN_CONFORMANCE_REORDER_TAGS_H
