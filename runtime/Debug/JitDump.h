//===- JitDump.h - Files that report run-time code to perf ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A map, /tmp/perf-PID.map, has a line for each function, from which `perf report` reads the names. A jitdump,
// jit-PID.dump, also has the code, its lines and the load times: `perf record -k mono` records the existence of the
// file, and `perf inject --jit` converts it to objects. Write errors are ignored. Libquern and its drop-in have
// separate files.
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

/// A mapped function.
struct ProfiledCode {
  struct Line {
    uint64_t address;
    uint32_t line;
  };
  uint64_t address, bytes;
  std::string name;
  std::string source = {};      ///< the file that `lines` refer to
  std::vector<Line> lines = {}; ///< starts of lines, sorted by address
};

void addToPerfMap(const std::vector<ProfiledCode> &functions);

/// Returns JITDUMPDIR, else HOME, else the working directory.
std::string jitDumpDirectory();

/// The jitdump of a process. The child of a fork creates a separate one. Not thread-safe.
class JitDump {
public:
  /// Creates <directory>/.debug/jit/<prefix>.XXXXXX/jit-<pid>.dump, unless this process already has one.
  void open(const std::string &directory, const std::string &prefix);
  /// Appends records for the code of a kernel. Does nothing if the file could not be created.
  void write(const ProfiledCode &code);

private:
  void writeLines(const ProfiledCode &code);

  std::FILE *file = nullptr; ///< stays open until the process ends
  FileIdentity identity;
  pid_t owner = -1;
  bool failed = false;
  uint64_t count = 0;
};

} // namespace quern

#endif // QUERN_RUNTIME_DEBUG_JITDUMP_H
