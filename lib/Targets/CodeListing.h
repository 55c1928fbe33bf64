//===- CodeListing.h - What is known of instructions beside their text ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CODELISTING_H
#define QUERN_TARGETS_CODELISTING_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace quern {

/// What is to be said of an instruction's access to memory.
enum class AccessMark {
  None,
  Spill,     ///< puts a register on the stack
  Reload,    ///< takes one back, as an operand, too
  Unaligned, ///< of a vector, of whose address no alignment to its size is known
};

struct ListedInstruction {
  int64_t offset = 0; ///< bytes from the beginning of the code
  AccessMark mark = AccessMark::None;
};

/// One turn of a loop on one processor, as LLVM's model of it has it (llvm-mca): every access hits the first level, no
/// branch is taken but the last.
struct LoopEstimate {
  std::string machine; ///< LLVM's name
  std::string whyNot;  ///< the model lacks an instruction: nothing else is set
  double cycles = 0, microOps = 0;
  std::string boundBy;                               ///< "dispatch", "latency" or the busiest port
  std::vector<std::pair<std::string, double>> ports; ///< cycles that each is busy, of those that are
  struct Cost {
    unsigned latency = 0;
    double cycles = 0; ///< alone, over and over
  };
  std::vector<Cost> costs; ///< of each instruction
};

/// A loop with none within.
struct ListedLoop {
  size_t first = 0, last = 0; ///< instructions
  std::vector<LoopEstimate> estimates;
};

struct CodeListing {
  std::vector<ListedInstruction> instructions; ///< in the order of the text
  std::vector<ListedLoop> loops;
};

} // namespace quern

#endif // QUERN_TARGETS_CODELISTING_H
