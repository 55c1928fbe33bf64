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

/// Returns the first `columns` columns of sums.
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
                 FpmathMode fpmath, bool isTransposed)
      : step(step), b(step.builder), sums(sums), x(x), rows(rows), weights(weights), view(view), fpmath(fpmath),
        isTransposed(isTransposed) {}

  void emit() {
    int64_t whole = view.inputs / view.kPack, left = view.inputs % view.kPack;
    if (whole)
      emitSlice({0, whole, view.kPack});
    if (left)
      emitSlice({whole, 1, left});
  }

private:
  AffineExpr addLoop() { return b.getAffineDimExpr(loops++); }
  AffineExpr addReduction() { return ++reductions, addLoop(); }
  void emitSlice(const Slice &slice);
  Value emitBody(OpBuilder &inner, Location at, ValueRange in);
  Value widenedFactor(OpBuilder &inner, Location at, Value factor, DataType type);

  StepEmitter &step;
  OpBuilder &b;
  const Sums &sums;
  Value x;
  DataType rows;
  Value weights;
  const WeightsView &view;
  FpmathMode fpmath;
  bool isTransposed; ///< true for transposed weights, whose product also sums over the gates
  unsigned loops = 0, reductions = 0;
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

Value ProductEmitter::emitBody(OpBuilder &inner, Location at, ValueRange in) {
  Value a = widenedFactor(inner, at, in[0], rows), w = widenedFactor(inner, at, in[1], view.element);
  if (isa<IntegerType>(a.getType()))
    return arith::AddIOp::create(inner, at, in[2], arith::MulIOp::create(inner, at, a, w));
  return arith::AddFOp::create(inner, at, in[2], arith::MulFOp::create(inner, at, a, w, anyOrder), anyOrder);
}

void ProductEmitter::emitSlice(const Slice &slice) {
  loops = reductions = 0;
  const bool hasGates = !isTransposed && sums.gates > 1, isPacked = view.block > 1;
  AffineExpr zero = b.getAffineConstantExpr(0);
  AffineExpr n = addLoop(), gate = hasGates ? addLoop() : zero, panel = addLoop(), column = isPacked ? addLoop() : zero;
  if (isTransposed)
    gate = addReduction();
  AffineExpr group = addReduction(); // even for one group: otherwise `pair` would have to span all of x
  AffineExpr pair = slice.pairs > 1 ? addReduction() : zero;

  SmallVector<int64_t> offsets = {0, slice.firstGroup, isTransposed ? 0 : sums.firstGate};
  SmallVector<int64_t> extents = {view.panels(), slice.groups, isTransposed ? view.gates : sums.gates};
  SmallVector<AffineExpr> address = {panel, group, gate};
  if (isPacked)
    offsets.push_back(0), extents.push_back(view.block), address.push_back(column);
  if (view.kPack > 1)
    offsets.push_back(0), extents.push_back(slice.pairs), address.push_back(pair);
  SmallVector<OpFoldResult> sizes =
      llvm::map_to_vector(extents, [&](int64_t size) -> OpFoldResult { return b.getIndexAttr(size); });
  Value part = partOf(step, weights, offsets, sizes);

  AffineExpr k = (slice.firstGroup + group) * view.kPack + pair, output = panel * view.block + column;
  SmallVector<AffineExpr> row = {n, k}, sum = {n, output};
  if (isTransposed)
    row.insert(row.begin() + 1, gate);
  if (hasGates)
    sum.insert(sum.begin() + 1, gate);
  auto mapOf = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(loops, 0, results, b.getContext()); };
  Operation *op =
      emitOp(step, {x, part}, columnsOf(step, sums, view.width()), {mapOf(row), mapOf(address), mapOf(sum)}, reductions,
             [&](OpBuilder &inner, Location at, ValueRange in) { return emitBody(inner, at, in); });
  if (view.element == DataType::F32 && mayRound(fpmath))
    addRelaxation(op, Relaxation::Bf16);
}

