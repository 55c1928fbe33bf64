//===- EmitCompensation.cpp - Emission of weights' compensation -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sums over the stored elements, written after them in the same buffer. The function receives the destination as bytes:
// it reads the elements, which are bytes, by their offsets, and writes the sums to a view. It runs last and also reads
// the padding, which is zero by then; the sums of padded indices are therefore zero, and every digit of a reduced dim
// can be iterated completely. All reduced dims form one loop, in memory order.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Reorder/Emitter.h"

#include "Primitives/Arguments.h"
#include "Primitives/Emission/Tensors.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <tuple>

using namespace mlir;
using namespace quern;
using namespace quern::emission;

namespace {

SmallVector<Type> typesWithBytes(const VerifiedProblem &problem, MLIRContext *context) {
  SmallVector<Type> types = argumentTypes(problem, context);
  for (auto [type, argument] : llvm::zip_equal(types, problem.arguments))
    if (argument.index == arg::dst)
      type = MemRefType::get({argument.desc.bytes()}, IntegerType::get(context, 8));
  return types;
}

class CompensationEmitter {
public:
  CompensationEmitter(ModuleOp module, const VerifiedProblem &problem, const reorder::Compensation &compensation,
                      StringRef name)
      : function(module, problem, name, typesWithBytes(problem, module.getContext())), compensation(compensation),
        dst(function.descOf(arg::dst)) {}
  void emit();

private:
  bool isKept(int dim) const { return compensation.mask >> dim & 1; }
  void layOut();
  AffineExpr addressOfReduced(SmallVector<Digit> digits);
  Value emitSums();
  void emitResult(Value sums);
  Value view(int64_t byteOffset, int64_t elements, DataType type);
  Value viewOfElements();

  FunctionEmitter function;
  const reorder::Compensation &compensation;
  const TensorDesc &dst;
  SmallVector<int64_t> kept;   ///< padded extents of the dims that have separate sums
  int64_t reducedExtent = 1;   ///< product of the extents of the other dims
  AffineExpr address, ordinal; ///< index of an element, from the first one, and of its sum
};

/// Returns the address for one loop over the values of all these digits, of which those with small strides vary
/// fastest. Multiplies `reducedExtent` by the number of values.
AffineExpr CompensationEmitter::addressOfReduced(SmallVector<Digit> digits) {
  llvm::erase_if(digits, [](const Digit &digit) { return digit.size == 1; });
  llvm::sort(digits,
             [](const Digit &a, const Digit &b) { return std::tie(a.stride, a.dim) < std::tie(b.stride, b.dim); });
  AffineExpr index = function.builder.getAffineDimExpr(kept.size()), sum = function.builder.getAffineConstantExpr(0);
  for (size_t i = 0; i < digits.size(); ++i) {
    int64_t unit = reducedExtent, size = digits[i].size, stride = digits[i].stride;
    while (i + 1 < digits.size() && digits[i + 1].stride == size * stride)
      size *= digits[++i].size;
    AffineExpr shifted = index.floorDiv(unit);
    sum = sum + (i + 1 < digits.size() ? shifted % size : shifted) * stride;
    reducedExtent *= size;
  }
  return sum;
}

void CompensationEmitter::layOut() {
  Builder &builder = function.builder;
  SmallVector<unsigned> loopOf(dst.ndims);
  ordinal = builder.getAffineConstantExpr(0);
  for (int d = 0; d < dst.ndims; ++d) {
    if (!isKept(d))
      continue;
    loopOf[d] = kept.size();
    ordinal = ordinal * dst.paddedDims[d] + builder.getAffineDimExpr(loopOf[d]);
    kept.push_back(dst.paddedDims[d]);
  }
  SmallVector<Digit> reduced;
  address = builder.getAffineConstantExpr(0);
  for (const Digit &digit : digitsOf(dst)) {
    if (!isKept(digit.dim)) {
      reduced.push_back(digit);
      continue;
    }
    AffineExpr shifted = builder.getAffineDimExpr(loopOf[digit.dim]).floorDiv(digit.weight);
    bool isFirst = digit.size * digit.weight == dst.paddedDims[digit.dim];
    address = address + (isFirst ? shifted : shifted % digit.size) * digit.stride;
  }
  address = address + addressOfReduced(reduced);
}

Value CompensationEmitter::emitSums() {
  OpBuilder &builder = function.builder;
  Type word = builder.getI32Type();
  Value sums = function.alloc(kept, word);
  Value zero = arith::ConstantOp::create(builder, function.loc, builder.getI32IntegerAttr(0));
  linalg::FillOp::create(builder, function.loc, zero, sums);
  SmallVector<int64_t> space(kept);
  space.push_back(reducedExtent);
  SmallVector<utils::IteratorType> kinds(kept.size(), utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  Operand stored{viewOfElements(), AffineMap::get(space.size(), 0, address)};
  auto keptDims =
      llvm::map_to_vector(llvm::seq<unsigned>(0, kept.size()), [&](unsigned d) { return builder.getAffineDimExpr(d); });
  Operand sum{sums, AffineMap::get(space.size(), 0, keptDims, builder.getContext())};
  function.generic(space, kinds, stored, sum, [&](OpBuilder &b, Location at, ValueRange in, Value old) -> Value {
    return arith::AddIOp::create(b, at, arith::ExtSIOp::create(b, at, word, in[0]), old);
  });
  return sums;
}

Value CompensationEmitter::view(int64_t byteOffset, int64_t elements, DataType type) {
  OpBuilder &builder = function.builder;
  Value offset = arith::ConstantIndexOp::create(builder, function.loc, byteOffset);
  auto memref = MemRefType::get({elements}, elementType(type, builder));
  return memref::ViewOp::create(builder, function.loc, memref, function.find(arg::dst), offset, ValueRange());
}

/// The view ends at the last element: if the address depends on one loop only, the view determines that loop's extent.
Value CompensationEmitter::viewOfElements() {
  int64_t last = 0;
  for (const Digit &digit : digitsOf(dst))
    last += (digit.size - 1) * digit.stride;
  return view(dst.offset0, last + 1, dst.dataType);
}

void CompensationEmitter::emitResult(Value sums) {
  OpBuilder &builder = function.builder;
  Operand result{view(compensation.byteOffset, compensation.elements, compensation.type),
                 AffineMap::get(kept.size(), 0, ordinal)};
  Operand sum{sums, builder.getMultiDimIdentityMap(kept.size())};
  function.elementwise(kept, sum, result, [&](OpBuilder &b, Location at, ValueRange in, Value) -> Value {
    if (compensation.type == DataType::F32)
      return arith::SIToFPOp::create(b, at, b.getF32Type(), in[0]);
    Value factor = arith::ConstantOp::create(b, at, b.getI32IntegerAttr(compensation.factor));
    return arith::MulIOp::create(b, at, in[0], factor);
  });
}

void CompensationEmitter::emit() {
  layOut();
  emitResult(emitSums());
  function.finish();
}

} // namespace

void quern::emitReorderCompensation(ModuleOp module, const VerifiedProblem &problem) {
  auto all = reorder::compensationsOf(std::get<ReorderDesc>(problem.desc.op).dst);
  for (auto [i, compensation] : llvm::enumerate(all))
    CompensationEmitter(module, problem, compensation, ("reorder_compensation" + Twine(i)).str()).emit();
}
