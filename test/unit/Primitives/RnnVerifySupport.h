//===- RnnVerifySupport.h - Helpers of the tests of the RNN verifier ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_PRIMITIVES_RNNVERIFYSUPPORT_H
#define QUERN_TEST_PRIMITIVES_RNNVERIFYSUPPORT_H

#include "VerifySupport.h"

namespace quern::test {

/// Weights of an LSTM and of a GRU with 4 input and 8 output channels.
inline const std::string weights = "weights_layer=f32:1x1x4x4x8:any weights_iter=f32:1x1x8x4x8:any ";
inline const std::string gruWeights = "weights_layer=f32:1x1x4x3x8:any weights_iter=f32:1x1x8x3x8:any ";

/// Returns the result of verifyRnn() for a line and an explicit target.
inline VerifiedProblem accepted(const std::string &line, const Target &target = {CpuIsa::Avx512Bf16},
                                const PrimitiveDesc *hint = nullptr) {
  Result<VerifiedProblem> problem = verifyRnn(parsed(line), target, hint);
  EXPECT_TRUE(problem) << line << ": " << problem.error().message;
  return problem ? *problem : VerifiedProblem();
}

inline const RnnDesc &rnnOf(const VerifiedProblem &problem) { return std::get<Boxed<RnnDesc>>(problem.desc.op); }

} // namespace quern::test

#endif // QUERN_TEST_PRIMITIVES_RNNVERIFYSUPPORT_H
