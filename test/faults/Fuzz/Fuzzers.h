//===- Fuzzers.h - Fuzzers of the text form and of the C API ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_FAULTS_FUZZ_FUZZERS_H
#define QUERN_TEST_FAULTS_FUZZ_FUZZERS_H

#include "Harness.h"

namespace quern::fuzz {

/// Draws a line. It is refused with a reason, or its text reads back to the same text and the problem is right on
/// guarded memory.
void fuzzText(Input &input);

/// Makes a random sequence of calls of the C API: descriptors of every kind, damaged ones included, attributes,
/// queries, primitives, executions with right and wrong arguments, and products of matrices. Each call succeeds or is
/// refused; what is executed is right on guarded memory.
void fuzzApi(Input &input);

} // namespace quern::fuzz

#endif // QUERN_TEST_FAULTS_FUZZ_FUZZERS_H
