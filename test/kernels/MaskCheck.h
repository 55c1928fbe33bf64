//===- MaskCheck.h - Masked accesses in machine code ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compares the masked accesses of a kernel's LLVM IR with the memory accesses of its assembly. Both have the line of
// the schedule that they come from, and each access of the schedule has its own line.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_KERNELS_MASKCHECK_H
#define QUERN_KERNELS_MASKCHECK_H

#include "Corpus.h"

#include <string_view>

namespace quern {

struct MaskCheck {
  int64_t accesses = 0;            ///< lines of the schedule with a masked access in LLVM IR
  std::vector<std::string> faults; ///< one line for each of them that is not masked in the assembly
};

/// Checks the trace of a kernel, as quern_form_trace returns it. A masked access must be an instruction with a mask. If
/// the mask is constant, an instruction without a mask may access a vector whose first and last lanes are set.
MaskCheck checkMasks(std::string_view trace);

/// Compiles the problem in this process and checks it. Returns one line of text:
///   ok ACCESSES TARGET PROBLEM
///   refused - TARGET PROBLEM # REASON          the problem is not supported, or has nothing to compile
///   failed - TARGET PROBLEM # FAULT; FAULT…
std::string checkMasksOf(const KernelRequest &request);

} // namespace quern

#endif // QUERN_KERNELS_MASKCHECK_H
