//===- Functions.h - From a caller's module to problems ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A function of the caller's comes as bytes, on tensors or memrefs, in whatever form its compiler left it. Here it is
// found, checked, put on memrefs and into the form that emitters write (each intermediate a buffer of its own, written
// once), and cut into problems. Nothing here knows a recipe: whoever calls says what is taken.
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

/// The dialects of callers' modules that no stage has, and what puts tensors on memrefs.
void registerDialects(mlir::DialectRegistry &registry);

/// The only function of a module, `@function`, on memrefs, its operations with their places in the caller's text.
struct ReadFunction {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<TensorDesc> args; ///< as MlirDesc has them
  std::string uses, sizes, numbers;
};

/// How a product of matrices starts: from its output, or from 0, and another operation adds the output's old value.
enum class ProductStarts { InPlace, Separate };

/// Function `name` of a module, "" for the only public one. `invalid_arguments`: the bytes are no module, or have no
/// such function; `unimplemented`: the function is not taken, with the operation and its place. The context has the
/// dialects above, and nothing is diagnosed.
Result<ReadFunction> read(Upstream &upstream, std::string_view bytes, std::string_view name,
                          ProductStarts starts = ProductStarts::InPlace);

/// The text of a function that was read: without places and names, so that equal functions have equal texts.
std::string canonicalText(const ReadFunction &function);
/// The inverse, of a text that may be anything. The stages' dialects are enough.
Result<ReadFunction> readCanonical(mlir::MLIRContext &context, std::string_view text);

/// The tensor of an argument of this type, a static strided memref or a static tensor. `what` is its name for messages.
Result<TensorDesc> describe(mlir::Type type, const std::string &what);

/// Gives argument `i` of a function that was read the open sizes that `desc` has. False if it is not such an argument.
bool fillSizes(mlir::func::FuncOp function, unsigned i, const TensorDesc &desc);
/// Gives the number that argument `i` is a value. False if it is no number.
bool fillNumber(mlir::func::FuncOp function, unsigned i, int64_t value);
/// Makes sizes that follow from those of the arguments numbers.
Result<void> foldSizes(mlir::func::FuncOp function);
/// Has arguments without elements, which nothing uses, look like ones of one element: targets know no others.
void replaceEmpty(mlir::func::FuncOp function);

/// Gives the operations of a function that was read locations that say which they are and what they compute.
void nameSteps(mlir::func::FuncOp function);

/// Adds two arguments for each of those that are written, of f64 and laid out as it: what computeErrors() writes.
void addErrorArguments(mlir::func::FuncOp function, llvm::ArrayRef<unsigned> written);
/// Has a function with these arguments compute, beside each element that it writes, how far arithmetic in the types
/// that the function states may be off, in units of 1 / oracleMargin: what the element inherits, and the variance of a
/// sum's own roundings. The arguments hold 0 where it begins. All sizes are known.
Result<void> computeErrors(mlir::func::FuncOp function, llvm::ArrayRef<unsigned> written);

/// Whether a problem is taken; if not, `whyNot` says why in one line.
using Taker = llvm::function_ref<bool(mlir::func::FuncOp problem, std::string &whyNot)>;

/// Where a problem ends.
struct Cut {
  size_t end = 0;      ///< by its place in the function, behind the problem's last operation; fills count with others
  std::string whyEnds; ///< what follows is not in it; empty: nothing follows
  bool isNaive = false;
};
using Cuts = std::vector<Cut>;

/// Replaces @function by the problems that it is cut into, each as large as `takes` lets it be, and a program that
/// calls them; of one problem there is no program. With `allowNaive` what is not taken is a problem that is lowered
/// naively. `unimplemented` with the operation and its place where something is not taken. `cuts` gets where the
/// problems end; if that is known of an equal function, it is given, and nothing is asked. `whyCut`, if given, gets a
/// line for each problem: its operations, and why what follows is not among them.
Result<void> cut(mlir::ModuleOp module, Taker takes, bool allowNaive, Cuts &cuts, std::string *whyCut = nullptr);

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_FUNCTIONS_H
