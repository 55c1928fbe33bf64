//===- Products.cpp - Products of states and weights ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Emit/Products.h"

#include "IR/QuernDialect.h"
#include "Primitives/Emission/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

namespace {

/// Dims of a WeightsView's memref.
enum WeightsDim : unsigned { PanelDim, InputDim, GateDim, ColumnDim, PairDim };

OpFoldResult extentOf(StepEmitter &step, Value memref, unsigned dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return step.builder.getIndexAttr(type.getDimSize(dim));
  Value number = arith::ConstantIndexOp::create(step.builder, step.loc, dim);
  return memref::DimOp::create(step.builder, step.loc, memref, number).getResult();
}

/// Returns the subview of `memref` at `offsets`, or `memref` itself if it covers all of it.
Value partOf(StepEmitter &step, Value memref, ArrayRef<int64_t> offsets, ArrayRef<OpFoldResult> sizes) {
  auto type = cast<MemRefType>(memref.getType());
  bool isWhole = true;
  for (auto [d, size] : llvm::enumerate(sizes))
    isWhole &= offsets[d] == 0 && (isa<Value>(size) || getConstantIntValue(size) == type.getDimSize(d));
  if (isWhole)
    return memref;
  SmallVector<OpFoldResult> starts, steps(sizes.size(), step.builder.getIndexAttr(1));
  for (int64_t offset : offsets)
    starts.push_back(step.builder.getIndexAttr(offset));
  return memref::SubViewOp::create(step.builder, step.loc, memref, starts, sizes, steps);
}

/// Returns the first columns of sums.
Value columnsOf(StepEmitter &step, const Sums &sums, int64_t columns) {
  auto rank = static_cast<unsigned>(cast<MemRefType>(sums.memref.getType()).getRank());
  SmallVector<OpFoldResult> sizes;
  for (unsigned d = 0; d + 1 < rank; ++d)
    sizes.push_back(extentOf(step, sums.memref, d));
  sizes.push_back(step.builder.getIndexAttr(columns));
  return partOf(step, sums.memref, SmallVector<int64_t>(rank, 0), sizes);
}

bool mayRound(FpmathMode fpmath) { return fpmath == FpmathMode::BF16 || fpmath == FpmathMode::Any; }

/// Extends a float factor to f32.
Value inF32(OpBuilder &b, Location at, Value factor) {
  return factor.getType().isF32() ? factor : Value(arith::ExtFOp::create(b, at, b.getF32Type(), factor));
}

constexpr auto anyOrder = arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;

/// A range of K: whole groups of kPack inputs, or the remainder in the last group.
struct Slice {
  int64_t firstGroup, groups, pairs;
};

class ProductEmitter {
public:
  ProductEmitter(StepEmitter &step, const Sums &sums, Value x, DataType rows, Value weights, const WeightsView &view,
                 FpmathMode fpmath)
      : step(step), b(step.builder), sums(sums), x(x), rows(rows), weights(weights), view(view), fpmath(fpmath) {}

  void emit(bool isTransposed = false) {
    int64_t whole = view.inputs / view.kPack, left = view.inputs % view.kPack;
    auto emitPart = [&](const Slice &slice) { isTransposed ? emitTransposed(slice) : emitSlice(slice); };
    if (whole)
      emitPart({0, whole, view.kPack});
    if (left)
      emitPart({whole, 1, left});
  }

private:
  AffineExpr addLoop(utils::IteratorType kind) {
    kinds.push_back(kind);
    return b.getAffineDimExpr(kinds.size() - 1);
  }
  void emitSlice(const Slice &slice);
  void emitTransposed(const Slice &slice);
  void emitOp(Value part, ArrayRef<AffineExpr> ofX, ArrayRef<AffineExpr> ofWeights, ArrayRef<AffineExpr> ofSums);
  void emitBody(OpBuilder &inner, Location at, ValueRange in);
  Value widenedFactor(OpBuilder &inner, Location at, Value factor, DataType type);

