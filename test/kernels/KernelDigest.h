//===- KernelDigest.h - Digests of a kernel -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One line of text for a problem and a target, which depends only on the output of the compiler:
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
  std::string code; ///< digest of the code (CodeBytes.h); or "refused" or "failed"
  std::string plan; ///< digest of the implementation's name and the kernels' plans, like the start of `quern explain`
  std::string program; ///< digest of the rest of the artifact, without the build id: entries, steps, loops, …
  std::string reason;  ///< one-line reason of a refusal or failure

  bool isCompiled() const { return reason.empty(); }
  std::string text() const;
  /// Returns nothing if text() does not produce such a line.
  static std::optional<KernelDigest> parse(std::string_view line);
};

/// Compiles the problem in this process.
KernelDigest digestKernel(const KernelRequest &request);

} // namespace quern

#endif // QUERN_KERNELS_KERNELDIGEST_H
