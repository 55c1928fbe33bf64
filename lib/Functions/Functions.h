//===- Functions.h - Splitting a caller's function into problems ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A caller's function arrives as bytes, on tensors or memrefs, in any form that its compiler produced. These functions
// find and check it, bufferize it, bring it into the form of emitters (each intermediate is a separate buffer, written
// once), and split it into problems. They do not depend on recipes: the caller passes a function that decides which
// problems are supported.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_FUNCTIONS_H
#define QUERN_FUNCTIONS_FUNCTIONS_H

#include "Desc/Mlir.h"
#include "Support/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <string_view>

namespace quern::functions {

struct Upstream;

/// Registers the dialects of callers' modules that no stage uses, and the interfaces of bufferization.
void registerDialects(mlir::DialectRegistry &registry);

/// A module whose only function is `@function`, on memrefs. Its operations have their locations in the caller's text.
struct ReadFunction {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<TensorDesc> args; ///< like MlirDesc::args
  std::string uses, sizes, numbers;
};

/// Start of a product of matrices: its output, or 0; a separate operation then adds the output's old value.
enum class ProductStarts { InPlace, Separate };

/// Reads function `name` of a module, "" for the only public function. Fails with `invalid_arguments` if the bytes are
/// not a module or do not have the function, and with `unimplemented`, the operation and its location if the function
/// is not supported. The context must have the dialects above. Emits no diagnostics.
Result<ReadFunction> read(Upstream &upstream, std::string_view bytes, std::string_view name,
                          ProductStarts starts = ProductStarts::InPlace);

/// Returns the text of a function that was read, without locations and names, so that equal functions have equal texts.
std::string canonicalText(const ReadFunction &function);
/// Inverse of canonicalText(). The text may be arbitrary and is checked. The dialects of the stages suffice.
Result<ReadFunction> readCanonical(mlir::MLIRContext &context, std::string_view text);

/// Returns the descriptor of an argument of this type, a strided memref or a tensor; dynamic sizes are runtimeDim.
/// `what` is its name for messages.
Result<TensorDesc> describe(mlir::Type type, const std::string &what);

/// Sets the open dims, strides and offset of argument `i` of a function that was read to those of `desc`. Returns false
/// if `desc` does not match, or if the argument has rank 0.
bool fillSizes(mlir::func::FuncOp function, unsigned i, const TensorDesc &desc);
/// Sets the number that argument `i` represents. Returns false if it is not a number.
bool fillNumber(mlir::func::FuncOp function, unsigned i, int64_t value);
/// Replaces sizes that follow from the sizes of the arguments by numbers.
Result<void> foldSizes(mlir::func::FuncOp function);
/// Gives unused arguments without elements a type with one element, because targets need at least one.
void replaceEmpty(mlir::func::FuncOp function);

/// Sets the locations of operations of a function that was read to their number and the operations of their bodies.
void nameSteps(mlir::func::FuncOp function);

/// Adds two f64 arguments, of the same layout, for each written argument; computeErrors() writes them.
void addErrorArguments(mlir::func::FuncOp function, llvm::ArrayRef<unsigned> written);
/// Makes a function with these arguments also compute, for each element that it writes, the error of arithmetic in the
/// types of the function, divided by oracleMargin: the error inherited from inputs, and the variance of a sum's
/// roundings. The arguments must be 0 initially, and all sizes must be known.
Result<void> computeErrors(mlir::func::FuncOp function, llvm::ArrayRef<unsigned> written);

/// Returns whether a problem is supported; if not, sets `whyNot` to a one-line reason.
using SupportCheck = llvm::function_ref<bool(mlir::func::FuncOp problem, std::string &whyNot)>;

/// Replaces @function by the problems that it is split into, each as large as `supports` permits, and a program that
/// calls them; a single problem has a program only if a launch needs more than the descriptors of the arguments, or if
/// it writes a view of half bytes. With `allowNaive`, and if no size is open, a step that is not supported becomes a
/// problem that is lowered naively; otherwise it fails with `unimplemented`, the operation and its location. `text`
/// receives a line for each problem: its number of operations, and why the next one is not included.
Result<void> partition(mlir::ModuleOp module, SupportCheck supports, bool allowNaive, std::string &text);
/// Returns the error of partition(), if any, and keeps the module.
Result<void> checkPartition(mlir::ModuleOp module, SupportCheck supports, bool allowNaive);

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_FUNCTIONS_H
