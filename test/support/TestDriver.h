//===- TestDriver.h - The Level Zero driver of the tests ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_SUPPORT_TESTDRIVER_H
#define QUERN_TEST_SUPPORT_TESTDRIVER_H

#include <cstdint>

namespace quern::test {

/// Before the first use of Level Zero: lets the loader open the driver in test/support/ze-over-opencl, with the OpenCL
/// runtime that `tools/peers.sh intel-opencl` installs, unless the environment names others ("none" is no other). False
/// if that runtime is not there. Starts the program again with the runtime's folder in LD_LIBRARY_PATH, which only a
/// starting process reads: it needs a newer oneTBB than the system has.
bool useTestDriver(char **argv);

// Of the driver that is loaded; see its Tables.cpp.

/// The n-th call from now on gives `result`, a ze_result_t; 0 takes the plan back.
void failDriverCall(int64_t n, int32_t result);
int64_t driverCalls();
/// What was created or allocated and not given back.
int64_t driverObjects();

} // namespace quern::test

#endif // QUERN_TEST_SUPPORT_TESTDRIVER_H
