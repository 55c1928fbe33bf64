//===- MlirCall.cpp - Functions in MLIR, called by generated code ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements quern_mlir_call.h.
//
//===----------------------------------------------------------------------===//
#include "API/Guard.h"
#include "Mlir/CallSite.h"

#include "quern/quern_common.h"

using namespace quern;
using namespace quern::api;

namespace {

/// Returns the site that a caller-owned pointer stores, and creates it first if the pointer is null. If several threads
/// do so at the same time, one of them stores its site and the others use that one.
CallSite &siteAt(void **pointer) {
  std::atomic_ref<void *> place(*pointer);
  if (void *known = place.load(std::memory_order_acquire))
    return *static_cast<CallSite *>(known);
  auto made = std::make_unique<CallSite>();
  void *expected = nullptr;
  if (place.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel))
    return *made.release();
  return *static_cast<CallSite *>(expected);
}

} // namespace

extern "C" {

quern_status_t quern_mlir_call(void **site, const quern_mlir_function_t *function, const quern_mlir_memref_t *memrefs,
                               int count) noexcept {
  const quern_status_t status = guarded([&]() -> Result<void> {
    QUERN_REQUIRE("site", site, "function", function, "memrefs", memrefs);
    QUERN_REQUIRE("function->module", function->module);
    if (count < 0)
      return invalidArguments("the number of memrefs is ", count);
    return siteAt(site).call(*function, {memrefs, static_cast<size_t>(count)});
  });
  if (status != quern_success && function && function->on_failure)
    function->on_failure(status, quern_get_last_error_message());
  return status;
}

quern_status_t quern_mlir_release(void **site) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("site", site);
    delete static_cast<CallSite *>(std::atomic_ref<void *>(*site).exchange(nullptr, std::memory_order_acq_rel));
    return {};
  });
}

} // extern "C"
