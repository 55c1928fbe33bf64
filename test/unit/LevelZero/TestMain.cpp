//===- TestMain.cpp - Entry of the tests of Level Zero --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Selects the driver before any test uses it. Every test is skipped if the OpenCL runtime is not installed.
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

/// Intel's OpenCL runtime leaks the names of kernel arguments. LeakSanitizer reads this function.
extern "C" const char *__lsan_default_suppressions() { return "leak:libintelocl\n"; }
/// Intel's OpenCL runtime also replaces the signal stack of the thread that loads it, and AddressSanitizer would free
/// that stack as its own.
extern "C" const char *__asan_default_options() { return "use_sigaltstack=0"; }

int main(int argc, char **argv) {
  hasDriver = quern::test::useTestDriver(argv);
  setenv("QUERN_CACHE_DIR", "off", 0);
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new Driver);
  return RUN_ALL_TESTS();
}
