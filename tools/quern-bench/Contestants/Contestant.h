//===- Contestant.h - One implementation under measurement ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each contestant runs in a separate process, so runtimes, thread pools and allocators do not affect each other. It
// answers lines on standard input with lines on standard output:
//
//   problem <json>       ok <kernel> | no <reason> prepares: fills buffers, creates the kernel, runs it once
//   call <name>          ok | no <reason>          the same for a call of an interface (Calls.h)
//   run <samples> <n>    ns <t> <t> …              times, each the mean of n calls, in nanoseconds
//   bits <threads>       bits <hex> | no <reason>  hash of the result computed with this number of threads
//   quit
//
// The drivers written in Python (peers/*.py) use the same protocol.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_CONTESTANTS_CONTESTANT_H
#define QUERN_BENCH_CONTESTANTS_CONTESTANT_H

#include "GuardedBuffer.h"
#include "Problems/Problem.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace quern::bench {

/// An implementation in its own process. Methods throw std::runtime_error with a one-line reason.
class Contestant {
public:
  virtual ~Contestant() = default;
  /// Prepares the problem and replaces the previous one. Returns the implementation's name for its kernel.
  virtual std::string prepare(const BenchProblem &problem) = 0;
  /// Prepares a call of an interface instead of a problem.
  virtual void prepareCall(const std::string &) { throw std::runtime_error("problems are described, not named"); }
  /// Runs the problem or call `calls` times and returns when the last result is available.
  virtual void run(int64_t calls) = 0;
  /// Like run(), but returns the time in ns, measured by the host's clock or, if devices are compared, by the device.
  virtual double time(int64_t calls);
  /// Returns the destination after a run with this number of threads.
  virtual std::string result(int) { throw std::runtime_error("the number of threads is fixed"); }
};

std::unique_ptr<Contestant> createQuern(int threads);
/// Runs Quern's primitive that computes the same as a function in MLIR.
std::unique_ptr<Contestant> createQuernPrimitive(int threads);
/// Runs the kernel of the problem's family (docs/packs.md) instead of its specialized kernel.
std::unique_ptr<Contestant> createQuernFamily(int threads);
/// Runs Quern on the first Level Zero device, timed by the device.
std::unique_ptr<Contestant> createQuernDevice();
/// Runs any genuine oneDNN 3.x through the C interface of the library at `libraryPath`.
std::unique_ptr<Contestant> createOneDnn(const std::string &libraryPath);
/// Runs plain OpenCL C (OpenClSource.h) on the runtime at `libraryPath`, timed by its device or by the host.
std::unique_ptr<Contestant> createOpenCl(const std::string &libraryPath, bool byDevice);
/// Returns the output of each of a problem's plain kernels, by the name of the kernel: for tests.
std::vector<std::pair<std::string, std::string>> openClResults(const std::string &libraryPath,
                                                               const BenchProblem &problem);
/// Copies the number of bytes that the problem reads and writes.
std::unique_ptr<Contestant> createCopy(int threads);

/// Serves the protocol until `quit` or the end of input.
int serve(Contestant &contestant);

/// Returns a buffer for contestants on the host: aligned to 64 bytes, every page touched, the last cache line adjacent
/// to an inaccessible page. Memory that a program maps for one tensor ends in the same way, so accesses that a kernel
/// issues past the end cost the same.
GuardedBuffer makeBuffer(int64_t bytes);
/// Fills an argument with realistic values, equal for every contestant: small probabilities for dst, which backward
/// problems read, 0.5 to 2 for scales, otherwise normally distributed. `data` has argument.desc.bytes() bytes.
void fillArgument(char *data, const ArgumentInfo &argument);

} // namespace quern::bench

#endif // QUERN_BENCH_CONTESTANTS_CONTESTANT_H
