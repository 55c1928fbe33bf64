//===- Function.h - Building a problem's function -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What every emitter needs: the function with one memref argument for each tensor, operands in an iteration space of
// logical dims, and linalg ops on them. Names and order of arguments are the verifier's.
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

/// A memref and how the dims of an iteration space address it.
struct Operand {
  mlir::Value memref;
  mlir::AffineMap map;
};

/// Of one linalg op: emits a body from the inputs' elements and the output's old one (a reduction's
/// accumulator), returns the new one.
using Body =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange inputs, mlir::Value old)>;

/// The memrefs of a problem's function, in the order of its arguments.
llvm::SmallVector<mlir::Type> argumentTypes(const VerifiedProblem &problem, mlir::MLIRContext *context);

/// A call of `function` on what its arguments are named after.
CallAttr callOf(mlir::func::FuncOp function);

class FunctionEmitter {
public:
  /// Appends `@name` to `module` and builds in its body.
  FunctionEmitter(mlir::ModuleOp module, const VerifiedProblem &problem, llvm::StringRef name,
                  llvm::ArrayRef<mlir::Type> argumentTypes);
  void finish();
  void setArgAttribute(size_t position, llvm::StringRef name, mlir::Attribute value) {
    function.setArgAttr(position, name, value);
  }

  mlir::Value argument(size_t position) { return function.getArgument(position); }
  /// By index, one of QUERN_ARG_*; null if the problem has no such argument.
  mlir::Value find(int32_t index);
  const TensorDesc &descOf(int32_t index) const;
  /// A tensor of the problem in this space.
  Operand tensor(int32_t index, llvm::ArrayRef<int64_t> space);
  /// The only element of an argument, in `type`, where the builder stands; null if there is no such argument.
  mlir::Value loadScalar(int32_t index, mlir::FloatType type);
  mlir::Value constant(mlir::FloatType type, double value);

  /// An intermediate at problem size. Runtime extents are those of `like`'s dims, one for each dim of `shape`.
  mlir::Value alloc(llvm::ArrayRef<int64_t> shape, mlir::Type type, mlir::Value like = {},
                    llvm::ArrayRef<unsigned> dimsOfLike = {});
  /// Constants as flat memory, which the module holds as `@<name>`.
  mlir::Value table(llvm::StringRef name, llvm::ArrayRef<float> values);
  /// One linalg op over `space`, with `kinds` for its dims. Operands that only pin extents are added where a dim
  /// shows in no map by itself.
  void generic(llvm::ArrayRef<int64_t> space, llvm::ArrayRef<mlir::utils::IteratorType> kinds,
               llvm::ArrayRef<Operand> inputs, Operand output, Body body);
  /// Likewise with parallel dims alone.
  void elementwise(llvm::ArrayRef<int64_t> space, llvm::ArrayRef<Operand> inputs, Operand output, Body body);

  /// What the operations that follow compute, and what their values are called: their location.
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
