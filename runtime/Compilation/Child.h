//===- Child.h - One process that compiles -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Starting it, exchanging frames with it within a time, and finding out how it ended. Its descriptors are
// closed on exec, writing to it raises no SIGPIPE, and a program that reaps its children itself loses nothing
// but the reason why one ended.
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

/// What a process is started with; one of other settings is not used again.
struct CompilerChildSettings {
  std::string program, library;
  int64_t memoryMib;
  int64_t seconds; ///< for a request, by the clock and of the processor
  bool operator==(const CompilerChildSettings &) const = default;
};

class CompilerChild {
public:
  using Deadline = std::chrono::steady_clock::time_point;
  /// What an exchange came to.
  enum class Outcome {
    Answered,
    Unheard, ///< the process had ended before the request arrived
    Ended,   ///< while it worked on it
    TooLong, ///< the deadline passed
  };

  CompilerChild() = default;
  CompilerChild(const CompilerChild &) = delete;
  CompilerChild &operator=(const CompilerChild &) = delete;
  /// Ends the process, if abandon() did not come first.
  ~CompilerChild();

  /// Starts the process. `runtime_error`: the program cannot be run.
  Result<void> start(const CompilerChildSettings &settings);
  /// Waits for its first frame. As the process says: the library cannot be opened or is of another build.
  Result<void> greet(Deadline deadline);
  const CompilerChildSettings &settings() const { return startedWith; }
  /// Whether it is there and waits for a request.
  bool isIdle() const;
  /// Sends a request and receives its answer.
  Outcome exchange(std::string_view request, std::string &answer, Deadline deadline);

  /// From another thread than that which exchanges, which then ends as if the process had.
  void interrupt() const;

  /// Kills and reaps the process, and says how it ended: "was killed by signal 11 (Segmentation fault): …", with
  /// the first line that it left on its standard error. The status is `out_of_memory` if that is what it died
  /// of, else `internal_error`.
  Error end();
  /// Closes the descriptors without a word to the process: for the child of a fork, whose process it is not.
  void abandon();

private:
  Outcome send(std::string_view bytes, Deadline deadline);
  Outcome receive(char *bytes, size_t size, Deadline deadline);
  Outcome receiveFrame(std::string &frame, Deadline deadline);
  std::string errorLine() const;
  void drainErrors();
  /// Kills the process and waits for it. False: somebody else has waited for it, so that how it ended is not known.
  bool reap(siginfo_t &how);

  CompilerChildSettings startedWith{};
  pid_t process = -1;
  /// Stands for the process where its id no longer does: a program that waits for any child frees the
  /// id for another. -1: none. Before Linux 6.9 all such descriptors have one inode, so standsFor() reads the process
  /// id.
  int handle = -1;
  KeptDescriptor socket, errors; ///< the other end of its standard input and of its standard error
};

} // namespace quern

#endif // QUERN_RUNTIME_COMPILATION_CHILD_H
