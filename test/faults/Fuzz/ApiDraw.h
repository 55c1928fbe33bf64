//===- ApiDraw.h - Random arguments for the C API ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Memory descriptors and attributes that are made by random calls, most of them legal. Each call is noted in the input.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_FAULTS_FUZZ_APIDRAW_H
#define QUERN_TEST_FAULTS_FUZZ_APIDRAW_H

#include "Harness.h"

#include <vector>

namespace quern::fuzz {

using OwnedMemoryDesc = Owned<quern_memory_desc_t, quern_memory_desc_destroy>;
using OwnedAttributes = Owned<quern_primitive_attr_t, quern_primitive_attr_destroy>;

/// Dims that are handed to the API: room for the most, whatever the rank says.
struct ApiDims {
  int rank = 0; ///< may be illegal
  int64_t values[16] = {};
};

/// True for a status that a call may return; counts refusals. Throws Failure for any other.
bool succeeds(Input &input, quern_status_t status);

/// A small number, rarely 0, negative, open or beyond every limit.
int64_t drawApiDim(Random &random);
ApiDims drawApiDims(Random &random);
quern_data_type_t drawApiType(Random &random);
/// Null if a call refused it.
OwnedMemoryDesc drawMemoryDesc(Input &input, const ApiDims &dims, quern_data_type_t type);
/// Null in two of three calls: default attributes.
OwnedAttributes drawApiAttributes(Input &input, const ApiDims &dims);

} // namespace quern::fuzz

#endif // QUERN_TEST_FAULTS_FUZZ_APIDRAW_H
