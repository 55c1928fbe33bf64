//===- Flatness.h - Data that tests nothing -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Where every element of an input, or every result that is expected, has one value, a kernel that mixes up
// elements is right by chance.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SUITE_FLATNESS_H
#define QUERN_CONFORMANCE_SUITE_FLATNESS_H

#include "ProblemData.h"

#include <string>

namespace quern {

/// What of the data is flat, as "input src" or "output dst"; empty if nothing with more than a handful of elements is.
/// After ProblemData::computeExpected().
std::string flatPartOf(const Problem &problem, ProblemData &data);

/// Why what this problem is, with data of this kind, makes it so: one named reason; empty if another draw helps.
std::string_view reasonForFlat(const PrimitiveDesc &desc, FillKind fill);

} // namespace quern

#endif // QUERN_CONFORMANCE_SUITE_FLATNESS_H
