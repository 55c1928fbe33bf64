//===- Main.cpp - The quern command ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Registers the subcommands and converts all errors to exit codes.
//
//===----------------------------------------------------------------------===//
#include "Command.h"
#include "StandardStreams.h"

#include "quern/quern.h"

#include <iostream>

namespace {

constexpr const char *footer = R"(
Exit codes:
  0  success
  1  a result is wrong (--check), or a cache file or pack is damaged (verify)
  2  bad options, or a problem or file that is not valid
  3  a valid problem that this build does not support
  4  out of memory, a missing library, a device or disk error, lost output, or a defect

Environment:
  QUERN_CACHE_DIR            directory of the disk cache; "off" for none
  QUERN_PACKS                packs to find kernels in, separated by colons
  QUERN_MAX_CPU_ISA          sse41, avx2, avx512_core, avx512_core_vnni, ...
  QUERN_NUM_THREADS          threads of an execution
  QUERN_VERBOSE              1: a line for each execution; 2: also for each creation
  QUERN_DEBUG                gdb, perf or both: registers kernels with these tools
  QUERN_DEFAULT_FPMATH_MODE  strict, bf16, f16, tf32 or any
  QUERN_COMPILER             process: compile in another process, whose crash is an error

A problem is one line, for example
  softmax fwd_i alg=accurate src=f32:1024x1000:ab dst=f32:1024x1000:ab axis=1
docs/text-form.md has the grammar.)";

int runCommand(int argc, char **argv) {
  quern::CommandLine program("Compiles, runs and explains deep-learning kernels.", "quern");
  const quern_version_t *version = quern_version();
  program.version(quern::concat("quern ", version->major, '.', version->minor, '.', version->patch));
  program.footer(footer);
  program.requireSubcommand();
  int exitCode = quern::exitOk;
  quern::addRunCommand(program, exitCode);
  quern::addDumpCommand(program, exitCode);
  quern::addCompileCommand(program, exitCode);
  quern::addExplainCommand(program, exitCode);
  quern::addAnnotateCommand(program, exitCode);
  quern::addBenchCommand(program, exitCode);
  quern::addCacheCommand(program, exitCode);
  quern::addPackCommand(program, exitCode);
  quern::addDevicesCommand(program, exitCode);
  if (std::optional<int> status = program.parse(argc, argv))
    return *status == 0 ? quern::exitOk : quern::exitUsage;
  return exitCode;
}

} // namespace

int main(int argc, char **argv) {
  quern::openStandardStreams();
  try {
    return quern::finishOutput("quern", runCommand(argc, argv), quern::exitFailed);
  } catch (const std::bad_alloc &) {
    std::cerr << "quern: error: out of memory\n";
  } catch (const std::exception &error) {
    std::cerr << "quern: error: " << error.what() << '\n';
  }
  return quern::exitFailed;
}
