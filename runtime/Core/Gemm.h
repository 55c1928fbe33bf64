//===- Gemm.h - Products of matrices as functions ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A call is checked, sorted into one of few kinds, and run by the kernel of that kind, whose sizes are all open.
// Kernels stay for the life of the process.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_GEMM_H
#define QUERN_RUNTIME_CORE_GEMM_H

#include "quern/quern_threadpool_iface.hpp"

#include "Desc/PrimitiveDesc.h"

namespace quern {

/// The arguments of quern_sgemm() and its relatives.
struct GemmCall {
  DataType srcType = DataType::F32;
  char transa = 'N', transb = 'N';
  int64_t m = 0, n = 0, k = 0;
  float alpha = 1, beta = 0;
  const void *a = nullptr, *b = nullptr;
  void *c = nullptr;
  int64_t lda = 0, ldb = 0, ldc = 0;
  // Of integers only.
  char offsetc = 'F';
  uint8_t ao = 0; ///< the bits of an s8 where src is one
  int8_t bo = 0;
  const int32_t *co = nullptr;
};

/// On `pool`; without one, on the default threads, or with `ownThreads` on the calling one alone. Thread-safe.
Result<void> runGemm(const GemmCall &call, threadpool_interop::threadpool_iface *pool, bool ownThreads);

} // namespace quern

#endif // QUERN_RUNTIME_CORE_GEMM_H
