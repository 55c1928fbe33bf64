//===- Gemm.h - Matrix products as functions ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A call is checked and classified; the kernel of its kind, whose sizes are all open, runs it. Kernels stay until the
// process ends.
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
  // Only for integers.
  char offsetc = 'F';
  uint8_t ao = 0; ///< holds the bits of an s8 if A has that type
  int8_t bo = 0;
  const int32_t *co = nullptr;
};

/// Checks a call and runs it on `pool`; if that is null, on the default threads or, with `ownThreads`, only on the
/// calling thread. Thread-safe.
Result<void> runGemm(const GemmCall &call, threadpool_interop::threadpool_iface *pool, bool ownThreads);

} // namespace quern

#endif // QUERN_RUNTIME_CORE_GEMM_H
