//===- TestDriver.h - The Level Zero driver of the tests ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_SUPPORT_TESTDRIVER_H
#define QUERN_TEST_SUPPORT_TESTDRIVER_H

#include <cstdint>

namespace quern::test {

/// Call it before the first use of Level Zero. Makes the loader open the driver of test/support/ze-over-opencl, with
/// the OpenCL runtime that `tools/peers.sh intel-opencl` installs, unless the environment names others ("none" does not
/// count). Returns false if that runtime is not installed. Restarts the program with the runtime's folder in
/// LD_LIBRARY_PATH, which is read only at process start: the runtime needs a newer oneTBB than the system has.
bool useTestDriver(char **argv);

// Functions of the loaded driver; see its Tables.cpp.

/// Makes the n-th call from now on return `result`, a ze_result_t; 0 cancels it.
void failDriverCall(int64_t n, int32_t result);
int64_t driverCalls();
/// Returns the number of objects and allocations that were created and not destroyed.
int64_t driverObjects();

} // namespace quern::test

#endif // QUERN_TEST_SUPPORT_TESTDRIVER_H
