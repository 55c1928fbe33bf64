//===- ColdStart.cpp - A program that starts with empty caches ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
//   quern-cold-start FILE THREADS
//
// Each thread compiles and executes all problems of the file, each thread beginning with a different one, and compares
// the results with the reference. The program prints "compiled LINE" for each kernel that it compiled itself. Its last
// line is the number of compilations and of late answers from servers. It exits with 1 if a result is wrong or missing.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"
#include "ProblemData.h"

#include "quern/quern_cache.h"
#include "quern/quern_remote.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace quern;

namespace {

/// Executes the problem and returns whether its result is correct and nothing was written elsewhere.
Result<bool> isRight(const Device &device, const std::string &line) {
  Result<ParsedProblem> problem = readProblem(line, device.target());
  if (!problem)
    return problem.takeError();
  Result<Kernel> kernel = Kernel::create(device, problem->text);
  if (!kernel)
    return kernel.takeError();
  if (kernel->info().origin == quern_origin_compiled)
    std::printf("compiled %s\n", line.c_str());
  Result<ProblemData> data = ProblemData::create(*problem, {});
  if (!data)
    return data.takeError();
  data->refill();
  Result<void> done = data->computeExpected();
  done = done ? data->addScratchpad(*kernel) : std::move(done);
  done = done ? kernel->bind(data->buffers()) : std::move(done);
  done = done ? kernel->execute() : std::move(done);
  if (!done)
    return done.takeError();
  return data->judgeOutputs().isRight && data->strayWrites().empty();
}

bool runAll(const std::vector<std::string> &lines, size_t first) {
  Result<Device> device = Device::open(quern_cpu);
  for (size_t i = 0; device && i < lines.size(); ++i) {
    const Result<bool> right = isRight(*device, lines[(first + i) % lines.size()]);
    if (!right || !*right) {
      std::fprintf(stderr, "%s: %s\n", lines[(first + i) % lines.size()].c_str(),
                   right ? "wrong" : right.error().message.c_str());
      return false;
    }
  }
  return static_cast<bool>(device);
}

} // namespace

int main(int argc, char **argv) {
  Result<std::vector<std::string>> lines = readProblemFile(argc > 1 ? argv[1] : "");
  if (!lines || argc != 3)
    return EXIT_FAILURE;
  const auto count = static_cast<size_t>(std::atoi(argv[2]));
  std::atomic<bool> allRight{true};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      if (!runAll(*lines, i))
        allRight = false;
    });
  for (std::thread &thread : threads)
    thread.join();
  quern_cache_statistics_t caches{};
  quern_remote_statistics_t remote{};
  if (quern_get_cache_statistics(&caches) != quern_success || quern_get_remote_statistics(&remote) != quern_success)
    return EXIT_FAILURE;
  std::printf("ran %llu late %llu\n", static_cast<unsigned long long>(caches.compilations),
              static_cast<unsigned long long>(remote.timeouts));
  return allRight ? EXIT_SUCCESS : EXIT_FAILURE;
}
