//===- Pack.h - Functions shared by quern pack ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_PACK_H
#define QUERN_TOOLS_PACK_H

#include "Options.h"
#include "Support/Error.h"

#include <string>
#include <vector>

namespace quern {

struct PackBuildOptions {
  std::vector<std::string> files, functions, targets;
  std::string output;
  uint64_t jobs = 0; ///< number of processes; 0: one for each processor
  bool allowNaive = false, keepGoing = false;
  bool asFamilies = false; ///< true if the family of each problem is compiled instead
};

/// Compiles the problems in `files` and the functions in `functions`, and writes the pack. Returns the exit code.
int buildPack(const PackBuildOptions &options);

/// Writes a pack completely or not at all, because programs may have mapped the file that it replaces.
Result<void> writePackFile(const std::string &path, std::string_view bytes);

} // namespace quern

#endif // QUERN_TOOLS_PACK_H
