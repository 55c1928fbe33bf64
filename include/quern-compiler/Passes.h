//===- quern-compiler/Passes.h - Quern's passes, for embedders ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The stages as MLIR passes, by these names in textual pipelines:
//   quern-schedule{target=T}                 module: linalg problems to vector kernels
//   quern-schedule-map{target=T …}           module: the same with one recipe; the other options change the
//   quern-schedule-contraction{target=T …}   strategy of the target (lib/Schedule/*/Strategy.def)
//   quern-schedule-rows{target=T …}
//   quern-schedule-device-map{target=T …}    the same for devices
//   quern-schedule-device-contraction{target=T …}
//   quern-schedule-device-rows{target=T …}
//   quern-lower{target=T}                    module: kernels to the LLVM dialect
//   quern-expand-math{target=T exp=E}        func: functions of math to arithmetic; E: polynomial|table
//   quern-expand-narrow-floats{target=T}     func: bf16 and f16 to i16 and conversions
//   quern-expand-saturation{target=T}        func: floats to the nearest integer of a range
//   quern-expand-byte-sums{target=T}         func: sums of four adjacent bytes to byte instructions
//   quern-expand-dots{target=T}              func: products of values packed in 32-bit lanes to one instruction
//   quern-pair-elements                      module: problems that process both half bytes of a byte at once
//   quern-unpack-elements                    module: problems on half bytes stored in whole bytes of shared
//                                            memory
//   quern-bind-shared-buffers                module: buffers that kernels share to views of one argument
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

/// Registers these passes in the global registry of MLIR. Idempotent and thread-safe.
QUERN_COMPILER_EXPORT void registerPasses();

/// Creates the pass quern-schedule.
QUERN_COMPILER_EXPORT std::unique_ptr<mlir::Pass> createSchedulePass(llvm::StringRef target = "native");
/// Creates the pass quern-lower.
QUERN_COMPILER_EXPORT std::unique_ptr<mlir::Pass> createLowerPass(llvm::StringRef target = "native");

} // namespace quern::compiler

#endif // QUERN_COMPILER_PASSES_H