  StepEmitter &step;
  OpBuilder &b;
  const Sums &sums;
  Value x;
  DataType rows;
  Value weights;
  const WeightsView &view;
  FpmathMode fpmath;
  SmallVector<utils::IteratorType> kinds;
};

Value ProductEmitter::widenedFactor(OpBuilder &inner, Location at, Value factor, DataType type) {
  switch (type) {
  case DataType::U8:
    return arith::ExtUIOp::create(inner, at, inner.getI32Type(), factor);
  case DataType::S8:
    return arith::ExtSIOp::create(inner, at, inner.getI32Type(), factor);
  case DataType::F32:
    return factor;
  default:
    return inF32(inner, at, factor);
  }
}

/// Emits a product with transposed weights, which also sums over the gates.
void ProductEmitter::emitTransposed(const Slice &slice) {
  using enum utils::IteratorType;
  kinds.clear();
  const bool isPacked = view.block > 1;
  AffineExpr zero = b.getAffineConstantExpr(0);
  AffineExpr n = addLoop(parallel), panel = addLoop(parallel), column = isPacked ? addLoop(parallel) : zero;
  AffineExpr gate = addLoop(reduction), group = addLoop(reduction);
  AffineExpr pair = slice.pairs > 1 ? addLoop(reduction) : zero;

  SmallVector<int64_t> offsets = {0, slice.firstGroup, 0}, extents = {view.panels(), slice.groups, view.gates};
  SmallVector<AffineExpr> address = {panel, group, gate};
  if (isPacked)
    offsets.push_back(0), extents.push_back(view.block), address.push_back(column);
  if (view.kPack > 1)
    offsets.push_back(0), extents.push_back(slice.pairs), address.push_back(pair);
  SmallVector<OpFoldResult> sizes =
      llvm::map_to_vector(extents, [&](int64_t size) -> OpFoldResult { return b.getIndexAttr(size); });
  AffineExpr k = (slice.firstGroup + group) * view.kPack + pair;
  emitOp(partOf(step, weights, offsets, sizes), {n, gate, k}, address, {n, panel * view.block + column});
}

void ProductEmitter::emitOp(Value part, ArrayRef<AffineExpr> ofX, ArrayRef<AffineExpr> ofWeights,
                            ArrayRef<AffineExpr> ofSums) {
  auto mapOf = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(kinds.size(), 0, results, b.getContext()); };
  AffineMap maps[] = {mapOf(ofX), mapOf(ofWeights), mapOf(ofSums)};
  auto op =
      linalg::GenericOp::create(b, step.loc, ValueRange{x, part}, ValueRange{columnsOf(step, sums, view.width())}, maps,
                                kinds, [&](OpBuilder &inner, Location at, ValueRange in) { emitBody(inner, at, in); });
  if (view.element == DataType::F32 && mayRound(fpmath))
    addRelaxation(op, Relaxation::Bf16);
}

void ProductEmitter::emitBody(OpBuilder &inner, Location at, ValueRange in) {
  Value a = widenedFactor(inner, at, in[0], rows), w = widenedFactor(inner, at, in[1], view.element);
  Value sum;
  if (isa<IntegerType>(a.getType())) {
    sum = arith::AddIOp::create(inner, at, in[2], arith::MulIOp::create(inner, at, a, w));
  } else {
    sum = arith::AddFOp::create(inner, at, in[2], arith::MulFOp::create(inner, at, a, w, anyOrder), anyOrder);
  }
  linalg::YieldOp::create(inner, at, sum);
}

void ProductEmitter::emitSlice(const Slice &slice) {
  using enum utils::IteratorType;
  kinds.clear();
  const bool hasGates = sums.gates > 1, isPacked = view.block > 1;
  AffineExpr zero = b.getAffineConstantExpr(0);
  AffineExpr n = addLoop(parallel), gate = hasGates ? addLoop(parallel) : zero, panel = addLoop(parallel);
  AffineExpr column = isPacked ? addLoop(parallel) : zero;
  AffineExpr group = addLoop(reduction); // even for one group: otherwise `pair` would have to span all of x
  AffineExpr pair = slice.pairs > 1 ? addLoop(reduction) : zero;

  SmallVector<int64_t> offsets = {0, slice.firstGroup, sums.firstGate};
  SmallVector<int64_t> extents = {view.panels(), slice.groups, sums.gates};
  SmallVector<AffineExpr> address = {panel, group, gate};
  if (isPacked)
    offsets.push_back(0), extents.push_back(view.block), address.push_back(column);
  if (view.kPack > 1)
    offsets.push_back(0), extents.push_back(slice.pairs), address.push_back(pair);
  SmallVector<OpFoldResult> sizes =
      llvm::map_to_vector(extents, [&](int64_t size) -> OpFoldResult { return b.getIndexAttr(size); });
  Value part = partOf(step, weights, offsets, sizes);

  AffineExpr input = (slice.firstGroup + group) * view.kPack + pair, output = panel * view.block + column;
  SmallVector<AffineExpr> sum = {n, output};
  if (hasGates)
    sum.insert(sum.begin() + 1, gate);
  emitOp(part, {n, input}, address, sum);
}

