//===- ApiDraw.h - Random arguments for the C API ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Memory descriptors and attributes that are created by random calls, most of them valid. Each call is noted in the
// input.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_FAULTS_FUZZ_APIDRAW_H
#define QUERN_TEST_FAULTS_FUZZ_APIDRAW_H

#include "Harness.h"

#include <vector>

namespace quern::fuzz {

using OwnedMemoryDesc = Owned<quern_memory_desc_t, quern_memory_desc_destroy>;
using OwnedAttributes = Owned<quern_primitive_attr_t, quern_primitive_attr_destroy>;

/// Dims for calls of the API; the array has the maximum size, whatever the rank is.
struct ApiDims {
  int rank = 0; ///< may be invalid
  int64_t values[16] = {};
};

/// Returns true if the call succeeded; counts refusals. Throws Failure for a status that no call may return.
bool succeeds(Input &input, quern_status_t status);

/// Draws a small number; rarely 0, negative, open or out of range.
int64_t drawApiDim(Random &random);
ApiDims drawApiDims(Random &random);
quern_data_type_t drawApiType(Random &random);
/// Creates a descriptor, or derives it from another one. Returns null if a call refused it.
OwnedMemoryDesc drawMemoryDesc(Input &input, const ApiDims &dims, quern_data_type_t type);
/// Draws attributes; in two of three cases returns null, which means default attributes.
OwnedAttributes drawApiAttributes(Input &input, const ApiDims &dims);

} // namespace quern::fuzz

#endif // QUERN_TEST_FAULTS_FUZZ_APIDRAW_H
