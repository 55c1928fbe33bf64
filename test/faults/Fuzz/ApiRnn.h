//===- ApiRnn.h - Random descriptors of recurrent networks ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_FAULTS_FUZZ_APIRNN_H
#define QUERN_TEST_FAULTS_FUZZ_APIRNN_H

#include "Harness.h"

namespace quern::fuzz {

/// Describes a random forward RNN, most of whose tensors match. Returns null if it is refused.
quern_primitive_desc_t describeRnn(Input &input);

} // namespace quern::fuzz

#endif // QUERN_TEST_FAULTS_FUZZ_APIRNN_H
