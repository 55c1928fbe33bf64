//===- Emit.cpp - Softmax forward as linalg -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One op per step: maximum, exponential (or shift), sum, inverse (or logarithm), result. Computes in f32, or in f64 if either side is f64.
// NaN and +inf: maxnumf skips NaN and x - inf is NaN or 0, so that both reach the row through the exponentials and their sum. A row of
// only -inf is NaN (-inf - -inf) unless the algorithm is accurate_inf_as_zero, which replaces its maximum and its inverse by 0.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

#include <limits>

using namespace mlir;
using namespace quern;

namespace {

FloatType typeOf(DataType type, Builder &builder) {
  switch (type) {
  case DataType::F64:
    return builder.getF64Type();
  case DataType::BF16:
    return builder.getBF16Type();
  case DataType::F16:
    return builder.getF16Type();
  default:
    return builder.getF32Type();
  }
}

/// The whole buffer's view: dense row-major memrefs carry no layout.
MemRefType memrefOf(const TensorDesc &desc, Builder &builder) {
  Type element = typeOf(desc.dataType, builder);
  auto dense = MemRefType::get(desc.shape(), element);
  auto [denseStrides, denseOffset] = dense.getStridesAndOffset();
  if (desc.offset0 == denseOffset && llvm::equal(desc.outerStrides(), denseStrides))
    return dense;
  auto layout = StridedLayoutAttr::get(builder.getContext(), desc.offset0, desc.outerStrides());
  return MemRefType::get(desc.shape(), element, layout);
}

class SoftmaxEmitter {
public:
  SoftmaxEmitter(ModuleOp module, const VerifiedProblem &problem)
      : problem(problem), desc(std::get<SoftmaxDesc>(problem.desc.op)), builder(module.getContext()), loc(module.getLoc()), module(module) {
    bool wide = desc.src.dataType == DataType::F64 || desc.dst.dataType == DataType::F64;
    compute = wide ? builder.getF64Type() : builder.getF32Type();
  }
  func::FuncOp emit();

private:
  using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;

  void makeFunction();
  void makeSpaces();
  void emitAccurate(Value max);
  void emitLog(Value max);
  Value emitMax();
  Value emitSum(Value terms, bool exponentiate);
  Value constant(double value) { return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(compute, value)); }
  Value alloc(ArrayRef<int64_t> shape) { return memref::AllocOp::create(builder, loc, MemRefType::get(shape, compute)); }
  /// An op over the whole space, where operands of lower rank are per row and such an output is reduced; or over the rows only.
  void generic(ValueRange inputs, Value output, Body body, bool perRow = false);
  Value extended(OpBuilder &b, Location at, Value x);
  Value truncated(OpBuilder &b, Location at, Value y);

  const VerifiedProblem &problem;
  const SoftmaxDesc &desc;
  OpBuilder builder;
  Location loc;
  ModuleOp module;
  FloatType compute;
  func::FuncOp function;
  Value src, dst;
  SmallVector<int64_t> rowShape; // the space without the axis
  AffineMap fullMap, perRowMap, rowMap;
};

Value SoftmaxEmitter::extended(OpBuilder &b, Location at, Value x) {
  return x.getType() == compute ? x : arith::ExtFOp::create(b, at, compute, x).getResult();
}

Value SoftmaxEmitter::truncated(OpBuilder &b, Location at, Value y) {
  Type element = cast<MemRefType>(dst.getType()).getElementType();
  return element == compute ? y : arith::TruncFOp::create(b, at, element, y).getResult();
}

void SoftmaxEmitter::makeFunction() {
  SmallVector<Type> types;
  for (const ArgumentInfo &argument : problem.arguments)
    types.push_back(memrefOf(argument.desc, builder));
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, loc, "softmax", builder.getFunctionType(types, {}));
  for (auto [i, argument] : llvm::enumerate(problem.arguments))
    function.setArgAttr(i, "quern.arg", builder.getStringAttr(argument.name));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  for (auto [i, argument] : llvm::enumerate(problem.arguments))
    (argument.isOutput ? dst : src) = function.getArgument(i);
}

void SoftmaxEmitter::makeSpaces() {
  unsigned rank = desc.src.ndims, axis = desc.axis;
  SmallVector<AffineExpr> rowDims;
  for (unsigned d = 0; d < rank; ++d) {
    if (d == axis)
      continue;
    rowShape.push_back(desc.src.dims[d]);
    rowDims.push_back(builder.getAffineDimExpr(d));
  }
  fullMap = builder.getMultiDimIdentityMap(rank);
  perRowMap = AffineMap::get(rank, 0, rowDims, builder.getContext());
  rowMap = builder.getMultiDimIdentityMap(rank - 1);
}