/// Allocates dense f32 memory with the shape of `like`.
Value memorySizedAs(StepEmitter &step, Value like) {
  auto shape = cast<MemRefType>(like.getType()).getShape();
  return memref::AllocOp::create(step.builder, step.loc, MemRefType::get(shape, step.builder.getF32Type()));
}

void addElements(StepEmitter &step, Value to, Value values) {
  OpBuilder &b = step.builder;
  const auto rank = static_cast<unsigned>(cast<MemRefType>(to.getType()).getRank());
  AffineMap same[] = {b.getMultiDimIdentityMap(rank), b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  linalg::GenericOp::create(
      b, step.loc, ValueRange{values}, ValueRange{to}, same, kinds, [](OpBuilder &inner, Location at, ValueRange in) {
        linalg::YieldOp::create(inner, at, arith::AddFOp::create(inner, at, in[1], in[0]).getResult());
      });
}

} // namespace

WeightsView WeightsView::of(const TensorDesc &weights, MLIRContext *context) {
  Builder builder(context);
  const bool hasGates = weights.ndims == 5;
  const int input = 2, gate = 3, output = weights.ndims - 1;
  WeightsView view;
  view.element = weights.dataType;
  view.inputs = weights.dims[input], view.gates = hasGates ? weights.dims[gate] : 1,
  view.outputs = weights.dims[output];
  int64_t blocks[maxDims];
  weights.blockSizes(blocks);
  view.block = blocks[output], view.kPack = blocks[input];
  SmallVector<int64_t> shape = {view.panels(), (view.inputs + view.kPack - 1) / view.kPack, view.gates};
  SmallVector<int64_t> strides = {weights.strides[output], weights.strides[input],
                                  hasGates ? weights.strides[gate] : 1};
  if (view.block > 1)
    shape.push_back(view.block), strides.push_back(view.kPack);
  if (view.kPack > 1)
    shape.push_back(view.kPack), strides.push_back(1);
  view.type = MemRefType::get(shape, elementType(view.element, builder),
                              StridedLayoutAttr::get(context, weights.offset0, strides));
  return view;
}

WeightsView WeightsView::transposed(const TensorDesc &weights, int64_t gates, MLIRContext *context) {
  Builder builder(context);
  const bool hasGates = weights.ndims == 5;
  const int input = 2, gate = 3, output = weights.ndims - 1;
  WeightsView view;
  view.element = weights.dataType;
  view.inputs = weights.dims[output], view.gates = hasGates ? gates : 1, view.outputs = weights.dims[input];
  int64_t blocks[maxDims];
  weights.blockSizes(blocks);
  view.block = blocks[input], view.kPack = blocks[output];
  int64_t groups = (view.inputs + view.kPack - 1) / view.kPack, gateStride = hasGates ? weights.strides[gate] : 1;
  if (view.gates > 1 && gateStride == groups * weights.strides[output] && view.inputs % view.kPack == 0)
    view.inputs *= view.gates, groups *= view.gates, view.gates = 1;
  SmallVector<int64_t> shape = {view.panels(), groups, view.gates};
  SmallVector<int64_t> strides = {weights.strides[input], weights.strides[output], gateStride};
  if (view.block > 1)
    shape.push_back(view.block), strides.push_back(view.kPack);
  if (view.kPack > 1)
    shape.push_back(view.kPack), strides.push_back(1);
  view.type = MemRefType::get(shape, elementType(view.element, builder),
                              StridedLayoutAttr::get(context, weights.offset0, strides));
  return view;
}

Sums rnn::clearSums(StepEmitter &step, Value memref, int64_t firstGate, int64_t gates) {
  Type type = cast<MemRefType>(memref.getType()).getElementType();
  Value zero = arith::ConstantOp::create(step.builder, step.loc, step.builder.getZeroAttr(type));
  linalg::FillOp::create(step.builder, step.loc, zero, memref);
  return {memref, firstGate, gates};
}

