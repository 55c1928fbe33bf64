//===- Listing.h - Recording instructions as they are emitted -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emits an object without writing it, and records each instruction: its offset, a remark on its memory access, and the
// form that processor models need. No assembly is parsed, and no code is disassembled.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_LISTING_H
#define QUERN_TARGETS_CPU_LISTING_H

#include "Targets/CodeListing.h"

#include "llvm/MC/MCInst.h"

#include <memory>

namespace llvm {
class MCContext;
class MCStreamer;
class TargetMachine;
} // namespace llvm

namespace quern {

/// Output of a streamer: `instructions[i]` is the instruction that `listing.instructions[i]` describes.
struct NotedCode {
  CodeListing listing;
  std::vector<llvm::MCInst> instructions;
};

/// Creates a streamer for one run of a printer. `noted` is filled when the run ends, and must outlive it.
std::unique_ptr<llvm::MCStreamer> createNotingStreamer(llvm::TargetMachine &machine, llvm::MCContext &context,
                                                       NotedCode &noted);

/// Adds one estimate for each processor of `machines` to each loop.
void estimateLoops(const llvm::TargetMachine &machine, NotedCode &noted, const std::vector<const char *> &machines);

} // namespace quern

#endif // QUERN_TARGETS_CPU_LISTING_H
