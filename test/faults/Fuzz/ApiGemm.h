//===- ApiGemm.h - Random products of matrices ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_FAULTS_FUZZ_APIGEMM_H
#define QUERN_TEST_FAULTS_FUZZ_APIGEMM_H

#include "Harness.h"

namespace quern::fuzz {

/// Multiplies matrices of small integers with one of the three functions of quern_gemm.h. Each matrix starts or ends at
/// an inaccessible page. Wrong arguments must be refused; results must be exact.
void fuzzGemm(Input &input);

} // namespace quern::fuzz

#endif // QUERN_TEST_FAULTS_FUZZ_APIGEMM_H