Sums rnn::makeSums(StepEmitter &step, Value rows, int64_t width, bool isInteger, int64_t firstGate, int64_t gates) {
  OpBuilder &b = step.builder;
  // At least two columns, so that gates of a single channel cannot be taken for channels.
  SmallVector<int64_t> shape = {cast<MemRefType>(rows.getType()).getDimSize(0), std::max<int64_t>(width, 2)};
  if (gates > 1)
    shape.insert(shape.begin() + 1, gates);
  Type type = isInteger ? Type(b.getI32Type()) : b.getF32Type();
  SmallVector<Value> open;
  if (ShapedType::isDynamic(shape[0]))
    open.push_back(cast<Value>(extentOf(step, rows, 0)));
  return clearSums(step, memref::AllocOp::create(b, step.loc, MemRefType::get(shape, type), open), firstGate, gates);
}

void rnn::addProduct(StepEmitter &step, const Sums &sums, Value x, DataType rows, Value weights,
                     const WeightsView &view, FpmathMode fpmath) {
  ProductEmitter(step, sums, x, rows, weights, view, fpmath).emit();
}

void rnn::addTransposedProduct(StepEmitter &step, const Sums &sums, Value gradients, DataType rows, Value weights,
                               const WeightsView &view, FpmathMode fpmath) {
  ProductEmitter(step, sums, gradients, rows, weights, view, fpmath).emit(/*isTransposed=*/true);
}

/// Adds the products of two factors to `sums`, in loops of these kinds with these indexing maps.
static linalg::GenericOp addProductBy(StepEmitter &step, Value sums, Value left, Value right, ArrayRef<AffineMap> maps,
                                      ArrayRef<utils::IteratorType> kinds) {
  return linalg::GenericOp::create(
      step.builder, step.loc, ValueRange{left, right}, ValueRange{sums}, maps, kinds,
      [](OpBuilder &inner, Location at, ValueRange in) {
        Value term = arith::MulFOp::create(inner, at, inF32(inner, at, in[0]), inF32(inner, at, in[1]), anyOrder);
        linalg::YieldOp::create(inner, at, arith::AddFOp::create(inner, at, in[2], term, anyOrder).getResult());
      });
}

void rnn::addSeparateProduct(StepEmitter &step, Value sums, Value x, Value weights) {
  using enum utils::IteratorType;
  const auto type = cast<MemRefType>(weights.getType());
  const unsigned rank = static_cast<unsigned>(type.getRank()), k = rank > 2 ? 3 : 2;
  auto dim = [&](unsigned loop) { return step.builder.getAffineDimExpr(loop); };
  SmallVector<AffineExpr> address = {dim(k), dim(1)};
  AffineExpr output = dim(1);
  if (rank > 2) { // loop 1 counts panels, loop 2 their columns
    const int64_t kPack = rank > 3 ? type.getDimSize(3) : 1;
    address = {dim(1), dim(k).floorDiv(kPack), dim(2)};
    if (kPack > 1)
      address.push_back(dim(k) % kPack);
    output = dim(1) * type.getDimSize(2) + dim(2);
  }
  auto mapOf = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(k + 1, 0, results, step.builder.getContext());
  };
  SmallVector<utils::IteratorType> kinds(k, parallel);
  kinds.push_back(reduction);
  clearSums(step, sums, 0, 1);
  addProductBy(step, sums, x, weights, {mapOf({dim(0), dim(k)}), mapOf(address), mapOf({dim(0), output})}, kinds);
}

void rnn::addOuterProduct(StepEmitter &step, Value sums, Value left, Value right, FpmathMode fpmath) {
  OpBuilder &b = step.builder;
  auto rankOf = [](Value v) { return static_cast<unsigned>(cast<MemRefType>(v.getType()).getRank()); };
  const unsigned ofSums = rankOf(sums), ofK = rankOf(left) - 1, loops = ofSums + ofK;
  auto dimsOf = [&](std::initializer_list<std::pair<unsigned, unsigned>> ranges) {
    SmallVector<AffineExpr> dims;
    for (auto [from, to] : ranges)
      for (unsigned d = from; d < to; ++d)
        dims.push_back(b.getAffineDimExpr(d));
    return AffineMap::get(loops, 0, dims, b.getContext());
  };
  AffineMap maps[] = {dimsOf({{ofSums, loops}, {0, 1}}), dimsOf({{ofSums, loops}, {1, ofSums}}), dimsOf({{0, ofSums}})};
  SmallVector<utils::IteratorType> kinds(ofSums, utils::IteratorType::parallel);
  kinds.append(ofK, utils::IteratorType::reduction);
  linalg::GenericOp op = addProductBy(step, sums, left, right, maps, kinds);
  auto isF32 = [](Value factor) { return cast<MemRefType>(factor.getType()).getElementType().isF32(); };
  if ((isF32(left) || isF32(right)) && mayRound(fpmath))
    addRelaxation(op, Relaxation::Bf16);
}

