//===- quern-compiler/Compiler.h - The stages, for embedders in MLIR ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For programs that work in MLIR themselves: run any stage on a module of their own context, look at the result, go on
// from there. Link Quern::compiler. Targets are texts as QUERN_MAX_CPU_ISA takes them ("avx2", "avx512_core_bf16",
// "native") or of devices ("spirv64:sg=16,f16"). Every function reports to the context's diagnostic handlers and is as
// thread-safe as the context that it is given: one thread at a time.
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

/// `emit`: the problem of a one-line descriptor as linalg on memrefs. Null, with a diagnostic, for a line that does not
/// parse, a problem that is refused or one without elements.
QUERN_COMPILER_EXPORT mlir::OwningOpRef<mlir::ModuleOp> emit(
        mlir::MLIRContext &context, llvm::StringRef line, llvm::StringRef target);

/// `schedule`: replaces each problem (func.func on strided memrefs, linalg inside) by kernels that run one after the
/// other, in order: `@<name>_kernel(buffers…, [shared], [scratch], [sizes], begin, end)`, numbered if there are
/// several, of scf and vector, with a `quern.kernel` each.
QUERN_COMPILER_EXPORT mlir::LogicalResult schedule(mlir::ModuleOp module, llvm::StringRef target);

/// `lower`: kernels to the LLVM dialect, exported with the ABI of quern/kernel_abi.h.
QUERN_COMPILER_EXPORT mlir::LogicalResult lower(mlir::ModuleOp module, llvm::StringRef target);

enum class CodeForm { LlvmIr, Assembly, Object };

/// `codegen`: a lowered module as text or as a position-independent ELF object without undefined symbols; for a device
/// a SPIR-V module in its place, and its text for assembly.
QUERN_COMPILER_EXPORT mlir::FailureOr<std::string> codegen(
        mlir::ModuleOp module, llvm::StringRef target, CodeForm form);

/// `load`: code in this process, unmapped when the object is destroyed.
class QUERN_COMPILER_EXPORT LoadedKernel {
public:
  LoadedKernel();
  LoadedKernel(LoadedKernel &&) noexcept;
  LoadedKernel &operator=(LoadedKernel &&) noexcept;
  ~LoadedKernel();
  /// The quern_kernel_fn of the symbol at this place.
  void *entry(size_t i = 0) const { return addresses[i]; }

private:
  friend QUERN_COMPILER_EXPORT mlir::FailureOr<LoadedKernel> load(
          mlir::ModuleOp, llvm::StringRef, llvm::ArrayRef<llvm::StringRef>);
  struct Code;
  std::unique_ptr<Code> code;
  std::vector<void *> addresses;
};

/// Generates code for `target` from a lowered module, links it and finds each of `symbols`. The machine must have
/// the target's instructions.
QUERN_COMPILER_EXPORT mlir::FailureOr<LoadedKernel> load(
        mlir::ModuleOp module, llvm::StringRef target, llvm::ArrayRef<llvm::StringRef> symbols);

} // namespace quern::compiler

#endif // QUERN_COMPILER_COMPILER_API_H
