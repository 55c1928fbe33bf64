//===- Listing.h - Instructions as they are emitted -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An object is written to nowhere, and each instruction is noted on its way: where it lies, what the printer of
// assembly would say of it, and what it is for the models of processors. No assembly is parsed, no code disassembled.
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

/// What a streamer notes: `instructions` has the code of `listing.instructions`.
struct NotedCode {
  CodeListing listing;
  std::vector<llvm::MCInst> instructions;
};

/// For one run of a printer. `noted` is filled when that ends, and must live until then.
std::unique_ptr<llvm::MCStreamer> createNotingStreamer(llvm::TargetMachine &machine, llvm::MCContext &context,
                                                       NotedCode &noted);

/// Adds to each loop one estimate for each processor of `machines`.
void estimateLoops(const llvm::TargetMachine &machine, NotedCode &noted, const std::vector<const char *> &machines);

} // namespace quern

#endif // QUERN_TARGETS_CPU_LISTING_H
