//===- ApiGemm.h - Random products of matrices ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_FAULTS_FUZZ_APIGEMM_H
#define QUERN_TEST_FAULTS_FUZZ_APIGEMM_H

#include "Harness.h"

namespace quern::fuzz {

/// Multiplies matrices of small integers by one of the three functions of quern_gemm.h, with each matrix at both ends
/// of guarded memory. Wrong arguments are refused; results are exact.
void fuzzGemm(Input &input);

} // namespace quern::fuzz

#endif // QUERN_TEST_FAULTS_FUZZ_APIGEMM_H
