//===- Function.cpp - Builder of a problem's function ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A linalg op infers the extent of a loop from an operand that is indexed by only that loop. If blocks leave none (c
// floordiv 16, c mod 16), an operand that no body reads determines the extent; it also keeps padding out of reductions.
// It is never accessed, so it costs no memory.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Function.h"

#include "IR/Steps.h"
#include "Primitives/Arguments.h"
#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Emission/Tensors.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;

namespace {

/// Returns the parameters of a vector of scales or zero points and sets `of` to the argument that they belong to; null
/// for other arguments.
const QuantParams *quantParamsOf(const VerifiedProblem &problem, int32_t index, int32_t &of) {
  const Attributes &attr = problem.desc.attr;
  for (auto [params, flag] :
       {std::pair(&attr.scales, arg::scalesFlag), std::pair(&attr.zeroPoints, arg::zeroPointsFlag)}) {
    of = index & ~flag;
    if (!(index & flag))
      continue;
    if (auto found = params->find(of); found != params->end())
      return &found->second;
  }
  return nullptr;
}

const ArgumentInfo *infoIn(const VerifiedProblem &problem, int32_t index) {
  for (const ArgumentInfo &argument : problem.arguments)
    if (argument.index == index)
      return &argument;
  return nullptr;
}

} // namespace

SmallVector<Type> emission::argumentTypes(const VerifiedProblem &problem, MLIRContext *context) {
  SmallVector<Type> types;
  for (const ArgumentInfo &argument : problem.arguments) {
    int32_t of = 0;
    const QuantParams *params = quantParamsOf(problem, argument.index, of);
    const ArgumentInfo *owner = params ? infoIn(problem, of) : nullptr;
    types.push_back(owner ? quantMemrefOf(*params, owner->desc, context) : memrefOf(argument.desc, context));
  }
  return types;
}

CallAttr emission::callOf(func::FuncOp function) {
  SmallVector<BufferAttr> buffers;
  AffineExpr start = getAffineConstantExpr(0, function.getContext());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    buffers.push_back(
        BufferAttr::get(function.getContext(), function.getArgAttrOfType<StringAttr>(i, attr::arg).getValue(), start));
  return CallAttr::get(function.getContext(), FlatSymbolRefAttr::get(function), buffers, /*independent=*/false);
}

FunctionEmitter::FunctionEmitter(ModuleOp module, const VerifiedProblem &problem, StringRef name,
                                 ArrayRef<Type> argumentTypes)
    : builder(module.getContext()), loc(module.getLoc()), problem(problem) {
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, loc, name, builder.getFunctionType(argumentTypes, {}));
  for (auto [i, argument] : llvm::enumerate(problem.arguments))
    function.setArgAttr(i, attr::arg, builder.getStringAttr(argument.name));
  builder.setInsertionPointToEnd(function.addEntryBlock());
}

void FunctionEmitter::finish() { func::ReturnOp::create(builder, loc); }

const ArgumentInfo *FunctionEmitter::infoOf(int32_t index) const { return infoIn(problem, index); }

Value FunctionEmitter::find(int32_t index) {
  const ArgumentInfo *info = infoOf(index);
  return info ? Value(function.getArgument(info - problem.arguments.data())) : Value();
}

const TensorDesc &FunctionEmitter::descOf(int32_t index) const {
  const ArgumentInfo *info = infoOf(index);
  assert(info && "the verifier lists every argument");
  return info->desc;
}

Operand FunctionEmitter::tensor(int32_t index, ArrayRef<int64_t> space) {
  return {find(index), mapOf(descOf(index), space, builder.getContext())};
}

Value FunctionEmitter::loadScalar(int32_t index, FloatType type) {
  Value memref = find(index);
  if (!memref)
    return Value();
  if (!zeroIndex)
    zeroIndex = arith::ConstantIndexOp::create(builder, loc, 0);
  return widened(builder, loc, memref::LoadOp::create(builder, loc, memref, zeroIndex), descOf(index).dataType, type);
}

Value FunctionEmitter::constant(FloatType type, double value) {
  return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value));
}

Value FunctionEmitter::alloc(ArrayRef<int64_t> shape, Type type, Value like, ArrayRef<unsigned> dimsOfLike) {
  SmallVector<Value> extents;
  for (auto [d, extent] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(extent))
      extents.push_back(memref::DimOp::create(builder, loc, like, dimsOfLike[d]));
  return memref::AllocOp::create(builder, loc, MemRefType::get(shape, type), extents);
}

Value FunctionEmitter::table(StringRef name, ArrayRef<float> values) {
  auto count = static_cast<int64_t>(values.size());
  auto type = MemRefType::get({count}, builder.getF32Type());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(function);
    auto data = DenseElementsAttr::get(RankedTensorType::get({count}, builder.getF32Type()), values);
    memref::GlobalOp::create(builder, loc, name, builder.getStringAttr("private"), type, data, /*constant=*/true,
                             IntegerAttr());
  }
  return memref::GetGlobalOp::create(builder, loc, type, name);
}

std::optional<Operand> FunctionEmitter::pinOf(ArrayRef<int64_t> space, ArrayRef<AffineMap> maps) {
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> missing;
  for (auto [d, extent] : llvm::enumerate(space)) {
    AffineExpr dim = builder.getAffineDimExpr(d);
    if (llvm::any_of(maps, [&](AffineMap map) { return llvm::is_contained(map.getResults(), dim); }))
      continue;
    missing.push_back(dim);
    shape.push_back(extent);
  }
  if (missing.empty())
    return std::nullopt;
  AffineMap map = AffineMap::get(space.size(), 0, missing, builder.getContext());
  for (const Operand &pin : pins)
    if (pin.map == map)
      return pin;
  pins.push_back({memref::AllocOp::create(builder, loc, MemRefType::get(shape, builder.getI8Type())), map});
  return pins.back();
}

void FunctionEmitter::step(StringRef name, const Twine &what) {
  loc = locationOfStep(builder.getContext(), name, what);
}

void FunctionEmitter::elementwise(ArrayRef<int64_t> space, ArrayRef<Operand> inputs, Operand output, Body body) {
  const SmallVector<utils::IteratorType> kinds(space.size(), utils::IteratorType::parallel);
  generic(space, kinds, inputs, output, body);
}

void FunctionEmitter::generic(ArrayRef<int64_t> space, ArrayRef<utils::IteratorType> kinds, ArrayRef<Operand> inputs,
                              Operand output, Body body) {
  SmallVector<Value> memrefs;
  SmallVector<AffineMap> maps;
  for (const Operand &input : inputs) {
    memrefs.push_back(input.memref);
    maps.push_back(input.map);
  }
  maps.push_back(output.map);
  if (std::optional<Operand> pin = pinOf(space, maps)) {
    memrefs.push_back(pin->memref);
    maps.insert(maps.end() - 1, pin->map);
  }
  linalg::GenericOp::create(builder, loc, memrefs, ValueRange{output.memref}, maps, kinds,
                            [&](OpBuilder &b, Location at, ValueRange args) {
                              Value result = body(b, at, args.take_front(inputs.size()), args.back());
                              linalg::YieldOp::create(b, at, ValueRange{result});
                            });
}
