//===- Check.cpp - What of a caller's function is taken ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One walk in front of everything else, so that what comes behind meets nothing that it was not written for.
//
//===----------------------------------------------------------------------===//
#include "Functions/Check.h"

#include "Functions/Functions.h"
#include "Functions/Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

/// Beyond these a function is not looked at: cutting takes time that grows with the square of its operations.
constexpr size_t maxOperations = 512, maxArguments = 256;

std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

DataType dataTypeOf(Type element) {
  if (element.isF32())
    return DataType::F32;
  if (element.isF64())
    return DataType::F64;
  if (element.isF16())
    return DataType::F16;
  if (element.isBF16())
    return DataType::BF16;
  if (element.isSignlessInteger(8))
    return DataType::S8;
  return element.isSignlessInteger(32) ? DataType::S32 : DataType::Undef;
}

/// Why a type of a value is not taken, or nothing.
std::string whyNotTaken(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return type.isIntOrIndexOrFloat() ? "" : "is neither a number, a tensor nor a memref";
  if (!isa<RankedTensorType, MemRefType>(type))
    return "is not a ranked tensor or memref";
  if (!shaped.hasStaticShape())
    return "has sizes that only an execution knows";
  if (shaped.getNumElements() == 0)
    return "has no elements";
  if (shaped.getRank() > maxDims)
    return concat("has ", shaped.getRank(), " dims; at most ", int(maxDims), " are possible");
  if (dataTypeOf(shaped.getElementType()) == DataType::Undef)
    return "has elements other than f32, f64, f16, bf16, i32 and i8";
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getEncoding() ? "has an encoding" : "";
  auto memref = cast<MemRefType>(type);
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(memref.getStridesAndOffset(strides, offset)))
    return "is not a strided memref";
  if (ShapedType::isDynamic(offset) || llvm::any_of(strides, ShapedType::isDynamic))
    return "has strides or an offset that only an execution knows";
  if (offset < 0 || llvm::any_of(strides, [](int64_t stride) { return stride < 0; }))
    return "has a negative stride or offset";
  return memref.getMemorySpace() ? "is in a memory space" : "";
}

/// What some target has an instruction or an expansion for (Transforms/Math), or Bufferize.cpp writes otherwise.
bool isComputed(Operation &op) {
  return !isa<math::MathDialect>(op.getDialect()) ||
         isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::ErfOp, math::ErfcOp, math::Exp2Op,
             math::ExpM1Op, math::ExpOp, math::FloorOp, math::FmaOp, math::Log1pOp, math::Log2Op, math::LogOp,
             math::PowFOp, math::RoundEvenOp, math::RsqrtOp, math::SqrtOp, math::TanhOp, math::TruncOp>(op);
}

Result<void> checkBody(linalg::LinalgOp op) {
  for (Operation &inner : op.getBlock()->getOperations()) {
    const bool isScalarCode = isa<arith::ArithDialect, math::MathDialect>(inner.getDialect());
    if ((!isScalarCode && !isa<linalg::YieldOp, linalg::IndexOp>(inner)) || inner.getNumRegions())
      return notTaken(&inner, "is not taken in the body of an operation; arith, math and linalg.index are");
    if (!isComputed(inner))
      return notTaken(&inner, "is not taken: no target computes it");
    for (Type type : inner.getResultTypes())
      if (!type.isIntOrIndexOrFloat())
        return notTaken(&inner, "gives ", textOf(type), " in the body of an operation; numbers are taken");
  }
  return {};
}

/// Where an operation on memrefs writes.
Result<void> checkWritten(linalg::LinalgOp op) {
  llvm::SmallDenseSet<Value> roots;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    if (!op.getMatchingIndexingMap(&init).isProjectedPermutation())
      return notTaken(op, "writes through a map that is not a permutation of its loops");
    if (!isa<MemRefType>(init.get().getType()))
      continue;
    Value memref = init.get();
    for (Operation *view = memref.getDefiningOp(); view && !isa<memref::AllocOp>(view);
         view = view->getOperand(0).getDefiningOp())
      if (isa<memref::SubViewOp>(view))
        return notTaken(op, "writes a part of a buffer");
    if (!roots.insert(rootOf(memref)).second)
      return notTaken(op, "writes one buffer twice");
  }
  return {};
}

Result<void> checkLinalg(linalg::LinalgOp op) {
  if (linalg::isaConvolutionOpInterface(op))
    return notTaken(op, "is not taken: a convolution or a pooling");
  if (!op.hasPureTensorSemantics() && !op.hasPureBufferSemantics())
    return notTaken(op, "is on tensors and memrefs at once");
  if (op.getNumDpsInits() == 0)
    return notTaken(op, "writes nothing");
  if (Result<void> ok = checkBody(op); !ok)
    return ok;
  return checkWritten(op);
}

