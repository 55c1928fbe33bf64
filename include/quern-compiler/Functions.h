//===- quern-compiler/Functions.h - Functions that can become kernels -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For compilers that leave part of their code to Quern at run time. The functions report what Quern supports, with the
// checks of quern_primitive_desc_create_from_mlir(). libquern-mlir.so, the plugin for mlir-opt, consists of them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_FUNCTIONS_API_H
#define QUERN_COMPILER_FUNCTIONS_API_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <string>
#include <vector>

#ifndef QUERN_COMPILER_EXPORT
#define QUERN_COMPILER_EXPORT __attribute__((visibility("default")))
#endif

namespace quern::compiler {

/// Returns "" if an operation is supported in a function that becomes a kernel, according to its types and body;
/// otherwise the reason in one line with the operation's location.
QUERN_COMPILER_EXPORT std::string whyNotTaken(mlir::Operation *op);

/// Replaces linalg.softmax with generic operations, because on memrefs it has no body to read.
QUERN_COMPILER_EXPORT mlir::LogicalResult decomposeSoftmax(mlir::func::FuncOp function);

/// Returns the bytecode of a module that contains only this function, made public.
QUERN_COMPILER_EXPORT std::string bytecodeOf(mlir::func::FuncOp function);

/// Returns "" if the whole function can become kernels for `target`, otherwise the first reason. Called functions and
/// other symbols are not checked.
QUERN_COMPILER_EXPORT std::string whyNoKernel(mlir::func::FuncOp function, llvm::StringRef target, bool allowNaive);

/// Fields of quern_mlir_function_t for a function that is compiled ahead of time.
struct CompiledFunction {
  std::string line, ///< text form of the problem
          artifact; ///< the kernel, in the form of quern_form_artifact
};
/// Compiles a function ahead of time. Reports to the diagnostic handlers of its context if it is not supported.
QUERN_COMPILER_EXPORT mlir::FailureOr<CompiledFunction> compileAhead(
        mlir::func::FuncOp function, llvm::StringRef target, bool allowNaive);

/// A kernel whose code is in a separate object file.
struct LinkableFunction {
  std::string artifact;             ///< the kernel without its code
  std::string object;               ///< relocatable ELF file without undefined symbols
  std::vector<std::string> entries; ///< symbols of its functions, in the order of the artifact
};
/// Splits a compiled function into kernel and object file. The symbols are those of the artifact with `prefix` before
/// them. Reports to the diagnostic handlers of the function's context on failure.
QUERN_COMPILER_EXPORT mlir::FailureOr<LinkableFunction> makeLinkable(
        mlir::func::FuncOp function, const CompiledFunction &compiled, llvm::StringRef prefix);

/// Writes a static archive of object files, given as pairs of member name and contents. Returns "", or the reason for a
/// failure.
QUERN_COMPILER_EXPORT std::string writeArchive(
        llvm::StringRef path, llvm::ArrayRef<std::pair<std::string, std::string>> objects);

} // namespace quern::compiler

#endif // QUERN_COMPILER_FUNCTIONS_API_H
