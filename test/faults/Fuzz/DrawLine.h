//===- DrawLine.h - Random lines of problems -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_FAULTS_FUZZ_DRAWLINE_H
#define QUERN_TEST_FAULTS_FUZZ_DRAWLINE_H

#include "RunProblem.h"

namespace quern::fuzz {

/// Draws a line of one of four origins:
/// - a problem whose tensors, attributes and post-ops are drawn independently, so that rare combinations, such as a
///   post-op into a padded layout, are frequent; some of these problems are refused;
/// - a valid problem of the conformance sets;
/// - a small variant of either, in which large numbers are replaced;
/// - either with changed, removed and inserted words; most of these are refused.
DrawnLine drawLine(Random &random, const Target &target);

} // namespace quern::fuzz

#endif // QUERN_TEST_FAULTS_FUZZ_DRAWLINE_H
