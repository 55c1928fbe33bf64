//===- CacheReplaced.cpp - Threads while the cache's folder is replaced --===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks that 64 threads create and execute right kernels while the folder of the disk cache is removed, renamed,
// replaced by a file, made inaccessible and made writable for all users. The first argument is a time in seconds.
//
// FAULTS: cache-replaced full=0 limit=60: 2
// FAULTS: cache-replaced-long short=0 limit=120: 30
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace quern::faults;
namespace fs = std::filesystem;

namespace {

constexpr int threadCount = 64, lineCount = 12;

std::string lineOf(int number) {
  const std::string tensor = "f32:" + std::to_string(3 + number) + "x" + std::to_string(17 + number) + ":ab";
  return number % 2 ? "softmax fwd_i src=" + tensor + " dst=" + tensor + " axis=1"
                    : "eltwise fwd_i alg=exp src=" + tensor + " dst=" + tensor;
}

/// Changes the folder; it does not matter which of the calls succeed.
void disturb(const fs::path &folder, unsigned kind) {
  std::error_code ignored;
  const fs::path other = folder.string() + ".other";
  switch (kind % 6) {
  case 0:
    fs::remove_all(folder, ignored);
    break;
  case 1:
    fs::remove_all(other, ignored);
    fs::rename(folder, other, ignored);
    break;
  case 2:
    fs::remove_all(folder, ignored);
    std::ofstream(folder) << "a file";
    break;
  case 3:
    fs::permissions(folder, fs::perms::all, ignored);
    break;
  case 4:
    fs::permissions(folder, fs::perms::none, ignored);
    break;
  default:
    fs::remove_all(folder, ignored);
    fs::create_directory(folder, ignored);
  }
}

} // namespace

int main(int, char **argv) {
  const Cpu cpu;
  const fs::path folder = std::getenv("QUERN_CACHE_DIR");
  std::vector<std::string> expected;
  for (int i = 0; i < lineCount; ++i) {
    Execution execution;
    execution.all(cpu, lineOf(i));
    expected.push_back(execution.outputs());
  }
  require(quern_set_primitive_cache_capacity(4), "quern_set_primitive_cache_capacity");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[1]));
  std::atomic<bool> isOver = false;
  std::atomic<int64_t> done = 0;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < threadCount; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = thread; !isOver; ++i) {
        Execution execution;
        execution.all(cpu, lineOf(i % lineCount));
        require(execution.outputs() == expected[static_cast<size_t>(i % lineCount)], "a wrong result");
        ++done;
      }
    });
  unsigned changes = 0;
  for (; std::chrono::steady_clock::now() < end; ++changes) {
    disturb(folder, changes);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  isOver = true;
  threads.clear();
  std::printf("%u changes of the folder\n%lld passed, 0 failed\n", changes, static_cast<long long>(done));
}