void SoftmaxEmitter::generic(ValueRange inputs, Value output, Body body, bool perRow) {
  unsigned rank = desc.src.ndims;
  auto rankOf = [](Value v) { return cast<MemRefType>(v.getType()).getRank(); };
  SmallVector<AffineMap> maps;
  for (Value operand : inputs)
    maps.push_back(perRow ? rowMap : rankOf(operand) == rank ? fullMap : perRowMap);
  maps.push_back(perRow ? rowMap : rankOf(output) == rank ? fullMap : perRowMap);
  SmallVector<utils::IteratorType> kinds(perRow ? rank - 1 : rank, utils::IteratorType::parallel);
  if (!perRow && rankOf(output) != rank)
    kinds[desc.axis] = utils::IteratorType::reduction;
  linalg::GenericOp::create(builder, loc, inputs, ValueRange{output}, maps, kinds, [&](OpBuilder &b, Location at, ValueRange args) {
    linalg::YieldOp::create(b, at, ValueRange{body(b, at, args)});
  });
}

Value SoftmaxEmitter::emitMax() {
  Value lowest = constant(-std::numeric_limits<double>::infinity());
  Value max = alloc(rowShape);
  linalg::FillOp::create(builder, loc, lowest, max);
  generic(src, max, [&](OpBuilder &b, Location at, ValueRange args) -> Value {
    return arith::MaxNumFOp::create(b, at, extended(b, at, args[0]), args[1]);
  });
  if (desc.alg != Alg::SoftmaxAccurateInfAsZero)
    return max;
  Value zero = constant(0);
  Value finite = alloc(rowShape);
  generic(
      max, finite,
      [&](OpBuilder &b, Location at, ValueRange args) -> Value {
        Value empty = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ, args[0], lowest);
        return arith::SelectOp::create(b, at, empty, zero, args[0]);
      },
      /*perRow=*/true);
  return finite;
}

/// The argument of exp is x - max, never above 0: the licence lets its expansion drop the upper clamp.
Value emitExp(OpBuilder &b, Location at, Value shifted) {
  auto exp = math::ExpOp::create(b, at, shifted);
  exp->setAttr("quern.nonpositive", b.getUnitAttr());
  return exp;
}

Value SoftmaxEmitter::emitSum(Value terms, bool exponentiate) {
  Value zero = constant(0);
  Value sum = alloc(rowShape);
  linalg::FillOp::create(builder, loc, zero, sum);
  generic(terms, sum, [&](OpBuilder &b, Location at, ValueRange args) -> Value {
    Value term = exponentiate ? emitExp(b, at, args[0]) : args[0];
    return arith::AddFOp::create(b, at, term, args[1], arith::FastMathFlags::reassoc);
  });
  return sum;
}

void SoftmaxEmitter::emitAccurate(Value max) {
  Value exp = alloc(desc.src.shape());
  generic({src, max}, exp, [&](OpBuilder &b, Location at, ValueRange args) -> Value {
    return emitExp(b, at, arith::SubFOp::create(b, at, extended(b, at, args[0]), args[1]));
  });
  Value sum = emitSum(exp, /*exponentiate=*/false);
  bool emptyIsZero = desc.alg == Alg::SoftmaxAccurateInfAsZero;
  Value one = constant(1), zero = emptyIsZero ? constant(0) : Value();
  Value inverse = alloc(rowShape);
  generic(
      sum, inverse,
      [&](OpBuilder &b, Location at, ValueRange args) -> Value {
        Value quotient = arith::DivFOp::create(b, at, one, args[0]);
        if (!emptyIsZero)
          return quotient;
        Value empty = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ, args[0], zero);
        return arith::SelectOp::create(b, at, empty, zero, quotient);
      },
      /*perRow=*/true);
  generic({exp, inverse}, dst, [&](OpBuilder &b, Location at, ValueRange args) -> Value {
    return truncated(b, at, arith::MulFOp::create(b, at, args[0], args[1]));
  });
}

void SoftmaxEmitter::emitLog(Value max) {
  Value shifted = alloc(desc.src.shape());
  generic({src, max}, shifted, [&](OpBuilder &b, Location at, ValueRange args) -> Value {
    return arith::SubFOp::create(b, at, extended(b, at, args[0]), args[1]);
  });
  Value sum = emitSum(shifted, /*exponentiate=*/true);
  Value log = alloc(rowShape);
  generic(
      sum, log, [&](OpBuilder &b, Location at, ValueRange args) -> Value { return math::LogOp::create(b, at, args[0]); }, /*perRow=*/true);
  generic({shifted, log}, dst, [&](OpBuilder &b, Location at, ValueRange args) -> Value {
    return truncated(b, at, arith::SubFOp::create(b, at, args[0], args[1]));
  });
}

func::FuncOp SoftmaxEmitter::emit() {
  makeFunction();
  makeSpaces();
  Value max = emitMax();
  if (desc.alg == Alg::SoftmaxLog)
    emitLog(max);
  else
    emitAccurate(max);
  func::ReturnOp::create(builder, loc);
  return function;
}

} // namespace

FailureOr<func::FuncOp> quern::emitSoftmax(ModuleOp module, const VerifiedProblem &problem) {
  return SoftmaxEmitter(module, problem).emit();
}
