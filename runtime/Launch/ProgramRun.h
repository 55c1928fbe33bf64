//===- ProgramRun.h - Running a launch ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The position of a thread in a program, and the calls of a group's steps with their buffers.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LAUNCH_PROGRAMRUN_H
#define QUERN_RUNTIME_LAUNCH_PROGRAMRUN_H

#include "Launch/Program.h"

namespace quern {

/// One execution of a program, shared by its threads.
struct ProgramRun {
  const Program &program;
  const int64_t *bound; ///< the program's numbers
  void *const *buffers; ///< buffers of the arguments
  const int64_t *sizes; ///< open sizes, then derived ones
  void *shared;         ///< scratch that kernels share
  char *regions;        ///< start of the first region

  /// Returns the buffers for a step's kernel: those of the arguments, or `named` (maxStepBuffers), which it fills.
  void *const *buffersOf(const Program::BoundStep &step, const int64_t *indices, void **named) const;
  /// Runs the positions [low, high) of a group's space. `isBackward`: each step runs from its last iteration to its
  /// first, if the iterations are long enough.
  void runGroup(uint32_t group, const int64_t *indices, void *scratch, bool isBackward, int64_t low,
                int64_t high) const;

private:
  void callStep(const Program::BoundStep &step, const int64_t *indices, void *scratch, bool isBackward, int64_t begin,
                int64_t end) const;
};

/// Visits the groups of a program in the order of its loops.
class ProgramCursor {
public:
  ProgramCursor(const Program &program, const int64_t *bound) : program(program), bound(bound) {}
  /// Moves to the next group. Returns false at the end.
  bool next() {
    const std::span<const Program::Instruction> code = program.instructions();
    while (at < code.size()) {
      const Program::Instruction &instruction = code[at];
      if (instruction.kind == Program::Instruction::Run) {
        ++at;
        current = instruction.index;
        return true;
      }
      const int64_t trips = program.trips(bound, instruction.index);
      if (instruction.kind == Program::Instruction::Begin) {
        if (trips > 0)
          at = at + 1, loopIndices[depth++] = 0;
        else
          at = instruction.target;
      } else if (++loopIndices[depth - 1] < trips) {
        at = instruction.target;
      } else {
        --depth, ++at;
      }
    }
    return false;
  }
  uint32_t group() const { return current; }
  /// Indices of the surrounding loops, outermost first.
  const int64_t *indices() const { return loopIndices; }
  /// Returns true in every other iteration of the innermost loop. Such an iteration runs backward, so that it starts
  /// with data that the previous iteration left in the caches.
  bool isBackward() const { return depth > 0 && loopIndices[depth - 1] % 2; }

private:
  const Program &program;
  const int64_t *bound;
  uint32_t at = 0, current = 0, depth = 0;
  int64_t loopIndices[maxLoopDepth];
};

} // namespace quern

#endif // QUERN_RUNTIME_LAUNCH_PROGRAMRUN_H
