//===- Child.h - A compiler process ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Starts the process, exchanges frames with it before a deadline, and determines how it ended. Its descriptors are
// closed on exec, and writing to it does not raise SIGPIPE. If the program reaps all its children itself, only the
// reason for the end of this one is lost.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_COMPILATION_CHILD_H
#define QUERN_RUNTIME_COMPILATION_CHILD_H

#include "Support/Error.h"
#include "Support/KeptDescriptor.h"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace quern {

/// Settings of a process; it is not reused for other settings.
struct CompilerChildSettings {
  std::string program, library;
  int64_t memoryMib;
  int64_t seconds; ///< limit for a request, both of wall time and of processor time
  bool operator==(const CompilerChildSettings &) const = default;
};

class CompilerChild {
public:
  using Deadline = std::chrono::steady_clock::time_point;
  /// Result of an exchange.
  enum class Outcome {
    Answered,
    Unheard, ///< the process ended before the request arrived
    Ended,   ///< the process ended during the request
    TooLong, ///< the deadline passed
  };

  CompilerChild() = default;
  CompilerChild(const CompilerChild &) = delete;
  CompilerChild &operator=(const CompilerChild &) = delete;
  /// Kills the process, unless abandon() was called.
  ~CompilerChild();

  /// Starts the process. Fails with `runtime_error` if the program cannot be run.
  Result<void> start(const CompilerChildSettings &settings);
  /// Waits for its first frame. Fails if none arrives, or if it reports that the library cannot be opened or is of
  /// another build.
  Result<void> greet(Deadline deadline);
  const CompilerChildSettings &settings() const { return startedWith; }
  /// Returns true if the process is running and waits for a request.
  bool isIdle() const;
  /// Sends a request and receives its answer.
  Outcome exchange(std::string_view request, std::string &answer, Deadline deadline);

  /// Aborts an exchange of another thread, which then ends as if the process had ended.
  void interrupt() const;

  /// Kills and reaps the process, and returns how it ended: "was killed by signal 11 (Segmentation fault): …", with the
  /// first line of its standard error. The status is `out_of_memory` if that was the reason, else `internal_error`.
  Error end();
  /// Closes the descriptors without killing the process. Used in the child of a fork, which does not own the process.
  void abandon();

private:
  Outcome send(std::string_view bytes, Deadline deadline);
  Outcome receive(char *bytes, size_t size, Deadline deadline);
  Outcome receiveFrame(std::string &frame, Deadline deadline);
  std::string errorLine() const;
  void drainErrors();
  /// Kills the process and waits for it. Returns false if the program has already waited for it.
  bool reap(siginfo_t &how);

  CompilerChildSettings startedWith{};
  pid_t process = -1;
  /// The pidfd of the process. Unlike its id, it remains valid if the program waits for any child, which frees the id
  /// for another process. -1: none. Before Linux 6.9 all pidfds have one inode, so standsFor() reads the process id.
  int handle = -1;
  KeptDescriptor socket, errors; ///< the other ends of its standard input and of its standard error
};

} // namespace quern

#endif // QUERN_RUNTIME_COMPILATION_CHILD_H
