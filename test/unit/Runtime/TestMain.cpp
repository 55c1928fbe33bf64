//===- TestMain.cpp - Entry of the runtime's test programs ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Selects the fake compiler and disables the disk cache before anything reads the environment. With --child, the
// program creates and runs one problem, and prints the origin of the kernel, the number of wrong elements, and whether
// LLVM is mapped. Tests start it as another process.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iostream>

// An impossible allocation must fail, as it does without a sanitizer.
extern "C" __attribute__((visibility("default"))) const char *__asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" __attribute__((visibility("default"))) const char *__tsan_default_options() {
  return "allocator_may_return_null=1";
}

namespace {

bool isMapped(std::string_view library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(library) != std::string::npos)
      return true;
  return false;
}

int runChild(const char *line) {
  using namespace quern;
  try {
    test::Run run(engine(engine::kind::cpu, 0), line);
    run.execute(stream(run.desc.get_engine()));
    std::cout << "origin=" << run.kernel.info().origin << " wrong=" << run.wrong()
              << " llvm=" << isMapped("libquern-compiler") << " compiler=" << (isMapped("compiler.so")) << std::endl;
  } catch (const error &failure) {
    std::cout << failure.what() << std::endl;
    return 1;
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
#ifdef QUERN_TEST_COMPILER
  setenv("QUERN_COMPILER_LIBRARY", QUERN_TEST_COMPILER, 0);
  setenv("QUERN_COMPILER_PROCESS", QUERN_TEST_COMPILER_PROCESS, 0);
#endif
  setenv("QUERN_CACHE_DIR", "off", 0);
  if (argc == 3 && std::string_view(argv[1]) == "--child")
    return runChild(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
