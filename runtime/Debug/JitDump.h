//===- JitDump.h - The files by which perf knows code made at run time ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A map, /tmp/perf-PID.map, has a line for each function: `perf report` takes names from it. A jitdump, jit-PID.dump,
// has the code and its lines, too, and when each was loaded: `perf record -k mono` notes that the file is there, and
// `perf inject --jit` makes objects of it. Whatever cannot be written is not written. Libquern and its drop-in each
// have these for themselves.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_DEBUG_JITDUMP_H
#define QUERN_RUNTIME_DEBUG_JITDUMP_H

#include "Support/KeptDescriptor.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <sys/types.h>
#include <vector>

namespace quern {

/// One function that is mapped.
struct ProfiledCode {
  struct Line {
    uint64_t address;
    uint32_t line;
  };
  uint64_t address, bytes;
  std::string name;
  std::string source = {};      ///< the file that `lines` are of
  std::vector<Line> lines = {}; ///< where lines begin, in the order of addresses
};

void addToPerfMap(const std::vector<ProfiledCode> &functions);

/// JITDUMPDIR, else HOME, else the working directory.
std::string jitDumpDirectory();

/// The jitdump of a process. A child of a fork begins one of its own. Not thread-safe.
class JitDump {
public:
  /// Makes <directory>/.debug/jit/<prefix>.XXXXXX/jit-<pid>.dump, where there is none of this process yet.
  void open(const std::string &directory, const std::string &prefix);
  /// Nothing where the file could not be made.
  void write(const ProfiledCode &code);

private:
  void writeLines(const ProfiledCode &code);

  std::FILE *file = nullptr; ///< open as long as the process
  FileIdentity identity;
  pid_t owner = -1;
  bool failed = false;
  uint64_t count = 0;
};

} // namespace quern

#endif // QUERN_RUNTIME_DEBUG_JITDUMP_H
