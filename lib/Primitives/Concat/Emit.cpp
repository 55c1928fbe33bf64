//===- Emit.cpp - Concat as linalg ----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An elementwise op for each kind of source, over its logical dims, which writes its part of the destination:
//   dst[…, start + c, …] = sat(s · src[…, c, …])
// Equal types without a scale copy bits, integers saturate as integers, all else goes by way of f32, or f64 if a side
// is that. Sources that differ only in where they go are calls of one function on buffers of their own; a source that
// begins within a block of the destination starts its digits there. With sizes that are given at execution every source
// has a function of its own on all arguments, since their place among all sizes says which they are.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/Concat/Places.h"
#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Emission/Function.h"
#include "Primitives/Emission/Padding.h"
#include "Primitives/Emission/Tensors.h"
#include "Primitives/Emitters.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using concatenation::Place;

namespace {

class ConcatEmitter {
public:
  ConcatEmitter(ModuleOp module, const VerifiedProblem &problem)
      : module(module), problem(problem), concat(std::get<ConcatDesc>(problem.desc.op)), builder(module.getContext()) {
    for (const ArgumentInfo &argument : problem.arguments)
      isOpen |= argument.desc.hasRuntimeDims();
  }
  void emit();

private:
  VerifiedProblem problemOf(const Place &place) const;
  SmallVector<Type> typesOf(const VerifiedProblem &part, const Place &place);
  void emitFunction(ArrayRef<Place> places, const std::string &name);
  void emitCopy(FunctionEmitter &function, const Place &place);
  void addCall(StringRef function, const Place &place);

  ModuleOp module;
  const VerifiedProblem &problem;
  const ConcatDesc &concat;
  Builder builder;
  bool isOpen = false; ///< some size is given at execution
  SmallVector<Attribute> calls;
};

/// The arguments that one source's function takes: the source, dst, and the source's scale.
VerifiedProblem ConcatEmitter::problemOf(const Place &place) const {
  VerifiedProblem part;
  part.desc.op = ConcatDesc();
  part.desc.attr.scales = problem.desc.attr.scales;
  for (const ArgumentInfo &argument : problem.arguments)
    if (isOpen || argument.index == arg::dst || (argument.index & ~arg::scalesFlag) == arg::sourceAt(place.source))
      part.arguments.push_back(argument);
  return part;
}

SmallVector<Type> ConcatEmitter::typesOf(const VerifiedProblem &part, const Place &place) {
  SmallVector<Type> types = argumentTypes(part, module.getContext());
  TensorDesc view = viewOf(concat, place);
  if (isOpen)
    view.offset0 = place.offset;
  for (auto [type, argument] : llvm::zip_equal(types, part.arguments))
    if (argument.isOutput)
      type = memrefOf(view, module.getContext());
  return types;
}

void ConcatEmitter::emitCopy(FunctionEmitter &function, const Place &place) {
  int32_t index = arg::sourceAt(place.source);
  const TensorDesc &src = concat.srcs[place.source];
  ArrayRef<int64_t> space(src.dims, src.ndims);
  DataType from = src.dataType, to = concat.dst.dataType;
  bool isWide = from == DataType::F64 || to == DataType::F64;
  FloatType compute = isWide ? function.builder.getF64Type() : function.builder.getF32Type();
  AffineExpr along = builder.getAffineDimExpr(concat.axis);
  AffineMap map = mapOf(viewOf(concat, place), space, module.getContext());
  map = map.replace(along, along + place.inBlock, map.getNumDims(), 0);
  Value scale = function.loadScalar(arg::scalesOf(index), compute);
  function.step("copy", "copy of a source to its place");
  function.elementwise(space, function.tensor(index, space), {function.find(arg::dst), map},
                       [&](OpBuilder &b, Location at, ValueRange in, Value) -> Value {
                         if (!scale)
                           return converted(b, at, in[0], from, to, compute);
                         return narrowed(b, at,
                                         arith::MulFOp::create(b, at, widened(b, at, in[0], from, compute), scale), to);
                       });
}

/// A call of `function` that writes this place, which no other does.
void ConcatEmitter::addCall(StringRef function, const Place &place) {
  SmallVector<BufferAttr> buffers;
  for (const ArgumentInfo &argument : problemOf(place).arguments) {
    int64_t offset = argument.isOutput && !isOpen ? place.offset * bitsOf(concat.dst.dataType) / 8 : 0;
    buffers.push_back(BufferAttr::get(module.getContext(), argument.name, builder.getAffineConstantExpr(offset)));
  }
  auto symbol = FlatSymbolRefAttr::get(module.getContext(), function);
  calls.push_back(CallAttr::get(module.getContext(), symbol, buffers, /*beside=*/!calls.empty()));
}

void ConcatEmitter::emitFunction(ArrayRef<Place> places, const std::string &name) {
  const Place &first = places.front();
  VerifiedProblem part = problemOf(first);
  FunctionEmitter function(module, part, name, typesOf(part, first));
  emitCopy(function, first);
  function.finish();
  for (const Place &place : places)
    addCall(name, place);
}

void ConcatEmitter::emit() {
  int count = 0;
  for (const std::vector<Place> &places : concatenation::kernelsOf(concat, problem.desc.attr)) {
    if (isOpen)
      for (const Place &place : places)
        emitFunction(place, "concat" + std::to_string(count++));
    else
      emitFunction(places, "concat" + std::to_string(count++));
  }
  VerifiedProblem dstAlone;
  for (const ArgumentInfo &argument : problem.arguments)
    if (argument.isOutput)
      dstAlone.arguments.push_back(argument);
  emitPadding(module, dstAlone, "concat");
  for (auto padding : llvm::drop_begin(module.getOps<func::FuncOp>(), count))
    calls.push_back(callOf(padding));
  module->setAttr(ProgramAttr::name, ProgramAttr::get(module.getContext(), calls));
}

} // namespace

void quern::emitConcat(ModuleOp module, const VerifiedProblem &problem) { ConcatEmitter(module, problem).emit(); }