/// Allocates dense f32 memory with the shape of `like`.
Value memorySizedAs(StepEmitter &step, Value like) {
  auto shape = cast<MemRefType>(like.getType()).getShape();
  return memref::AllocOp::create(step.builder, step.loc, MemRefType::get(shape, step.builder.getF32Type()));
}

void addElements(StepEmitter &step, Value to, Value values) {
  const auto rank = static_cast<unsigned>(cast<MemRefType>(to.getType()).getRank());
  const AffineMap identity = step.builder.getMultiDimIdentityMap(rank);
  emitOp(step, values, to, {identity, identity}, 0,
         [](OpBuilder &b, Location at, ValueRange in) -> Value { return arith::AddFOp::create(b, at, in[1], in[0]); });
}

/// Adds the products of two factors to `sums`.
Operation *addProductBy(StepEmitter &step, Value sums, Value left, Value right, ArrayRef<AffineMap> maps,
                        unsigned reductions) {
  return emitOp(step, {left, right}, sums, maps, reductions, [](OpBuilder &b, Location at, ValueRange in) -> Value {
    Value term = arith::MulFOp::create(b, at, inF32(b, at, in[0]), inF32(b, at, in[1]), anyOrder);
    return arith::AddFOp::create(b, at, in[2], term, anyOrder);
  });
}

} // namespace

/// Returns the view of matrices whose row index is dim `row` and whose column index is dim `column`.
WeightsView WeightsView::between(const TensorDesc &weights, int row, int column, int64_t gates, bool mergesGates,
                                 MLIRContext *context) {
  Builder builder(context);
  const bool hasGates = weights.ndims == 5;
  constexpr int gate = 3;
  WeightsView view;
  view.element = weights.dataType;
  view.inputs = weights.dims[row], view.gates = hasGates ? gates : 1, view.outputs = weights.dims[column];
  int64_t blocks[maxDims];
  weights.blockSizes(blocks);
  view.block = blocks[column], view.kPack = blocks[row];
  int64_t groups = (view.inputs + view.kPack - 1) / view.kPack, gateStride = hasGates ? weights.strides[gate] : 1;
  if (mergesGates && view.gates > 1 && gateStride == groups * weights.strides[row] && view.inputs % view.kPack == 0)
    view.inputs *= view.gates, groups *= view.gates, view.gates = 1;
  SmallVector<int64_t> shape = {view.panels(), groups, view.gates};
  SmallVector<int64_t> strides = {weights.strides[column], weights.strides[row], gateStride};
  if (view.block > 1)
    shape.push_back(view.block), strides.push_back(view.kPack);
  if (view.kPack > 1)
    shape.push_back(view.kPack), strides.push_back(1);
  view.type = MemRefType::get(shape, elementType(view.element, builder),
                              StridedLayoutAttr::get(context, weights.offset0, strides));
  return view;
}

WeightsView WeightsView::of(const TensorDesc &weights, MLIRContext *context) {
  return between(weights, 2, weights.ndims - 1, weights.dims[3], /*mergesGates=*/false, context);
}

WeightsView WeightsView::transposed(const TensorDesc &weights, int64_t gates, MLIRContext *context) {
  return between(weights, weights.ndims - 1, 2, gates, /*mergesGates=*/true, context);
}

Operation *rnn::emitOp(StepEmitter &step, ValueRange inputs, Value output, ArrayRef<AffineMap> maps,
                       unsigned reductions, ElementBody body) {
  SmallVector<utils::IteratorType> kinds(maps[0].getNumDims(), utils::IteratorType::parallel);
  std::fill(kinds.end() - reductions, kinds.end(), utils::IteratorType::reduction);
  return linalg::GenericOp::create(
      step.builder, step.loc, inputs, ValueRange{output}, maps, kinds,
      [&](OpBuilder &b, Location at, ValueRange in) { linalg::YieldOp::create(b, at, body(b, at, in)); });
}

