//===- TestMain.cpp - Entry of the tests of Level Zero --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Chooses the driver before anything asks for one. Every test is skipped where its OpenCL runtime is not installed.
//
//===----------------------------------------------------------------------===//
#include "support/TestDriver.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

bool hasDriver = false;

class Driver : public testing::Environment {
  void SetUp() override {
    if (!hasDriver)
      GTEST_SKIP() << "no OpenCL runtime: run tools/peers.sh intel-opencl";
  }
};

} // namespace

/// Intel's OpenCL runtime keeps the names of kernels' arguments. Read by the leak sanitizer, where there is one.
extern "C" const char *__lsan_default_suppressions() { return "leak:libintelocl\n"; }
/// And it gives the thread that loads it a stack for signals in place of the address sanitizer's, which that
/// would give back as its own.
extern "C" const char *__asan_default_options() { return "use_sigaltstack=0"; }

int main(int argc, char **argv) {
  hasDriver = quern::test::useTestDriver(argv);
  setenv("QUERN_CACHE_DIR", "off", 0);
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new Driver);
  return RUN_ALL_TESTS();
}
