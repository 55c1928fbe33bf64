//===- Child.h - A process that is talked to in lines ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Starts a program pinned to given CPUs, with pipes on its standard input and output. It ends with the object.
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
  /// `environment` is added to this process's. Throws std::runtime_error.
  Child(const std::vector<std::string> &command, const std::vector<int> &cpus,
        const std::map<std::string, std::string> &environment);
  ~Child();
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;

  /// One line there, one line back. Throws std::runtime_error if the process has ended.
  std::string ask(const std::string &request);
  /// The next line of its output.
  std::string readLine();
  /// Stops all of its threads, those of a runtime that spins while idle included.
  void suspend();
  void resume();

private:
  pid_t process = -1;
  int input = -1, output = -1; ///< the child's
  std::string pending;
};

/// Restricts the calling thread, and the children it starts, for as long as it lives. Throws std::runtime_error.
class Affinity {
public:
  explicit Affinity(const std::vector<int> &cpus);
  ~Affinity();
  Affinity(const Affinity &) = delete;
  Affinity &operator=(const Affinity &) = delete;

private:
  cpu_set_t saved;
};

/// The CPUs that this process may use.
std::vector<int> availableCpus();

} // namespace quern::bench

#endif // QUERN_BENCH_CHILD_H
