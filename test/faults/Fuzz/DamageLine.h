//===- DamageLine.h - Variants of lines of problems -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_FAULTS_FUZZ_DAMAGELINE_H
#define QUERN_TEST_FAULTS_FUZZ_DAMAGELINE_H

#include "Random.h"

#include <string>

namespace quern::fuzz {

/// Replaces large dims by small ones; equal dims get equal replacements.
std::string withSmallDims(Random &random, const std::string &original);
/// Changes, removes and inserts up to twelve words, some of them words of `other`.
std::string damaged(Random &random, const std::string &original, const std::string &other);

} // namespace quern::fuzz

#endif // QUERN_TEST_FAULTS_FUZZ_DAMAGELINE_H
