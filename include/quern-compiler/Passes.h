//===- quern-compiler/Passes.h - Quern's passes, for embedders ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The stages as MLIR passes, by these names in textual pipelines:
//   quern-schedule{target=T}                 module: linalg problems to vector kernels
//   quern-schedule-map{target=T …}           module: likewise by one recipe; the other options change the
//   quern-schedule-contraction{target=T …}   target's strategy (lib/Schedule/*/Strategy.def)
//   quern-schedule-rows{target=T …}
//   quern-schedule-device-map{target=T …}    and for devices
//   quern-schedule-device-contraction{target=T …}
//   quern-schedule-device-rows{target=T …}
//   quern-lower{target=T}                    module: kernels to the LLVM dialect
//   quern-expand-math{isa=I exp=E}           func: exp and log to arithmetic; I: sse42|avx2|avx512, E: polynomial|table
//   quern-expand-narrow-floats{isa=I}        func: bf16 and f16 to i16 and conversions
//   quern-expand-saturation{isa=I}           func: floats to the nearest integer of a range; I from here on
//                                            also avx512_vnni|avx512_bf16
//   quern-expand-byte-sums{isa=I}            func: sums of four neighbouring bytes by instructions on bytes
//   quern-expand-dots{isa=I}                 func: products of what is packed in 32-bit lanes by one instruction
//   quern-pair-elements                      module: problems that compute both half bytes of a byte in one iteration
//   quern-unpack-elements                    module: problems on half bytes that lie in whole bytes of shared memory
//   quern-bind-shared-buffers                module: what kernels share as views of one argument
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_PASSES_H
#define QUERN_COMPILER_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

#ifndef QUERN_COMPILER_EXPORT
#define QUERN_COMPILER_EXPORT __attribute__((visibility("default")))
#endif

namespace quern::compiler {

/// Registers the passes above with MLIR's global registry. Idempotent and thread-safe.
QUERN_COMPILER_EXPORT void registerPasses();

QUERN_COMPILER_EXPORT std::unique_ptr<mlir::Pass> createSchedulePass(llvm::StringRef target = "native");
QUERN_COMPILER_EXPORT std::unique_ptr<mlir::Pass> createLowerPass(llvm::StringRef target = "native");

} // namespace quern::compiler

#endif // QUERN_COMPILER_PASSES_H
