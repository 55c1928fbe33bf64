//===- FileLimit.cpp - A process with a limit of file sizes ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks that kernels are created even if a cache file would exceed RLIMIT_FSIZE, which raises SIGXFSZ, and that the
// cache then has no partial file.
//
// FAULTS: file-limit:
// FAULTS: file-limit-process: QUERN_COMPILER=process
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sys/resource.h>

using namespace quern::faults;
namespace fs = std::filesystem;

static void createWith(rlim_t most, int size) {
  const rlimit limit = {most, RLIM_INFINITY};
  require(setrlimit(RLIMIT_FSIZE, &limit) == 0, "the limit cannot be set");
  const Cpu cpu;
  const std::string tensor = "f32:" + std::to_string(size) + "x100:ab";
  Execution execution;
  execution.all(cpu, "softmax fwd_i src=" + tensor + " dst=" + tensor + " axis=1");
}

int main() {
  const fs::path folder = std::getenv("QUERN_CACHE_DIR");
  createWith(1000, 8);
  createWith(0, 9);
  std::error_code isMissing;
  for (const auto &entry : fs::directory_iterator(folder, isMissing))
    require(entry.file_size() == 0, entry.path().string() + " has a part of a file");
  createWith(RLIM_INFINITY, 10);
  int64_t files = 0;
  for (const auto &entry : fs::directory_iterator(folder))
    files += entry.file_size() > 1000;
  require(files == 1, "the cache has " + std::to_string(files) + " kernels");
  std::printf("3 passed, 0 failed\n");
}