void rnn::addOuterProductApart(StepEmitter &step, Value sums, Value left, Value right, FpmathMode fpmath) {
  const Value own = clearSums(step, memorySizedAs(step, sums), 0, 1).memref;
  addOuterProduct(step, own, left, right, fpmath);
  addElements(step, sums, own);
}

void rnn::emitGradientSums(StepEmitter &step, Value to, Value values, Value factors, Value remaining, bool isAdded) {
  using enum utils::IteratorType;
  OpBuilder &b = step.builder;
  AffineExpr gate = b.getAffineDimExpr(0), column = b.getAffineDimExpr(1), k = b.getAffineDimExpr(2);
  const Value sums = clearSums(step, isAdded ? memorySizedAs(step, to) : to, 0, 1).memref;
  SmallVector<Value> inputs = {values};
  SmallVector<AffineMap> maps = {AffineMap::get(3, 0, {k, gate, column}, b.getContext())};
  if (factors)
    inputs.push_back(factors), maps.push_back(AffineMap::get(3, 0, {k, column}, b.getContext()));
  if (remaining)
    inputs.push_back(remaining), maps.push_back(AffineMap::get(3, 0, {k}, b.getContext()));
  maps.push_back(AffineMap::get(3, 0, {gate, column}, b.getContext()));
  utils::IteratorType kinds[] = {parallel, parallel, reduction};
  linalg::GenericOp::create(
      b, step.loc, inputs, ValueRange{sums}, maps, kinds, [&](OpBuilder &inner, Location at, ValueRange in) {
        Value term = inF32(inner, at, in[0]);
        if (factors)
          term = arith::MulFOp::create(inner, at, term, in[1], anyOrder);
        if (remaining) { // the factors are unspecified after the end of a sequence
          Value none = arith::ConstantOp::create(inner, at, inner.getI32IntegerAttr(0));
          Value isAlive = arith::CmpIOp::create(inner, at, arith::CmpIPredicate::sgt, in[2], none);
          Value nothing = arith::ConstantOp::create(inner, at, inner.getF32FloatAttr(0));
          term = arith::SelectOp::create(inner, at, isAlive, term, nothing);
        }
        linalg::YieldOp::create(inner, at, arith::AddFOp::create(inner, at, in.back(), term, anyOrder).getResult());
      });
  if (isAdded)
    addElements(step, to, sums);
}

void rnn::emitColumnSums(StepEmitter &step) {
  using enum utils::IteratorType;
  OpBuilder &b = step.builder;
  AffineExpr gate = b.getAffineDimExpr(0), output = b.getAffineDimExpr(1), input = b.getAffineDimExpr(2);
  Value zero = arith::ConstantOp::create(b, step.loc, b.getF32FloatAttr(0));
  linalg::FillOp::create(b, step.loc, zero, step["sums"]);
  AffineMap maps[] = {AffineMap::get(3, 0, {output, input, gate}, b.getContext()),
                      AffineMap::get(3, 0, {gate, output}, b.getContext())};
  utils::IteratorType kinds[] = {parallel, parallel, reduction};
  linalg::GenericOp::create(b, step.loc, ValueRange{step["weights"]}, ValueRange{step["sums"]}, maps, kinds,
                            [](OpBuilder &inner, Location at, ValueRange in) {
                              Value weight = arith::SIToFPOp::create(inner, at, inner.getF32Type(), in[0]);
                              auto flags = arith::FastMathFlags::reassoc;
                              linalg::YieldOp::create(
                                  inner, at, arith::AddFOp::create(inner, at, in[1], weight, flags).getResult());
                            });
}

Value rnn::withoutPadding(StepEmitter &step, const Sums &sums, const WeightsView &view) {
  return columnsOf(step, sums, view.outputs);
}
