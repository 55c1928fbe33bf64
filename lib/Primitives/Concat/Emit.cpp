//===- Emit.cpp - Emission of concat as linalg ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One elementwise op for each kind of source, over its logical dims, which writes its part of the destination:
//   dst[…, start + c, …] = sat(s · src[…, c, …])
// Equal types without a scale are copied bit for bit, and integers saturate as integers; all other conversions go
// through f32, or f64 if a side is f64. Sources that differ only in their position are calls of one function with
// different buffers. If a source starts inside a block of the destination, its digits start there. With open sizes,
// every source has a separate function, which receives its sizes and the destination's; its start is the sum of the
// preceding sizes times the destination's stride.
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
using concatenation::SourcePlace;

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
  VerifiedProblem problemOf(const SourcePlace &place) const;
  SmallVector<Type> typesOf(const VerifiedProblem &part, const SourcePlace &place);
  void emitFunction(ArrayRef<SourcePlace> places, const std::string &name);
  void emitCopy(FunctionEmitter &function, const SourcePlace &place);
  bool isOf(const SourcePlace &place, const ArgumentInfo &argument) const {
    return argument.isOutput || (argument.index & ~arg::scalesFlag) == arg::sourceAt(place.source);
  }
  /// Return the value of the axis in the dims or strides of a tensor, and the number of open values before the axis.
  int64_t along(const int64_t (&values)[maxDims]) const { return values[concat.axis]; }
  int64_t openBefore(const int64_t (&values)[maxDims]) const {
    return llvm::count(ArrayRef(values).take_front(concat.axis), runtimeDim);
  }
  int64_t firstEntry(size_t argument) const;
  AffineExpr sizeOf(size_t source);
  DenseI64ArrayAttr sizeIndices(const SourcePlace &place);
  AffineExpr beginOf(const SourcePlace &place);
  void addCall(StringRef function, const SourcePlace &place);

  ModuleOp module;
  const VerifiedProblem &problem;
  const ConcatDesc &concat;
  Builder builder;
  bool isOpen = false; ///< true if some size is known only at execution
  SmallVector<Attribute> calls;
};

/// Returns the arguments of one source's function: the source, dst, and the source's scale.
VerifiedProblem ConcatEmitter::problemOf(const SourcePlace &place) const {
  VerifiedProblem part;
  part.desc.op = ConcatDesc();
  part.desc.attr.scales = problem.desc.attr.scales;
  for (const ArgumentInfo &argument : problem.arguments)
    if (isOf(place, argument))
      part.arguments.push_back(argument);
  return part;
}

SmallVector<Type> ConcatEmitter::typesOf(const VerifiedProblem &part, const SourcePlace &place) {
  SmallVector<Type> types = argumentTypes(part, module.getContext());
  const TensorDesc view = viewOf(concat, place);
  for (auto [type, argument] : llvm::zip_equal(types, part.arguments))
    if (argument.isOutput)
      type = memrefOf(view, module.getContext());
  return types;
}

