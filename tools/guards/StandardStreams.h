//===- StandardStreams.h - Standard output whose loss is an error ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The first and the last step of main() in every program of Quern that prints results.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_STANDARDSTREAMS_H
#define QUERN_TOOLS_STANDARDSTREAMS_H

namespace quern {

/// Opens /dev/null for each standard stream that is closed, so that no file which the program opens takes its number.
/// Reads and writes of such a stream fail, as those of a closed one do. To be called before any file is opened.
void openStandardStreams();

/// Flushes standard output, that of stdio and iostreams. Returns `status`; but if some of the output was not written
/// and `status` is 0, prints a line with the name of the program to standard error and returns `lost`.
int finishOutput(const char *program, int status, int lost);

} // namespace quern

#endif // QUERN_TOOLS_STANDARDSTREAMS_H
