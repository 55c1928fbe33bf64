//===- CodeListing.h - Data about the instructions of an assembly text ----===//
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

/// A remark about an instruction's memory access.
enum class AccessMark {
  None,
  Spill,     ///< stores a register to the stack
  Reload,    ///< loads a spilled register, possibly as an operand of another instruction
  Unaligned, ///< accesses a whole vector without requiring alignment
};

struct ListedInstruction {
  int64_t offset = 0; ///< bytes from the start of the code
  AccessMark mark = AccessMark::None;
};

/// One iteration of a loop on one processor, according to LLVM's model of it (llvm-mca): every access hits L1, and all
/// branches fall through except the last.
struct LoopEstimate {
  std::string machine; ///< LLVM's name of the processor
  std::string whyNot;  ///< reason if the model fails; then cycles, boundBy and ports are not set
  double cycles = 0, microOps = 0;
  std::string boundBy;                               ///< "dispatch", "latency" or the busiest port
  std::vector<std::pair<std::string, double>> ports; ///< busy cycles of each used port
  struct Cost {
    unsigned latency = 0;
    double cycles = 0; ///< reciprocal throughput
  };
  std::vector<Cost> costs; ///< by instruction
};

/// An innermost loop.
struct ListedLoop {
  size_t first = 0, last = 0; ///< indices of instructions
  std::vector<LoopEstimate> estimates;
};

struct CodeListing {
  std::vector<ListedInstruction> instructions; ///< in the order of the text
  std::vector<ListedLoop> loops;
};

} // namespace quern

#endif // QUERN_TARGETS_CODELISTING_H
