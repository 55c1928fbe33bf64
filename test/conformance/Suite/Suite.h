//===- Suite.h - Runs drawn cases and keeps count -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One primitive, one process, one instruction set. Every case goes through the text form, is compiled, executed with
// several numbers of threads (which must agree to the bit) and judged; then it is loaded from the disk cache by the
// loader without a compiler, which must agree as well.
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

/// What a peer did differently in one problem, each with the share of the problems that may show it.
using PeerDifferences = std::map<std::string_view, double>;

struct SuiteOptions {
  uint64_t seed = 1;
  int64_t first = 0;          ///< the number of the first legal problem
  int64_t count = 0;          ///< legal problems; 0: a first round
  bool all = false;           ///< instead of `count`: all rounds
  int64_t parts = 1;          ///< equal ones, that all rounds are cut into
  int64_t part = 1;           ///< the one that is taken: 1 is the first, `parts` + 1 again
  double seconds = 0;         ///< 0: no limit
  int64_t damagedLines = 500; ///< that are read: the same in every process of a set
  bool listOnly = false;      ///< verify legal problems and print the commands that would run them
  bool compileOnly = false;   ///< for devices, and run nothing
  bool aliases = false;       ///< lay outputs on other arguments instead
  bool families = false;      ///< run the kernels of families where there are some (QUERN_TIERS=family)
  bool useOrc = true, useLoader = true;
  quern_engine_kind_t engine = quern_cpu;
  std::string peer; ///< a oneDNN to compare with; empty: none

  /// The range of numbers that these options ask for of a set.
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
  /// Prints the counts of every cell and "N passed, N failed", of which passed means compared and right, after a line
  /// with what is counted apart; gives the exit code.
  int summarize() const;

private:
  /// Case `number`, drawn again so many times.
  Case draw(int64_t number, int64_t redraws) const;
  std::string commandOf(const Case &drawn) const;
  /// A command that runs the case as here, and which one it is.
  std::string describe(const Case &drawn) const;
  /// In front of a command, so that it runs on the same.
  std::string settingOf() const;
  void fail(const Case &drawn, const std::string &why);
  void failLine(const std::string &line, const std::string &why);
  Result<void> runCase(const Case &drawn);
  /// Counts what has to be flat; fails for what has not. True if the case is to be drawn again.
  Result<bool> isToBeRedrawn(const Case &drawn, const Problem &problem, ProblemData &data);
  /// What a device may lack is counted, not failed.
  Result<void> skipOrFail(Error error);
  /// What a case needs to be run: the verified problem that the kernel is made for, and the same with all sizes.
  Result<void> readCase(const Case &drawn, Problem &open, Problem &sized) const;
  void countCase(const Case &drawn, const PrimitiveDesc &sized, ProblemData &data);
  /// Executes with every number of threads, guarded at the end of buffers and at the beginning by turns; the outputs
  /// of the first go to `bytes`.
  Result<void> executeAndJudge(Kernel &kernel, const Case &drawn, ProblemData &data, std::string &bytes);
  /// Executes a kernel of open sizes with others than those that were drawn with it.
  Result<void> runOtherSizes(Kernel &kernel, const Case &drawn);
  /// Executes with outputs on other arguments.
  Result<void> runAliases(Kernel &kernel, const Case &drawn, const Problem &problem, ProblemData &data);
  /// The peer's primitive, or null where it has none.
  std::unique_ptr<OneDnnPrimitive> askPeer(const Problem &problem);
  /// Fills and binds the buffers, and executes. False, and counted, where the peer refuses only now: 3.2 does zero
  /// points with a mask.
  Result<bool> runPeer(ProblemData &data, OneDnnPrimitive &theirPrimitive);
  Result<void> compareWithPeer(const Problem &problem, const Case &drawn, ProblemData &data,
                               OneDnnPrimitive &theirPrimitive);
  /// What differs of the outputs, by its name, with its share; an error where one of them is wrong.
  Result<PeerDifferences> judgeOutputsOfPeer(const Problem &problem, const Case &drawn, ProblemData &data,
                                             const std::string &implementation);
  /// Without kernels: the reference judges what the peer computes. 3.13's gru reads memory that it has not written, so
  /// that of two primitives of one problem one may be right: a wrong one is made anew a few times.
  Result<void> judgePeer(const Problem &problem, const Case &drawn, ProblemData &data, OneDnnPrimitive &theirPrimitive);
  void count(const PeerDifferences &differences);
  Difference differenceOf(const PeerComparison &with, const ReferenceInputs &results, DataKind data) const;
  bool isOutOfTime() const;
  bool isDrawnOut() const;
  /// What was drawn and proves nothing: a peer refused it, it was not asked, a device has it not,
  /// or all of it is one value.
  int64_t notCompared() const;
  int64_t leastCompared() const { return options.count / 3; }
  /// What makes a comparison with a peer worth less than it should be: too few problems, or too
  /// many of a known difference.
  std::vector<std::string> peerShortfalls() const;

  SuiteOptions options;
  PrimitiveCases &cases;
  Device device;
  std::unique_ptr<OneDnn> peer;
  std::string cacheDirectory;
  /// How many problems have each, and may have it.
  std::map<std::string_view, std::pair<int64_t, double>> peerDifferences;
  std::map<std::string, int64_t> peerUnsafe; ///< problems that the peer is not asked, by why
  std::map<std::string, int64_t> refusals;   ///< by kind of mistake
  std::map<std::string, int64_t> flat;       ///< problems whose data or results have to be of one value, by why
  DeviceRefusals skipped;
  AliasRounds aliases;
  GuardedSide guarded = GuardedSide::End; ///< of the execution that runs
  int64_t passed = 0, failed = 0, legal = 0, peerCompared = 0, peerRefused = 0;
  bool isFlat = false; ///< what was drawn last, which is drawn again
  int64_t redrawn = 0;
  int64_t mistakesRefused = 0, damaged = 0;
  int64_t bySpecial = 0, inPlace = 0, empty = 0, misaligned = 0, otherSizes = 0, ofFamily = 0;
  double worst = 0;
  double startSeconds = 0;
};

} // namespace quern

#endif // QUERN_CONFORMANCE_SUITE_SUITE_H
