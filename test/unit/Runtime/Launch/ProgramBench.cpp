//===- ProgramBench.cpp - The cost of a step of a program -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Measures steps with almost no computation in a loop, so the rest is the lookup of buffers, the call and, with several
// threads, the barrier. The steps have as many buffers as a recurrent cell, whose offsets depend on two loops. If a
// thread does not arrive, others do its share without a barrier, so only runs count in which every thread did nine
// tenths of its share. The program prints times and tests nothing.
//
//===----------------------------------------------------------------------===//
#include "Cpu/Team.h"
#include "Launch/Steps.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

using namespace quern;

namespace {

constexpr int64_t layers = 4, times = 5000;
constexpr uint32_t bufferCount = 10;
constexpr int runs = 200;

/// Stores one byte per iteration, to separate cache lines, and counts iterations in the member's scratch.
void touch(const quern_kernel_args_t *args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<volatile char *>(args->buffers[0])[i * 128] = 1;
  *static_cast<int64_t *>(args->scratch) += end - begin;
}

Artifact loopOf(int64_t iterations) {
  Artifact artifact;
  artifact.entries = {"touch"};
  artifact.arguments = {{1, 1, 1 << 20}};
  artifact.loops = {{layers, 0, 1}, {times, 0, 1}};
  artifact.steps = {{0, iterations, 100000, {}}};
  for (uint32_t b = 0; b < bufferCount; ++b) {
    Polynomial offset;
    offset.terms = {{64 * b, {}}, {1024, {0}}, {16, {1}}};
    artifact.steps[0].buffers.push_back({0, offset});
  }
  return artifact;
}

/// Prints the minimum and the median time of a step, in ns.
void measure(const char *name, int threads) {
  const Artifact artifact = loopOf(threads);
  void *functions[] = {reinterpret_cast<void *>(touch)};
  const Result<std::vector<KernelStep>> steps = stepsOf(artifact, functions);
  Program program;
  if (!steps || !program.take(artifact, *steps))
    return;
  std::vector<char> memory(2 << 20);
  void *buffers[] = {memory.data()};
  const ProgramRun run{program, program.fixedNumbers(), buffers, nullptr, nullptr, nullptr};
  const ScratchNeeds needs{256, 0};
  std::vector<char> scratchpad(static_cast<size_t>(scratchpadBytes(needs, threads)));
  ExecutionContext context;
  context.threads = threads;
  context.scratchpad = scratchpad.data();
  std::vector<double> samples;
  for (int sample = 0; sample < runs; ++sample) {
    std::fill(scratchpad.begin(), scratchpad.end(), 0);
    const auto start = std::chrono::steady_clock::now();
    if (!runProgram(run, needs, context))
      return;
    const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    bool allCame = true;
    for (int member = 0; member < threads; ++member)
      allCame &= *static_cast<int64_t *>(scratchpadSlot(scratchpad.data(), needs, member)) > layers * times * 9 / 10;
    if (allCame)
      samples.push_back(elapsed.count() / static_cast<double>(layers * times));
  }
  if (samples.empty()) {
    std::printf("step of a program, %s: the threads never ran at the same time\n", name);
    return;
  }
  std::sort(samples.begin(), samples.end());
  std::printf("step of a program, %s: %.0f ns least, %.0f ns median of %zu in %d runs\n", name, samples.front(),
              samples[samples.size() / 2], samples.size(), runs);
}

} // namespace

int main() {
  measure("one thread", 1);
  for (int threads = 2; threads <= std::min(defaultThreadCount(), 8); threads *= 2)
    measure(concat(threads, " threads").c_str(), threads);
  return 0;
}
