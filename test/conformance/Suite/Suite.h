//===- Suite.h - Running and counting drawn cases -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs the cases of one primitive with one instruction set in one process. Every case goes through the text form, is
// compiled, executed with several numbers of threads (which must agree to the bit) and judged. Then the loader loads it
// from the disk cache without a compiler, and the results must agree again.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SUITE_SUITE_H
#define QUERN_CONFORMANCE_SUITE_SUITE_H

#include "Aliases.h"
#include "Cases.h"
#include "DeviceRefusals.h"
#include "Kernel.h"
#include "OneDnn.h"

#include <map>
#include <memory>

namespace quern {

/// Differences of a peer in one problem, with the maximum share of the problems.
using PeerDifferences = std::map<std::string_view, double>;

struct SuiteOptions {
  uint64_t seed = 1;
  int64_t first = 0;          ///< number of the first valid problem
  int64_t count = 0;          ///< valid problems; 0: a first round
  bool all = false;           ///< all rounds instead of `count`
  int64_t parts = 1;          ///< number of equal parts that all rounds are split into
  int64_t part = 1;           ///< part to run: 1 is the first, and so is `parts` + 1
  double seconds = 0;         ///< time limit; 0: none
  int64_t damagedLines = 500; ///< to read; the same in every process of a set
  bool listOnly = false;      ///< verify valid problems and print the commands that would run them
  bool compileOnly = false;   ///< for devices; runs nothing
  bool aliases = false;       ///< let outputs overlap other arguments instead
  bool families = false;      ///< run family kernels if they exist (QUERN_TIERS=family)
  bool useOrc = true, useLoader = true;
  quern_engine_kind_t engine = quern_cpu;
  std::string peer; ///< installation of oneDNN to compare with; empty: none

  /// Computes the range of case numbers of a set for these options.
  void settle(const PrimitiveCases &cases);
};

class Suite {
public:
  Suite(const SuiteOptions &options, PrimitiveCases &cases) : options(options), cases(cases) {}
  ~Suite();

  /// Opens the device, the peer and a private disk cache.
  Result<void> open();
  void runLegal();
  void runIllegal();
  int exitCode() const { return failed ? 1 : 0; }
  /// Prints the counts of every cell and "N passed, N failed", after a line with the cases that are counted separately.
  /// Passed means compared and right. Returns the exit code.
  int summarize() const;

private:
  /// Returns case `number` after `redraws` flat draws.
  Case draw(int64_t number, int64_t redraws) const;
  std::string commandOf(const Case &drawn) const;
  /// Returns a command that runs the case with these options, and its number.
  std::string describe(const Case &drawn) const;
  /// Returns the environment variables to put before a command.
  std::string settingOf() const;
  void fail(const Case &drawn, const std::string &why);
  void failLine(const std::string &line, const std::string &why);
  Result<void> runCase(const Case &drawn);
  /// Counts data that must be flat and fails for other flat data. Returns true if the case is to be drawn again.
  Result<bool> isToBeRedrawn(const Case &drawn, const ParsedProblem &problem, ProblemData &data);
  /// Counts features that a device may lack; other refusals are failures.
  Result<void> skipOrFail(Error error);
  /// Reads the verified problem that the kernel is created for, and the same with all sizes known.
  Result<void> readCase(const Case &drawn, ParsedProblem &open, ParsedProblem &sized) const;
  void countCase(const Case &drawn, const PrimitiveDesc &sized, ProblemData &data);
  /// Executes with every number of threads, with buffers alternately guarded at the end and at the beginning; `bytes`
  /// receives the outputs of the first execution.
  Result<void> executeAndJudge(Kernel &kernel, const Case &drawn, ProblemData &data, std::string &bytes);
  /// Executes a kernel with open sizes for sizes other than the drawn ones.
  Result<void> runOtherSizes(Kernel &kernel, const Case &drawn);
  /// Executes with outputs that overlap other arguments.
  Result<void> runAliases(Kernel &kernel, const Case &drawn, const ParsedProblem &problem, ProblemData &data);
  /// Returns the peer's primitive, or null if it has none.
  std::unique_ptr<OneDnnPrimitive> askPeer(const ParsedProblem &problem);
  /// Fills and binds the buffers, and executes. Returns false, and counts it, if the peer refuses only at execution, as
  /// 3.2 does for zero points with a mask.
  Result<bool> runPeer(ProblemData &data, OneDnnPrimitive &theirPrimitive);
  Result<void> compareWithPeer(const ParsedProblem &problem, const Case &drawn, ProblemData &data,
                               OneDnnPrimitive &theirPrimitive);
  /// Returns the known differences of the outputs with their shares; an error if an output is wrong.
  Result<PeerDifferences> judgeOutputsOfPeer(const ParsedProblem &problem, const Case &drawn, ProblemData &data,
                                             const std::string &implementation);
  /// Judges the peer's results with the reference; runs no kernel of Quern. The gru of 3.13 reads uninitialized memory,
  /// so of two primitives of one problem one may be right: a wrong one is created again a few times.
  Result<void> judgePeer(const ParsedProblem &problem, const Case &drawn, ProblemData &data,
                         OneDnnPrimitive &theirPrimitive);
  void count(const PeerDifferences &differences);
  Difference differenceOf(const PeerComparison &with, const ReferenceInputs &results, DataKind data) const;
  bool isOutOfTime() const;
  bool isDrawnOut() const;
  /// Returns the number of draws that prove nothing: the peer refused them or is known to crash, the device lacks a
  /// feature, or the data is flat.
  int64_t notCompared() const;
  int64_t minCompared() const { return options.count / 3; }
  /// Returns reasons why a comparison with a peer proves less than it should: too few problems, or a known difference
  /// that is too frequent.
  std::vector<std::string> peerShortfalls() const;

  SuiteOptions options;
  PrimitiveCases &cases;
  Device device;
  std::unique_ptr<OneDnn> peer;
  std::string cacheDirectory;
  /// The number of problems with each difference, and the maximum share.
  std::map<std::string_view, std::pair<int64_t, double>> peerDifferences;
  std::map<std::string, int64_t> peerUnsafe; ///< problems on which the peer may crash, by reason
  std::map<std::string, int64_t> refusals;   ///< by kind of mistake
  std::map<std::string, int64_t> flat;       ///< problems whose data or results must be flat, by reason
  DeviceRefusals skipped;
  AliasRounds aliases;
  GuardedSide guarded = GuardedSide::End; ///< for the current execution
  int64_t passed = 0, failed = 0, legal = 0, peerCompared = 0, peerRefused = 0;
  bool isFlat = false; ///< the last draw was flat and is repeated
  int64_t redrawn = 0;
  int64_t mistakesRefused = 0, damaged = 0;
  int64_t bySpecial = 0, inPlace = 0, empty = 0, misaligned = 0, otherSizes = 0, ofFamily = 0;
  double worst = 0;
  double startSeconds = 0;
};

} // namespace quern

#endif // QUERN_CONFORMANCE_SUITE_SUITE_H
