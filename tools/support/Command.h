//===- Command.h - Functions shared by quern's subcommands ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Exit codes, error output and the registration of subcommands, each of which is in a separate file. Results go to
// standard output. Errors and progress go to standard error, so the output can be piped.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_COMMAND_H
#define QUERN_TOOLS_COMMAND_H

#include "Options.h"
#include "Support/Error.h"

#include <string>
#include <string_view>

namespace quern {

/// The exit status of the command. With several problems it is the status of the most serious failure: failed, then
/// wrong, usage, unimplemented.
enum ExitCode : int {
  exitOk = 0,
  exitWrong = 1,         ///< a result failed its check, or a cache file or a pack is damaged
  exitUsage = 2,         ///< bad options, or a line or file that is not valid
  exitUnimplemented = 3, ///< a valid problem that this build does not support
  exitFailed = 4,        ///< out of memory, a missing library, a device or disk error, or a defect of Quern
};

int exitCodeOf(Status status);
int moreSerious(int first, int second);

/// Prints "quern: error: ..." and returns the exit code of the error.
int reportError(const Error &error);
void warn(std::string_view message);

/// Writes to a file, or to standard output for "-".
Result<void> writeOutput(const std::string &path, std::string_view bytes);
Result<std::string> readFile(const std::string &path);

// Each function registers a subcommand whose callback stores its exit code in `exitCode`.
void addBenchCommand(Command &program, int &exitCode);
void addCacheCommand(Command &program, int &exitCode);
void addCompileCommand(Command &program, int &exitCode);
void addDevicesCommand(Command &program, int &exitCode);
void addDumpCommand(Command &program, int &exitCode);
void addExplainCommand(Command &program, int &exitCode);
void addAnnotateCommand(Command &program, int &exitCode);
void addPackCommand(Command &program, int &exitCode);
void addRunCommand(Command &program, int &exitCode);

} // namespace quern

#endif // QUERN_TOOLS_COMMAND_H
