//===- Canonicalize.h - Steps that bring a function into the form of problems -===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_CANONICALIZE_H
#define QUERN_FUNCTIONS_CANONICALIZE_H

#include "Support/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace quern::functions {

struct Upstream;

/// Replaces numbers among the arguments of a function by memrefs of rank 0; an index becomes i32.
void loadNumbers(mlir::func::FuncOp function);

/// Rewrites operations that have names (softmax, packing, padding, …) as generic ones, fills and insertions, removes
/// loops and dims of size 1, and fuses elementwise operations. Calls defineScalars(). Fails with a diagnostic if
/// upstream's patterns fail.
mlir::LogicalResult decompose(mlir::func::FuncOp function, const Upstream &upstream);

/// On tensors: makes bf16 and f16 accumulators f32, rounded once after the reduction, and i4 accumulators i32, and
/// splits a reduction that computes an extreme and its position into two.
void simplifyReductions(mlir::func::FuncOp function);

/// Makes scalar code, inside and outside of bodies, defined for all operands: divisions and shifts as in StableHLO,
/// saturating conversions of floats to integers. Replaces functions that no target computes by functions that targets
/// compute. Operations must be generic.
void defineScalars(mlir::func::FuncOp function);
/// Makes scalar code on i4 compute in i8, as targets do. A later simplification would undo this.
void computeHalfBytes(mlir::func::FuncOp function);

/// Removes operations on tensors without iterations; their results become the values that they accumulate on.
void foldEmpty(mlir::func::FuncOp function);
/// Returns the numbers of the arguments with elements to which operations without iterations would write.
llvm::SmallVector<unsigned> argumentsOfEmpty(mlir::func::FuncOp function);
/// Removes operations on memrefs without iterations. The arguments in `written` count as updated: each keeps its
/// elements.
void eraseEmpty(mlir::func::FuncOp function, llvm::ArrayRef<unsigned> written);

/// Makes reductions on memrefs start from a neutral number, and combines other starts with their results: a sum that
/// starts from an argument is rounded without it, and again when it is added. Products of matrices accumulate on their
/// output unless `ofProducts`.
void separateStarts(mlir::func::FuncOp function, bool ofProducts);

/// Writes the returned values to additional arguments.
void returnInArguments(mlir::func::FuncOp function);

/// Makes indices in bodies 32-bit numbers if their values fit.
void shortenIndices(mlir::func::FuncOp function);

/// Replaces tables of constants by 1-D memory that is read through linear maps; refuses other uses of tables.
Result<void> flattenTables(mlir::func::FuncOp function);

/// Bufferizes a checked function, the only one of its module, with upstream's passes. Results become additional
/// arguments. Fails with a diagnostic if upstream cannot.
mlir::LogicalResult putOnMemrefs(mlir::func::FuncOp function, Upstream &upstream);

/// Replaces softmax by generic operations.
mlir::LogicalResult decomposeSoftmax(mlir::func::FuncOp function);

/// Gives every value of a function on memrefs its own memory, which is written once: by one operation, or by a fill and
/// the operations that accumulate on it. Final values of arguments remain in them. Returns the use of each argument in
/// the form of MlirDesc::uses; the last `results` arguments are results.
Result<std::string> writeOnce(mlir::func::FuncOp function, unsigned results);

/// Sets fast-math flags for the freedom that linalg gives: the order of a reduction (reassoc) and the rounding of
/// products that are added up (contract). Also marks exponentials whose arguments are never positive.
void setFastMathFlags(mlir::func::FuncOp function);

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_CANONICALIZE_H
