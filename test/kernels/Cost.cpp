//===- Cost.cpp - The cost of compilation, per primitive ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Cost.h"

#include "Crash.h"
#include "Kernel.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace quern {
namespace {

/// Counts the instructions of this thread during its lifetime.
class HardwareCounter {
public:
  HardwareCounter() {
    perf_event_attr wanted{};
    wanted.type = PERF_TYPE_HARDWARE;
    wanted.size = sizeof(wanted);
    wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
    wanted.exclude_kernel = wanted.exclude_hv = 1;
    file = static_cast<int>(syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0));
    error = file < 0 ? errno : 0;
  }
  ~HardwareCounter() {
    if (file >= 0)
      close(file);
  }
  HardwareCounter(const HardwareCounter &) = delete;
  HardwareCounter &operator=(const HardwareCounter &) = delete;
  /// Returns the count so far; 0 if the counter is not available.
  uint64_t count() const {
    uint64_t value = 0;
    return file >= 0 && read(file, &value, sizeof(value)) == sizeof(value) ? value : 0;
  }
  Result<void> check() const {
    if (file < 0 || count() == 0)
      return unimplemented("no counter of instructions: ", file < 0 ? std::strerror(error) : "it does not count");
    return {};
  }

private:
  int file, error;
};

uint64_t threadMicroseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000 + static_cast<uint64_t>(time.tv_nsec) / 1000;
}

/// Ignores the result, because a refusal also costs time.
void compileOne(const KernelRequest &request) {
  RunningCase running(concat("quern compile '", request.line, "' --target=", request.target, " -o kernel"));
  (void)compileTo(request.line, request.target, quern_form_artifact);
}

} // namespace

/// Has a C name, so that an external profiler can find it.
extern "C" __attribute__((noinline)) void quern_kernels_measured(const std::vector<KernelRequest> &requests) {
  for (const KernelRequest &request : requests)
    compileOne(request);
}

namespace {

uint64_t minMicroseconds(const std::vector<KernelRequest> &requests, int64_t repetitions) {
  uint64_t sum = 0;
  for (const KernelRequest &request : requests) {
    uint64_t min = UINT64_MAX;
    for (int64_t i = 0; i < repetitions; ++i) {
      const uint64_t before = threadMicroseconds();
      compileOne(request);
      min = std::min(min, threadMicroseconds() - before);
    }
    sum += min;
  }
  return sum;
}

} // namespace

namespace {

/// Returns the groups that are measured together, with their names: each file of problems or, without files, each set.
std::vector<std::pair<std::string, CorpusOptions>> partsOf(const CorpusOptions &options) {
  std::vector<std::pair<std::string, CorpusOptions>> parts;
  CorpusOptions part = options;
  part.sets.clear();
  for (const std::string &file : options.files) {
    part.files = {file};
    parts.emplace_back(std::filesystem::path(file).stem(), part);
  }
  if (!parts.empty())
    return parts;
  for (const std::string &set : options.sets) {
    part.sets = {set};
    parts.emplace_back(set, part);
  }
  return parts;
}

} // namespace

Result<void> printCosts(const CorpusOptions &options, Counter counter, int64_t repetitions, std::ostream &os) {
  const HardwareCounter hardware;
  if (Result<void> checked = hardware.check(); counter == Counter::Hardware && !checked)
    return checked;
  for (const auto &[set, part] : partsOf(options)) {
    Result<std::vector<KernelRequest>> requests = corpusOf(part);
    if (!requests)
      return requests.takeError();
    for (const std::string &target : options.targets) // creates contexts and target machines
      compileOne({target, "softmax fwd_i alg=accurate src=f32:7x33:ab dst=f32:7x33:ab axis=1"});
    const uint64_t before = hardware.count();
    if (counter == Counter::Seconds)
      os << "microseconds " << set << ' ' << minMicroseconds(*requests, repetitions);
    else
      quern_kernels_measured(*requests);
    if (counter == Counter::Hardware)
      os << "instructions " << set << ' ' << hardware.count() - before;
    os << (counter == Counter::Outside ? set : "") << std::endl;
  }
  return {};
}

} // namespace quern
