//===- Fuzzers.h - Fuzzers of the text form and of the C API ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_FAULTS_FUZZ_FUZZERS_H
#define QUERN_TEST_FAULTS_FUZZ_FUZZERS_H

#include "Harness.h"

namespace quern::fuzz {

/// Draws a line. It must be refused with a reason, or its text must parse to the same text and the problem must compute
/// the right result on guarded memory.
void fuzzText(Input &input);

/// Makes a random sequence of calls of the C API: descriptors of every kind, including damaged ones, attributes,
/// queries, primitives, executions with right and wrong arguments, and products of matrices. Each call must succeed or
/// be refused; executions on guarded memory must be right.
void fuzzApi(Input &input);

} // namespace quern::fuzz

#endif // QUERN_TEST_FAULTS_FUZZ_FUZZERS_H
