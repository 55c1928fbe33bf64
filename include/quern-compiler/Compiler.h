//===- quern-compiler/Compiler.h - The stages, for embedders in MLIR ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For programs that use MLIR themselves: they can run each stage on a module in their context, inspect the result and
// continue with the next stage. Link Quern::compiler. A target is an instruction set as in QUERN_MAX_CPU_ISA ("avx2",
// "avx512_core_bf16", "native") or a device ("spirv64:sg=16,f16"). Functions report errors to the diagnostic handlers
// of the context. Like the context, they may be used by one thread at a time.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_COMPILER_API_H
#define QUERN_COMPILER_COMPILER_API_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#ifndef QUERN_COMPILER_EXPORT
#define QUERN_COMPILER_EXPORT __attribute__((visibility("default")))
#endif

namespace quern::compiler {

/// Adds every dialect that the stages read or write, and the interfaces that code generation needs.
QUERN_COMPILER_EXPORT void registerDialects(mlir::DialectRegistry &registry);

/// Stage `emit`: returns the problem of a text form as linalg on memrefs. Returns null, with a diagnostic, if the line
/// does not parse, the problem is not supported or a tensor is empty.
QUERN_COMPILER_EXPORT mlir::OwningOpRef<mlir::ModuleOp> emit(
        mlir::MLIRContext &context, llvm::StringRef line, llvm::StringRef target);

/// Stage `schedule`: replaces each problem (a func.func on strided memrefs that contains linalg) with kernels in scf
/// and vector that run one after another: `@<name>_kernel(buffers…, [shared], [scratch], [sizes], begin, end)`,
/// numbered if there are several. Each has an attribute `quern.kernel`.
QUERN_COMPILER_EXPORT mlir::LogicalResult schedule(mlir::ModuleOp module, llvm::StringRef target);

/// Stage `lower`: converts kernels to the LLVM dialect with the ABI of quern/kernel_abi.h.
QUERN_COMPILER_EXPORT mlir::LogicalResult lower(mlir::ModuleOp module, llvm::StringRef target);

/// Forms of generated code.
enum class CodeForm { LlvmIr, Assembly, Object };

/// Stage `codegen`: returns a lowered module as text or as a position-independent ELF object without undefined symbols.
/// For a device, the object is a SPIR-V module and the assembly is its text.
QUERN_COMPILER_EXPORT mlir::FailureOr<std::string> codegen(
        mlir::ModuleOp module, llvm::StringRef target, CodeForm form);

/// Result of the stage `load`: code in this process, unmapped when the object is destroyed.
class QUERN_COMPILER_EXPORT LoadedKernel {
public:
  /// Creates an object without code.
  LoadedKernel();
  /// Moves the code.
  LoadedKernel(LoadedKernel &&) noexcept;
  /// Moves the code and unmaps the present one.
  LoadedKernel &operator=(LoadedKernel &&) noexcept;
  /// Unmaps the code.
  ~LoadedKernel();
  /// Returns the quern_kernel_fn of symbol `i` of load().
  void *entry(size_t i = 0) const { return addresses[i]; }

private:
  friend QUERN_COMPILER_EXPORT mlir::FailureOr<LoadedKernel> load(
          mlir::ModuleOp, llvm::StringRef, llvm::ArrayRef<llvm::StringRef>);
  struct Code;
  std::unique_ptr<Code> code;
  std::vector<void *> addresses;
};

/// Stage `load`: generates code for `target` from a lowered module, links it and looks up each of `symbols`. The
/// machine must have the instructions of the target.
QUERN_COMPILER_EXPORT mlir::FailureOr<LoadedKernel> load(
        mlir::ModuleOp module, llvm::StringRef target, llvm::ArrayRef<llvm::StringRef> symbols);

} // namespace quern::compiler

#endif // QUERN_COMPILER_COMPILER_API_H
