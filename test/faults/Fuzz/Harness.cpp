//===- Harness.cpp - Inputs of a fuzzer, run in child processes ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace quern::fuzz {
namespace {

constexpr int64_t blockSize = 256; ///< inputs of one child process

/// Shared with the child process.
struct Progress {
  std::atomic<int64_t> number; ///< the input that runs, or the next one
  std::atomic<int64_t> passed, failed;
  std::atomic<int64_t> counts[CountKinds];
  std::atomic<size_t> notedBytes;
  char noted[1 << 20];
};

Progress &progress() {
  static auto *shared = static_cast<Progress *>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *shared;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Returns the instruction set of a block: every second block has the widest one.
std::string isaOf(int64_t block) {
  std::vector<std::string_view> levels;
  for (CpuIsa isa : isasOf(archOf(detectedIsa())))
    if (includesIsa(detectedIsa(), isa))
      levels.push_back(nameOfIsa(isa));
  const bool isWidest = block % 2 == 0;
  return std::string(isWidest ? levels.back() : levels[static_cast<size_t>(block / 2) % levels.size()]);
}

class Runner {
public:
  Runner(std::string_view name, const Options &options, void (*one)(Input &))
      : name(name), options(options), one(one), end(now() + options.seconds), next(options.first) {
    if (const char *given = std::getenv("QUERN_MAX_CPU_ISA"))
      givenIsa = given;
    setenv("QUERN_GUARD_SCRATCH", "1", 1);
  }

  void runAll() {
    while (!isDone(next)) {
      isa = givenIsa.value_or(isaOf(next / blockSize));
      std::fflush(stdout);
      const pid_t child = fork();
      if (child == 0) {
        runBlock();
        std::fflush(stdout);
        _exit(0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      next = progress().number;
      if (status != 0) {
        report(next, reasonOf(status));
        ++next;
      }
    }
  }

private:
  bool isDone(int64_t number) const {
    return options.count > 0 ? number >= options.first + options.count : now() >= end;
  }

  /// In a child: runs inputs up to the end of their block.
  void runBlock() {
    setenv("QUERN_MAX_CPU_ISA", isa.c_str(), 1);
    Result<Device> device = Device::open(quern_cpu);
    const int64_t last = (next / blockSize + 1) * blockSize;
    for (int64_t number = next; number < last && !isDone(number); ++number) {
      progress().number = number;
      progress().notedBytes = 0;
      alarm(static_cast<unsigned>(options.limit));
      const Plant plant = number % 8 == 3 ? options.plant : Plant::None;
      try {
        require(bool(device), device ? "" : device.error().message);
        Input input(options.seed, number, *device, plant);
        one(input);
      } catch (const Failure &failure) {
        report(number, failure.why);
      }
      progress().number = number + 1;
    }
    alarm(0);
  }

  std::string reasonOf(int status) const {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
      return "it took more than " + std::to_string(options.limit) + " s";
    if (WIFSIGNALED(status))
      return std::string("it ended the process: ") + strsignal(WTERMSIG(status));
    return "it exited with status " + std::to_string(WEXITSTATUS(status));
  }

  void report(int64_t number, const std::string &why) const {
    ++progress().failed;
    std::printf("FAILED: %s\n%.*s  QUERN_MAX_CPU_ISA=%s quern-fuzz %.*s --seed=%llu --first=%lld --count=1\n",
                why.c_str(), static_cast<int>(progress().notedBytes), progress().noted, isa.c_str(),
                static_cast<int>(name.size()), name.data(), static_cast<unsigned long long>(options.seed),
                static_cast<long long>(number));
    std::fflush(stdout);
  }

  std::string_view name;
  Options options;
  void (*one)(Input &);
  double end;
  int64_t next;
  std::string isa;
  std::optional<std::string> givenIsa;
};

} // namespace

Input::Input(uint64_t seed, int64_t number, const Device &device, Plant plant)
    : random(seed * 1000003 + static_cast<uint64_t>(number)), device(device), plant(plant) {}

void Input::note(const std::string &text) {
  Progress &shared = progress();
  const size_t at = shared.notedBytes, room = sizeof(shared.noted) - at;
  const int written = std::snprintf(shared.noted + at, room, "  %s\n", text.c_str());
  shared.notedBytes = at + std::min(static_cast<size_t>(written), room - 1);
}

void Input::count(Count kind) { ++progress().counts[kind]; }
void Input::pass() { ++progress().passed; }

int run(std::string_view name, const Options &options, void (*one)(Input &)) {
  Progress &shared = progress();
  shared.number = options.first;
  Runner(name, options, one).runAll();
  const auto count = [&](Count kind) { return static_cast<long long>(shared.counts[kind]); };
  std::printf(
      "%.*s, seed %llu: %lld inputs, %lld refused, %lld described, %lld created, %lld executed at both ends, %lld "
      "compared with the reference\n%lld passed, %lld failed\n",
      static_cast<int>(name.size()), name.data(), static_cast<unsigned long long>(options.seed),
      static_cast<long long>(shared.number - options.first), count(Refused), count(Described), count(Created),
      count(Executed), count(Judged), static_cast<long long>(shared.passed), static_cast<long long>(shared.failed));
  return shared.failed == 0 && shared.passed > 0 ? 0 : 1;
}

} // namespace quern::fuzz
