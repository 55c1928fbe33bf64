//===- Flatness.h - Detection of data that tests nothing ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// If all elements of an input, or all expected results, have the same value, a kernel that confuses elements is right
// by chance.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SUITE_FLATNESS_H
#define QUERN_CONFORMANCE_SUITE_FLATNESS_H

#include "ProblemData.h"

#include <string>

namespace quern {

/// Returns the part of the data that is flat, as "input src" or "output dst"; empty if no tensor with more than a few
/// elements is. Call it after ProblemData::computeExpected().
std::string flatPartOf(const ParsedProblem &problem, ProblemData &data);

/// Returns why this problem is always flat with data of this kind; empty if another draw helps.
std::string_view reasonForFlat(const PrimitiveDesc &desc, FillKind fill);

} // namespace quern

#endif // QUERN_CONFORMANCE_SUITE_FLATNESS_H
