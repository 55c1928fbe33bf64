//===- Forms.h - A caller's function in the form of problems -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_FORMS_H
#define QUERN_FUNCTIONS_FORMS_H

#include "Support/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace quern::functions {

struct Upstream;

/// Numbers among the arguments of a function become memrefs without dims, an index one of i32.
void loadNumbers(mlir::func::FuncOp function);

/// Operations for which compilers have names as generic ones, fills and insertions, those behind others included. Loops
/// and dims of one index go. Diagnoses what upstream does not do.
mlir::LogicalResult decompose(mlir::func::FuncOp function, const Upstream &upstream);

/// Of reductions on tensors: accumulators of bf16 and f16 become ones of f32, rounded once behind, and an extreme that
/// is had with its place two reductions.
void simplifyReductions(mlir::func::FuncOp function);

/// Gives scalar code, inside and outside of bodies, a value for all operands: StableHLO's for divisions and shifts;
/// conversions of floats to integers saturate. Functions that no target computes become those that targets compute.
/// Operations are generic.
void defineScalars(mlir::func::FuncOp function);
/// Has scalar code on i4 compute in i8, as targets do. Simplifying it afterwards would undo that.
void computeHalfBytes(mlir::func::FuncOp function);

/// Operations on tensors without iterations go; their results are what they accumulate on.
void foldEmpty(mlir::func::FuncOp function);
/// The arguments with elements that operations without iterations write.
llvm::SmallVector<unsigned> argumentsOfEmpty(mlir::func::FuncOp function);
/// Operations on memrefs without iterations go. The arguments in `written` count as updated: each keeps its elements.
void eraseEmpty(mlir::func::FuncOp function, llvm::ArrayRef<unsigned> written);

/// Reductions on memrefs start from a neutral number, and what else they started from is combined with their results:
/// a sum that starts from an argument is rounded as the sum alone, and once more when the argument is added. Products
/// of matrices accumulate on what there is unless `ofProducts`.
void separateStarts(mlir::func::FuncOp function, bool ofProducts);

/// What is returned is written into arguments behind a function's own.
void returnInArguments(mlir::func::FuncOp function);

/// Indices in bodies as numbers of 32 bits, where these are enough.
void shortenIndices(mlir::func::FuncOp function);

/// Tables of constants as flat memory, read by linear maps; refuses what takes them otherwise.
Result<void> flattenTables(mlir::func::FuncOp function);

/// Puts a function that was checked, and that its module alone has, on memrefs, by upstream's passes: results become
/// arguments behind its own. Named operations become generic, but for fills. Diagnoses what upstream does not do.
mlir::LogicalResult putOnMemrefs(mlir::func::FuncOp function, Upstream &upstream);

/// Softmax as the generic operations that it stands for.
mlir::LogicalResult decomposeSoftmax(mlir::func::FuncOp function);

/// Gives every value of a function on memrefs memory of its own, which is written once, by a fill and what accumulates
/// on it or by one operation; what an argument holds at the end stays there. Returns the use of each argument, as
/// MlirDesc has it; the last `results` are results.
Result<std::string> writeOnce(mlir::func::FuncOp function, unsigned results);

/// Linalg leaves the order of a reduction open, and who multiplies for a sum the rounding of the product: both are
/// written where recipes read them, as fast-math flags.
void grantLicences(mlir::func::FuncOp function);

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_FORMS_H
