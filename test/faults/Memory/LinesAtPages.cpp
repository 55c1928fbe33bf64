//===- LinesAtPages.cpp - Problems of files at inaccessible pages ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Executes each N-th problem of the files twice: every buffer ends, and then starts, at an inaccessible page. The
// results must be the same. A fault names the argument and the byte.
//
// FAULTS: lines-at-pages short=1 full=0 limit=120: 16 {root}/test/problems
// FAULTS: all-lines-at-pages short=0 full=1 limit=1200: 1 {root}/test/problems
// FAULTS: all-lines-at-pages-avx2 short=0 full=1 limit=1200: QUERN_MAX_CPU_ISA=avx2 1 {root}/test/problems
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>

using namespace quern::faults;
using quern::GuardedSide;

namespace {

const Execution *running = nullptr;
const char *runningLine = "";

void reportFault(int signal, siginfo_t *info, void *) {
  char text[1024];
  const std::string place = running ? running->placeOf(static_cast<const char *>(info->si_addr)) : "";
  const int length = std::snprintf(text, sizeof(text), "FAILED: signal %d at %s: %s\n", signal,
                                   place.empty() ? "no buffer" : place.c_str(), runningLine);
  (void)!write(STDOUT_FILENO, text, static_cast<size_t>(length));
  _exit(1);
}

void reportFaults() {
  struct sigaction action = {};
  action.sa_sigaction = reportFault;
  action.sa_flags = SA_SIGINFO;
  for (int signal : {SIGSEGV, SIGBUS})
    sigaction(signal, &action, nullptr);
}

/// Returns the lines in an order that is the same on every machine.
std::set<std::string> linesOf(const std::filesystem::path &folder) {
  std::set<std::string> lines;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    for (std::string line; entry.path().extension() == ".desc" && std::getline(file, line);)
      if (const size_t end = line.find('#'); !line.substr(0, end).empty())
        lines.insert(line.substr(0, end));
  }
  return lines;
}

/// Returns false if the execution needs sizes or the workspace of another one, or is too large.
bool run(const Cpu &cpu, const std::string &line) {
  if (line.starts_with("rnn bwd"))
    return false;
  constexpr int64_t maxBytes = int64_t(1) << 25;
  std::string outputs[2];
  for (GuardedSide side : {GuardedSide::End, GuardedSide::Beginning}) {
    Execution execution;
    if (execution.describe(cpu.engine, line) != quern_success || execution.largestArgument() > maxBytes)
      return false;
    require(execution.create(), "creating " + line);
    if (execution.bind({.side = side}, maxBytes) != quern_success)
      return false;
    execution.fill();
    running = &execution, runningLine = line.c_str();
    require(execution.run(cpu.stream), "executing " + line);
    running = nullptr;
    require(execution.guardsIntact(), "bytes next to a buffer were written: " + line);
    outputs[side == GuardedSide::Beginning] = execution.outputs();
  }
  require(outputs[0] == outputs[1], "results differ between the ends of pages: " + line);
  return true;
}

} // namespace

int main(int, char **argv) {
  reportFaults();
  const Cpu cpu;
  const int64_t every = std::atoll(argv[1]);
  int64_t number = 0, passed = 0;
  for (const std::string &line : linesOf(argv[2]))
    if (number++ % every == 0)
      passed += run(cpu, line);
  require(passed > 0, "no line was executed");
  std::printf("%lld of %lld lines were executed\n%lld passed, 0 failed\n", static_cast<long long>(passed),
              static_cast<long long>((number + every - 1) / every), static_cast<long long>(passed));
}
