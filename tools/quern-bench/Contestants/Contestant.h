//===- Contestant.h - One implementation under measurement ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each contestant runs in a process of its own, so that runtimes, thread pools and allocators do not meet, and answers
// lines on standard input with lines on standard output:
//
//   problem <json>       ok <kernel> | no <reason> prepare: buffers filled, kernel made, one run done
//   call <name>          ok | no <reason>          the same for a call of an interface (Calls.h)
//   run <samples> <n>    ns <t> <t> …              each the mean of n calls, in nanoseconds
//   bits <threads>       bits <hex> | no <reason>  hash of the result computed with that many threads
//   quit
//
// The drivers written in Python (peers/*.py) speak the same.
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

/// An implementation inside its own process. Methods throw std::runtime_error with a one-line reason.
class Contestant {
public:
  virtual ~Contestant() = default;
  /// Makes the problem ready to run, replacing the one before. Returns what the implementation calls its kernel.
  virtual std::string prepare(const Problem &problem) = 0;
  /// Makes a call of an interface ready instead of a problem.
  virtual void prepareCall(const std::string &) { throw std::runtime_error("problems are described, not named"); }
  /// Runs it `calls` times and returns when the last result is there.
  virtual void run(int64_t calls) = 0;
  /// Does so and returns how long that took in ns: by the clock of the host, or of the device where it
  /// is that which is compared.
  virtual double time(int64_t calls);
  /// The destination after a run with that many threads.
  virtual std::string result(int) { throw std::runtime_error("the number of threads is fixed"); }
};

std::unique_ptr<Contestant> createQuern(int threads);
/// Quern's primitive for the same as a function in MLIR.
std::unique_ptr<Contestant> createQuernPrimitive(int threads);
/// The kernel of the problem's family (docs/packs.md) in place of its own.
std::unique_ptr<Contestant> createQuernFamily(int threads);
/// Quern on the first Level Zero device, timed by the device.
std::unique_ptr<Contestant> createQuernDevice();
/// Genuine oneDNN of any 3.x, by the C interface of the library at `libraryPath`.
std::unique_ptr<Contestant> createOneDnn(const std::string &libraryPath);
/// Plain OpenCL C (OpenClSource.h) on the runtime at `libraryPath`, timed by its device or by the host.
std::unique_ptr<Contestant> createOpenCl(const std::string &libraryPath, bool byDevice);
/// What each of a problem's plain kernels writes to its output, by the name of the kernel: for tests.
std::vector<std::pair<std::string, std::string>> openClResults(const std::string &libraryPath, const Problem &problem);
/// Copies as many bytes as the problem reads and writes.
std::unique_ptr<Contestant> createCopy(int threads);

/// Serves the protocol until `quit` or the end of input.
int serve(Contestant &contestant);

/// What contestants of the host compute on: aligned to 64 bytes, every page touched, the last line in front of an
/// inaccessible page. So ends memory that a program maps for one tensor, and what a kernel issues behind its end
/// costs what it costs there.
GuardedBuffer makeBuffer(int64_t bytes);
/// Values as such a tensor has them, the same for every contestant: probabilities for the dst of a backward problem,
/// scales near 1, otherwise normally distributed. `data` has argument.desc.bytes() bytes.
void fillArgument(char *data, const ArgumentInfo &argument);

} // namespace quern::bench

#endif // QUERN_BENCH_CONTESTANTS_CONTESTANT_H