Sums rnn::clearSums(StepEmitter &step, Value memref, int64_t firstGate, int64_t gates) {
  Type type = cast<MemRefType>(memref.getType()).getElementType();
  Value zero = arith::ConstantOp::create(step.builder, step.loc, step.builder.getZeroAttr(type));
  linalg::FillOp::create(step.builder, step.loc, zero, memref);
  return {memref, firstGate, gates};
}

Sums rnn::makeSums(StepEmitter &step, Value rows, int64_t width, bool isInteger, int64_t firstGate, int64_t gates) {
  OpBuilder &b = step.builder;
  SmallVector<int64_t> shape = {cast<MemRefType>(rows.getType()).getDimSize(0), width};
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
  ProductEmitter(step, sums, x, rows, weights, view, fpmath, /*isTransposed=*/false).emit();
}

void rnn::addTransposedProduct(StepEmitter &step, const Sums &sums, Value gradients, DataType rows, Value weights,
                               const WeightsView &view, FpmathMode fpmath) {
  ProductEmitter(step, sums, gradients, rows, weights, view, fpmath, /*isTransposed=*/true).emit();
}

void rnn::addSeparateProduct(StepEmitter &step, Value sums, Value x, Value weights) {
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
  clearSums(step, sums, 0, 1);
  addProductBy(step, sums, x, weights, {mapOf({dim(0), dim(k)}), mapOf(address), mapOf({dim(0), output})}, 1);
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
  Operation *op = addProductBy(step, sums, left, right, maps, ofK);
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
  MLIRContext *context = step.builder.getContext();
  AffineExpr gate, column, k;
  bindDims(context, gate, column, k);
  auto mapOf = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(3, 0, results, context); };
  const Value sums = clearSums(step, isAdded ? memorySizedAs(step, to) : to, 0, 1).memref;
  SmallVector<Value> inputs = {values};
  SmallVector<AffineMap> maps = {mapOf({k, gate, column})};
  if (factors)
    inputs.push_back(factors), maps.push_back(mapOf({k, column}));
  if (remaining)
    inputs.push_back(remaining), maps.push_back(mapOf(k));
  maps.push_back(mapOf({gate, column}));
  emitOp(step, inputs, sums, maps, 1, [&](OpBuilder &b, Location at, ValueRange in) -> Value {
    Value term = inF32(b, at, in[0]);
    if (factors)
      term = arith::MulFOp::create(b, at, term, in[1], anyOrder);
    if (remaining) { // the factors are unspecified after the end of a sequence
      Value none = arith::ConstantOp::create(b, at, b.getI32IntegerAttr(0));
      Value isAlive = arith::CmpIOp::create(b, at, arith::CmpIPredicate::sgt, in[2], none);
      Value nothing = arith::ConstantOp::create(b, at, b.getF32FloatAttr(0));
      term = arith::SelectOp::create(b, at, isAlive, term, nothing);
    }
    return arith::AddFOp::create(b, at, in.back(), term, anyOrder);
  });
  if (isAdded)
    addElements(step, to, sums);
}

void rnn::emitColumnSums(StepEmitter &step) {
  MLIRContext *context = step.builder.getContext();
  AffineExpr gate, output, input;
  bindDims(context, gate, output, input);
  AffineMap maps[] = {AffineMap::get(3, 0, {output, input, gate}, context),
                      AffineMap::get(3, 0, {gate, output}, context)};
  clearSums(step, step["sums"], 0, 1);
  emitOp(step, step["weights"], step["sums"], maps, 1, [](OpBuilder &b, Location at, ValueRange in) -> Value {
    Value weight = arith::SIToFPOp::create(b, at, b.getF32Type(), in[0]);
    return arith::AddFOp::create(b, at, in[1], weight, arith::FastMathFlags::reassoc);
  });
}

Value rnn::withoutPadding(StepEmitter &step, const Sums &sums, const WeightsView &view) {
  return columnsOf(step, sums, view.outputs);
}
