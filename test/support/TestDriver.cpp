//===- TestDriver.cpp - The Level Zero driver of the tests ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "support/TestDriver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace quern::test {
namespace {

/// Returns a function of the driver that the loader has opened.
template <typename Function> Function *driverFunction(const char *name) {
  static void *driver = dlopen(std::getenv("ZE_ENABLE_ALT_DRIVERS"), RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function *>(dlsym(driver, name));
}

} // namespace

bool useTestDriver(char **argv) {
  const char *driver = std::getenv("ZE_ENABLE_ALT_DRIVERS");
  setenv("ZE_ENABLE_ALT_DRIVERS", QUERN_TEST_DRIVER, !driver || std::string(driver) == "none");
  setenv("ZE_OPENCL_LIBRARY", QUERN_TEST_OPENCL, 0);
  const std::string library = std::getenv("ZE_OPENCL_LIBRARY"), folder = library.substr(0, library.rfind('/'));
  if (access(library.c_str(), R_OK) != 0)
    return false;
  const char *set = std::getenv("LD_LIBRARY_PATH");
  const std::string old = set ? set : "";
  if (!old.starts_with(folder)) {
    setenv("LD_LIBRARY_PATH", (old.empty() ? folder : folder + ":" + old).c_str(), 1);
    execv("/proc/self/exe", argv);
  }
  return true;
}

void failDriverCall(int64_t n, int32_t result) {
  driverFunction<void(int64_t, int32_t)>("zeOverOpenClFail")(n, result);
}
int64_t driverCalls() { return driverFunction<int64_t()>("zeOverOpenClCalls")(); }
int64_t driverObjects() { return driverFunction<int64_t()>("zeOverOpenClLive")(); }

} // namespace quern::test
