//===- quern-compiler/Functions.h - What of a module becomes kernels ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For compilers that give some of their code to Quern at run time: what it takes, asked of the checks that
// quern_primitive_desc_create_from_mlir() makes. libquern-mlir.so, the plugin for mlir-opt, is made of these functions.
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

/// "" if an operation may stand in a function that becomes a kernel, as far as types and bodies tell; else why not, in
/// one line with the operation's place.
QUERN_COMPILER_EXPORT std::string whyNotTaken(mlir::Operation *op);

/// Softmax as the generic operations that it stands for, since on memrefs it has no body to read.
QUERN_COMPILER_EXPORT mlir::LogicalResult decomposeSoftmax(mlir::func::FuncOp function);

/// The bytecode of a module that has this function alone, public, by its name.
QUERN_COMPILER_EXPORT std::string bytecodeOf(mlir::func::FuncOp function);

/// "" if all of a function becomes kernels for `target`, else the first reason. Nothing it leads to outside is asked.
QUERN_COMPILER_EXPORT std::string whyNoKernel(mlir::func::FuncOp function, llvm::StringRef target, bool allowNaive);

/// What quern_mlir_function_t has of a function that is compiled ahead.
struct CompiledFunction {
  std::string line, artifact;
};
/// Reports to the function's context where it is refused.
QUERN_COMPILER_EXPORT mlir::FailureOr<CompiledFunction> compileAhead(
        mlir::func::FuncOp function, llvm::StringRef target, bool allowNaive);

/// A kernel whose code lies in an object file of its own.
struct LinkableFunction {
  std::string artifact;             ///< without code
  std::string object;               ///< ELF, relocatable, which refers to nothing outside
  std::vector<std::string> entries; ///< the symbols of its functions, in the order of the artifact's
};
/// Takes what was compiled ahead apart. The symbols are the artifact's behind `prefix`. Reports to the function's
/// context where that is not possible.
QUERN_COMPILER_EXPORT mlir::FailureOr<LinkableFunction> makeLinkable(
        mlir::func::FuncOp function, const CompiledFunction &compiled, llvm::StringRef prefix);

/// Writes a static archive of such objects, by the names of their members; "" or why it cannot be written.
QUERN_COMPILER_EXPORT std::string writeArchive(
        llvm::StringRef path, llvm::ArrayRef<std::pair<std::string, std::string>> objects);

} // namespace quern::compiler

#endif // QUERN_COMPILER_FUNCTIONS_API_H
