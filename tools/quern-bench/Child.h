//===- Child.h - A process with a line protocol ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Starts a program pinned to given CPUs, with pipes on its standard input and output. The destructor terminates it.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_CHILD_H
#define QUERN_BENCH_CHILD_H

#include <map>
#include <sched.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace quern::bench {

class Child {
public:
  /// `environment` is added to the environment of this process. Throws std::runtime_error.
  Child(const std::vector<std::string> &command, const std::vector<int> &cpus,
        const std::map<std::string, std::string> &environment);
  ~Child();
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;

  /// Writes one line and returns the line with which the process answers. Throws std::runtime_error if the process has
  /// terminated.
  std::string ask(const std::string &request);
  /// Returns the next line of its output.
  std::string readLine();
  /// Stops all of its threads, including those of a runtime that spins while idle.
  void suspend();
  void resume();

private:
  pid_t process = -1;
  int input = -1, output = -1; ///< pipes to and from the child
  std::string pending;
};

/// Restricts the calling thread, and the children that it starts, to the CPUs during the lifetime of the object. Throws
/// std::runtime_error.
class Affinity {
public:
  explicit Affinity(const std::vector<int> &cpus);
  ~Affinity();
  Affinity(const Affinity &) = delete;
  Affinity &operator=(const Affinity &) = delete;

private:
  cpu_set_t saved;
};

/// Returns the CPUs that this process may use.
std::vector<int> availableCpus();

} // namespace quern::bench

#endif // QUERN_BENCH_CHILD_H
