//===- Harness.h - Inputs of a fuzzer, run in child processes ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An input is the number of a case of a seed; seed and number determine it completely. Child processes run blocks of
// inputs, so that a crash, a hang or an exit is a failure of one input, and the next child continues after it. A block
// has one instruction set.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_FAULTS_FUZZ_HARNESS_H
#define QUERN_TEST_FAULTS_FUZZ_HARNESS_H

#include "Kernel.h"
#include "Random.h"

#include <string>
#include <string_view>

namespace quern::fuzz {

/// The reason why an input has failed. An input throws it, and the harness catches it.
struct Failure {
  std::string why;
};

inline void require(bool holds, const std::string &why) {
  if (!holds)
    throw Failure{why};
}

/// Outcomes of inputs; their numbers are printed at the end of a run.
enum Count { Described, Refused, Created, Executed, Judged, CountKinds };

/// A fault that the harness adds to some inputs, to show that it is reported.
enum class Plant { None, Read, Result, Hang, Exit };

/// One input of a run, within a child process.
class Input {
public:
  Input(uint64_t seed, int64_t number, const Device &device, Plant plant);
  /// Records the next action of the input. All actions are printed if the input fails.
  void note(const std::string &text);
  void count(Count kind);
  /// Counts a comparison with a right result.
  void pass();

  Random random;
  const Device &device;
  const Plant plant; ///< for this input
};

struct Options {
  uint64_t seed = 1;
  int64_t first = 0;
  int64_t count = 0; ///< inputs; 0: until `seconds` have passed
  double seconds = 60;
  int64_t limit = 60; ///< seconds after which an input fails
  Plant plant = Plant::None;
};

/// Runs inputs of the fuzzer `name` and prints failures, counts and "N passed, N failed". Returns the exit status. The
/// calling process must not have used libquern before.
int run(std::string_view name, const Options &options, void (*one)(Input &input));

} // namespace quern::fuzz

#endif // QUERN_TEST_FAULTS_FUZZ_HARNESS_H
