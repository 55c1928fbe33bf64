//===- StandardStreams.h - Standard streams, with errors for lost output --===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// First and last step of main() in every program of Quern that prints results.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_STANDARDSTREAMS_H
#define QUERN_TOOLS_STANDARDSTREAMS_H

namespace quern {

/// Opens /dev/null for each closed standard stream, so no file that the program opens gets its number. Reads and writes
/// of such a stream fail, like those of a closed one. Must be called before any file is opened.
void openStandardStreams();

/// Flushes standard output of stdio and iostreams and returns `status`. If some output was not written, prints a line
/// with the program's name to standard error and, if `status` is 0, returns `failureStatus` instead.
int finishOutput(const char *program, int status, int failureStatus);

} // namespace quern

#endif // QUERN_TOOLS_STANDARDSTREAMS_H
