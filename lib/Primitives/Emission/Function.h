//===- Function.h - Builder of a problem's function -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Builds a function with one memref argument per tensor, the operands in an iteration space of logical dims, and linalg
// ops on them. The verifier determines the names and the order of the arguments.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_FUNCTION_H
#define QUERN_PRIMITIVES_EMISSION_FUNCTION_H

#include "IR/QuernDialect.h"
#include "Primitives/Registry.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace quern::emission {

/// A memref and the map from an iteration space to its dims.
struct Operand {
  mlir::Value memref;
  mlir::AffineMap map;
};

/// Emits the body of one linalg op: receives the inputs' elements and the output's old element (the accumulator of a
/// reduction) and returns the new one.
using Body =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange inputs, mlir::Value old)>;

/// Returns the memref types of a problem's function, in the order of its arguments.
llvm::SmallVector<mlir::Type> argumentTypes(const VerifiedProblem &problem, mlir::MLIRContext *context);

/// Returns a call of `function` that passes to each argument the buffer of the same name.
CallAttr callOf(mlir::func::FuncOp function);

class FunctionEmitter {
public:
  /// Appends `@name` to `module`; the builder then inserts into its body.
  FunctionEmitter(mlir::ModuleOp module, const VerifiedProblem &problem, llvm::StringRef name,
                  llvm::ArrayRef<mlir::Type> argumentTypes);
  void finish();
  void setArgAttribute(size_t position, llvm::StringRef name, mlir::Attribute value) {
    function.setArgAttr(position, name, value);
  }

  mlir::Value argument(size_t position) { return function.getArgument(position); }
  /// Returns the argument with this index, one of QUERN_ARG_*; null if the problem has none.
  mlir::Value find(int32_t index);
  const TensorDesc &descOf(int32_t index) const;
  /// Returns a tensor of the problem as an operand in `space`.
  Operand tensor(int32_t index, llvm::ArrayRef<int64_t> space);
  /// Loads the only element of an argument, converted to `type`, at the insertion point; null if there is no such
  /// argument.
  mlir::Value loadScalar(int32_t index, mlir::FloatType type);
  mlir::Value constant(mlir::FloatType type, double value);

  /// Allocates an intermediate of this shape and element type. Open extents of `shape` are taken from the dims
  /// `dimsOfLike` of `like`, one for each dim of `shape`.
  mlir::Value alloc(llvm::ArrayRef<int64_t> shape, mlir::Type type, mlir::Value like = {},
                    llvm::ArrayRef<unsigned> dimsOfLike = {});
  /// Returns constants as a 1-D memref, a global `@<name>` of the module.
  mlir::Value table(llvm::StringRef name, llvm::ArrayRef<float> values);
  /// Emits one linalg op over `space` with iterator types `kinds`. If a dim appears in no map as a plain result, an
  /// operand that only fixes its extent is added.
  void generic(llvm::ArrayRef<int64_t> space, llvm::ArrayRef<mlir::utils::IteratorType> kinds,
               llvm::ArrayRef<Operand> inputs, Operand output, Body body);
  /// Like generic(), but all dims are parallel.
  void elementwise(llvm::ArrayRef<int64_t> space, llvm::ArrayRef<Operand> inputs, Operand output, Body body);

  /// Sets the location of the following operations: a description, and the name of their values.
  void step(llvm::StringRef name, const llvm::Twine &what);

  mlir::OpBuilder builder;
  mlir::Location loc;
  const VerifiedProblem &problem;

private:
  const ArgumentInfo *infoOf(int32_t index) const;
  std::optional<Operand> pinOf(llvm::ArrayRef<int64_t> space, llvm::ArrayRef<mlir::AffineMap> maps);

  mlir::func::FuncOp function;
  mlir::Value zeroIndex;
  llvm::SmallVector<Operand, 2> pins;
};

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_FUNCTION_H