void ConcatEmitter::emitCopy(FunctionEmitter &function, const SourcePlace &place) {
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

/// Returns the index of an argument's first entry in the list of sizes.
int64_t ConcatEmitter::firstEntry(size_t argument) const {
  int64_t entry = 0;
  for (const ArgumentInfo &before : ArrayRef(problem.arguments).take_front(argument))
    entry += before.runtimeSizes();
  return entry;
}

/// Returns the size of a source along the axis: a constant, or its entry in the list of sizes.
AffineExpr ConcatEmitter::sizeOf(size_t source) {
  const TensorDesc &src = concat.srcs[source];
  return along(src.dims) == runtimeDim ? builder.getAffineSymbolExpr(firstEntry(source) + openBefore(src.dims))
                                       : builder.getAffineConstantExpr(along(src.dims));
}

/// Returns the indices in the list of sizes of the open sizes of a function's arguments. The function's view of the
/// destination has the source's size along the axis.
DenseI64ArrayAttr ConcatEmitter::sizeIndices(const SourcePlace &place) {
  SmallVector<int64_t> entries;
  for (auto [position, argument] : llvm::enumerate(problem.arguments)) {
    if (!isOf(place, argument))
      continue;
    const int64_t first = firstEntry(position);
    for (int64_t entry = first; entry < first + argument.runtimeSizes(); ++entry)
      entries.push_back(entry);
    if (!argument.isOutput || along(concat.dst.dims) != runtimeDim)
      continue;
    int64_t *size = entries.end() - argument.runtimeSizes() + openBefore(concat.dst.dims);
    if (auto ofSource = dyn_cast<AffineSymbolExpr>(sizeOf(place.source)))
      *size = ofSource.getPosition();
    else
      entries.erase(size);
  }
  return builder.getDenseI64ArrayAttr(entries);
}

/// Returns the byte offset in the destination at which a source's function starts.
AffineExpr ConcatEmitter::beginOf(const SourcePlace &place) {
  const int64_t bytes = bitsOf(concat.dst.dataType) / 8;
  if (!concatenation::hasOpenPlaces(concat))
    return builder.getAffineConstantExpr(place.offset * bytes);
  AffineExpr index = builder.getAffineConstantExpr(0),
             stride = builder.getAffineConstantExpr(along(concat.dst.strides));
  for (size_t i = 0; i < place.source; ++i)
    index = index + sizeOf(i);
  if (along(concat.dst.strides) == runtimeDim)
    stride = builder.getAffineSymbolExpr(firstEntry(concat.srcs.size()) +
                                         llvm::count(ArrayRef(concat.dst.dims, concat.dst.ndims), runtimeDim) +
                                         openBefore(concat.dst.strides));
  return index * stride * bytes;
}

/// Adds a call of `function` that copies the source of `place`. No two calls write the same bytes, so all calls are
/// independent.
void ConcatEmitter::addCall(StringRef function, const SourcePlace &place) {
  SmallVector<BufferAttr> buffers;
  for (const ArgumentInfo &argument : problemOf(place).arguments) {
    AffineExpr offset = argument.isOutput ? beginOf(place) : builder.getAffineConstantExpr(0);
    buffers.push_back(BufferAttr::get(module.getContext(), argument.name, offset));
  }
  auto symbol = FlatSymbolRefAttr::get(module.getContext(), function);
  calls.push_back(CallAttr::get(module.getContext(), symbol, buffers, /*independent=*/!calls.empty()));
}

void ConcatEmitter::emitFunction(ArrayRef<SourcePlace> places, const std::string &name) {
  const SourcePlace &first = places.front();
  VerifiedProblem part = problemOf(first);
  FunctionEmitter function(module, part, name, typesOf(part, first));
  emitCopy(function, first);
  function.finish();
  if (isOpen)
    module.lookupSymbol(name)->setAttr(attr::sizeIndices, sizeIndices(first));
  for (const SourcePlace &place : places)
    addCall(name, place);
}

void ConcatEmitter::emit() {
  int count = 0;
  for (const std::vector<SourcePlace> &places : concatenation::kernelsOf(concat, problem.desc.attr)) {
    if (isOpen)
      for (const SourcePlace &place : places)
        emitFunction(place, "concat" + std::to_string(count++));
    else
      emitFunction(places, "concat" + std::to_string(count++));
  }
  VerifiedProblem dstOnly;
  for (const ArgumentInfo &argument : problem.arguments)
    if (argument.isOutput)
      dstOnly.arguments.push_back(argument);
  emitPadding(module, dstOnly, "concat");
  for (auto padding : llvm::drop_begin(module.getOps<func::FuncOp>(), count))
    calls.push_back(callOf(padding));
  module->setAttr(ProgramAttr::name, ProgramAttr::get(module.getContext(), calls));
}

} // namespace

void quern::emitConcat(ModuleOp module, const VerifiedProblem &problem) { ConcatEmitter(module, problem).emit(); }