bool isScalarCode(Operation &op) {
  auto isNumber = [](Type type) { return type.isIntOrIndexOrFloat(); };
  return isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) && isComputed(op) && !op.getNumRegions() &&
         llvm::all_of(op.getOperandTypes(), isNumber) && llvm::all_of(op.getResultTypes(), isNumber);
}

Result<void> checkConstant(arith::ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!isa<ShapedType>(op.getType()) || (elements && elements.isSplat()))
    return {};
  return notTaken(op, "is a table of constants, which is not taken; one value for all elements is");
}

/// What else than linalg has its place in a function.
Result<void> checkOther(Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return checkConstant(constant);
  if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
    if (!alloc.getType().getLayout().isIdentity())
      return notTaken(&op, "is not dense");
    return {};
  }
  if (isa<func::ReturnOp, memref::DeallocOp, memref::CopyOp, memref::SubViewOp, memref::ExpandShapeOp,
          memref::CollapseShapeOp, tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::ExtractSliceOp>(op) ||
      isScalarCode(op))
    return {};
  StringRef dialect = op.getName().getDialectNamespace();
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return softmax.hasPureTensorSemantics() ? Result<void>()
                                            : notTaken(&op, "is taken on tensors alone: it has no body to read");
  const char *why = dialect == "scf" || dialect == "cf" || dialect == "affine" ? ": control flow"
                    : isa<CallOpInterface>(op)                                 ? ": a call"
                    : op.getNumRegions()                                       ? ": it has regions"
                    : !isMemoryEffectFree(&op)                                 ? ": a side effect"
                                                                               : "";
  return notTaken(&op, "is not taken", why);
}

Result<void> checkTypes(func::FuncOp function, TypeRange types, const char *what) {
  for (auto [i, type] : llvm::enumerate(types)) {
    std::string why = whyNotTaken(type);
    if (why.empty() && !isa<ShapedType>(type))
      why = "is a number, which is not taken; a tensor or memref without dims is";
    if (!why.empty())
      return notTaken(function, what, " ", i, " is ", textOf(type), ", which ", why);
  }
  return {};
}

} // namespace

Value functions::rootOf(Value memref) {
  while (isa_and_nonnull<memref::SubViewOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(memref.getDefiningOp()))
    memref = memref.getDefiningOp()->getOperand(0);
  return memref;
}

Result<TensorDesc> functions::describe(Type type, const std::string &what) {
  auto shaped = cast<ShapedType>(type);
  SmallVector<int64_t> strides, dims(shaped.getShape());
  int64_t offset = 0;
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    memref = MemRefType::get(shaped.getShape(), shaped.getElementType());
  if (failed(memref.getStridesAndOffset(strides, offset)))
    return internalError(what, " has no strides");
  if (dims.empty()) { // a number in memory
    dims.push_back(1);
    strides.push_back(1);
  }
  Result<TensorDesc> desc = TensorDesc::fromStrides(dims, dataTypeOf(shaped.getElementType()), strides);
  if (!desc)
    return Error{desc.error().status, concat(what, ": ", desc.error().message)};
  desc->offset0 = offset;
  return desc;
}

Result<void> functions::checkOperation(Operation &op) {
  for (Type type : op.getResultTypes())
    if (std::string why = whyNotTaken(type); !why.empty())
      return notTaken(&op, "gives ", textOf(type), ", which ", why);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return checkLinalg(linalgOp);
  return checkOther(op);
}

Result<void> functions::check(func::FuncOp function) {
  if (function.getNumArguments() + function.getNumResults() == 0 ||
      function.getNumArguments() + function.getNumResults() > maxArguments)
    return notTaken(function, "has ", function.getNumArguments(), " arguments and ", function.getNumResults(),
                    " results; 1 to ", maxArguments, " together are possible");
  if (Result<void> ok = checkTypes(function, function.getArgumentTypes(), "argument"); !ok)
    return ok;
  if (Result<void> ok = checkTypes(function, function.getResultTypes(), "result"); !ok)
    return ok;
  if (llvm::any_of(function.getResultTypes(), [](Type type) { return isa<MemRefType>(type); }))
    return notTaken(function, "returns a memref; tensors are returned, and memrefs that are arguments are written");
  if (!function.getBody().hasOneBlock())
    return notTaken(function, "has more than one block: control flow");
  Block &body = function.getBody().front();
  if (body.getOperations().size() > maxOperations)
    return notTaken(function, "has ", body.getOperations().size(), " operations; at most ", maxOperations,
                    " are possible");
  for (Operation &op : body)
    if (Result<void> ok = checkOperation(op); !ok)
      return ok;
  return {};
}
