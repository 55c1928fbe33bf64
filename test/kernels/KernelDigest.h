//===- KernelDigest.h - A kernel in three numbers -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One line of text for a problem and a target, which depends on nothing but what the compiler made of them:
//   CODE PLAN PROGRAM TARGET PROBLEM             three digests of 16 hexadecimal digits
//   refused - - TARGET PROBLEM # REASON          a problem that is not supported, or that has nothing to compile
//   failed - - TARGET PROBLEM # REASON           a defect
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_KERNELS_KERNELDIGEST_H
#define QUERN_KERNELS_KERNELDIGEST_H

#include "Corpus.h"

#include <optional>
#include <string_view>

namespace quern {

struct KernelDigest {
  KernelRequest request;
  std::string code;    ///< of the code (CodeBytes.h); or "refused" or "failed"
  std::string plan;    ///< of the implementation's name and the kernels' plans, as `quern explain` begins
  std::string program; ///< of the rest of the artifact but the build id: entries, steps, loops, arguments, scratch
  std::string reason;  ///< of what was refused or failed, one line

  bool isCompiled() const { return reason.empty(); }
  std::string text() const;
  /// Nothing for a line that text() does not give.
  static std::optional<KernelDigest> parse(std::string_view line);
};

/// Compiles the problem in this process.
KernelDigest digestKernel(const KernelRequest &request);

} // namespace quern

#endif // QUERN_KERNELS_KERNELDIGEST_H
