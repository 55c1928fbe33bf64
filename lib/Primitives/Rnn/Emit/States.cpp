//===- States.cpp - Memory of an RNN's states -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Emit/States.h"

#include "Primitives/Emission/Tensors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

States::States(const VerifiedProblem &problem, const CellContext &context, Program &program)
    : padding(isBackward(context.rnn) && context.shape.isOpen() ? chunkRows : 0),
      isTraining(context.rnn.prop == PropKind::ForwardTraining),
      isKept(isTraining && !context.rnn.weightsProjection.isZero()), hasLengths(!context.rnn.seqLengths.isZero()),
      sequences(context.shape.batch, openBatch(problem)), slc(context.shape.slc, openWidth(problem, 2)),
      sic(context.shape.sic, openWidth(problem, 4)), dhc(context.shape.dhc, sic.entry),
      dic(context.shape.dic, sic.entry), problem(problem), rnn(context.rnn), s(context.shape), program(program),
      state(context.memory), factor(context.factor()) {
  for (const ArgumentInfo &argument : problem.arguments)
    sizeCount += argument.runtimeSizes();
  const bool isGradient = rnn.prop == PropKind::Backward;
  if (isTraining || isGradient)
    workspace = *workspaceOf(rnn); // checked by the verifier
  lastIsResult = canBeResult();
  // The runtime finds the longest sequence from the start of the buffer, so the tensor must have no offset.
  countsSteps = hasLengths && !isTraining && !isGradient && s.steps != 1 && rnn.seqLengths.offset0 == 0;
}

/// With open widths, the first step would need separate kernels, because it reads memory with another stride.
bool States::canBeResult() const {
  const TensorDesc &dst = rnn.dstLayer;
  return !isKept && !hasLengths && !hasOpenWidths(rnn) && dst.dataType == state &&
         rnn.direction != RnnDirection::BidirectionalSum && dst.strides[2] == 1;
}

int64_t States::indexOf(const VerifiedProblem &problem, StringRef name, int dim, bool isStride) {
  int64_t index = 0;
  for (const ArgumentInfo &argument : problem.arguments) {
    const TensorDesc &desc = argument.desc;
    if (StringRef(argument.name) != name) {
      index += argument.runtimeSizes();
      continue;
    }
    index += llvm::count(ArrayRef(desc.dims, static_cast<size_t>(isStride ? desc.ndims : dim)), runtimeDim);
    return index + (isStride ? llvm::count(ArrayRef(desc.strides, static_cast<size_t>(dim)), runtimeDim) : 0);
  }
  return -1;
}

int64_t States::openBatch(const VerifiedProblem &problem) {
  const RnnDesc &rnn = std::get<Boxed<RnnDesc>>(problem.desc.op);
  return rnn.srcLayer.dims[1] == runtimeDim ? indexOf(problem, "src_layer", 1, false) : -1;
}

int64_t States::workspaceSize(int size) const {
  int64_t index = size;
  for (const ArgumentInfo &argument : problem.arguments) {
    if (argument.index == arg::workspace)
      break;
    index += argument.runtimeSizes();
  }
  return index;
}

int64_t States::openWidth(const VerifiedProblem &problem, int dim) {
  const RnnDesc &rnn = std::get<Boxed<RnnDesc>>(problem.desc.op);
  return hasOpenWidths(rnn) ? indexOf(problem, "weights_layer", dim, false) : -1;
}

DataType States::memoryOf(const VerifiedProblem &problem) {
  for (const ArgumentInfo &copy : problem.intermediates)
    if (copy.index == arg::src)
      return copy.desc.dataType;
  return std::get<Boxed<RnnDesc>>(problem.desc.op)->srcLayer.dataType;
}

Rows States::ofAll(Rows rows) const {
  rows.count = isOpen() ? Extent(runtimeDim, workspaceSize(WorkspaceRows)) : Extent(s.steps * s.batch);
  return rows;
}

Extent States::dimOf(StringRef name, const TensorDesc &desc, int dim) const {
  return {desc.dims[dim], desc.dims[dim] == runtimeDim ? indexOf(problem, name, dim, false) : -1};
}

Extent States::strideOf(StringRef name, const TensorDesc &desc, int dim) const {
  return {desc.strides[dim], desc.strides[dim] == runtimeDim ? indexOf(problem, name, dim, true) : -1};
}

Extent States::blocksOf(StringRef name, const TensorDesc &desc, int dim) const {
  int64_t blocks[maxDims];
  desc.blockSizes(blocks);
  if (blocks[dim] == 1)
    return dimOf(name, desc, dim);
  if (desc.dims[dim] != runtimeDim)
    return static_cast<int64_t>(llvm::divideCeil(desc.dims[dim], blocks[dim]));
  const int64_t behind =
      llvm::count_if(llvm::seq(dim, desc.ndims), [&](int d) { return desc.dims[d] == runtimeDim && blocks[d] > 1; });
  return {runtimeDim, indexOf(problem, name, 0, false) + desc.runtimeSizes() - behind};
}

Extent States::computed(AffineExpr value) {
  if (auto constant = dyn_cast<AffineConstantExpr>(value))
    return constant.getValue();
  if (auto entry = dyn_cast<AffineSymbolExpr>(value))
    return {runtimeDim, entry.getPosition()};
  program.addSize(value);
  return {runtimeDim, sizeCount + countsSteps + computedCount++};
}

/// Returns matrix `slot` of a region of `slots` dense matrices.
Rows States::matrixOf(StringRef name, DataType type, Extent channels, AffineExpr slot, AffineExpr slots) {
  const AffineExpr bytes = batch() * (expr(channels) * bytesOf(type));
  program.addRegion(name, slots * bytes);
  return {name.str(), type, channels, channels, 1, 0, slot * bytes};
}

Binding States::bind(StringRef name, const Rows &rows) const {
  MLIRContext *context = rows.bytes.getContext();
  Builder builder(context);
  Type element = elementType(rows.type, builder);
  if (rows.channels.isOpen())
    return bind(name, {rows.buffer, rows.bytes}, rows.type,
                {{rows.count.value_or(sequences), rows.row}, {rows.channels, rows.channel}}, rows.offset);
  const int64_t n = rows.count.value_or(sequences).number, channels = rows.channels.number;
  bool isDense = rows.offset == 0 && rows.channel == 1 && rows.row == rows.channels;
  MemRefType type =
      isDense ? MemRefType::get({n, channels}, element)
              : MemRefType::get({n, channels}, element,
                                StridedLayoutAttr::get(context, rows.offset, {rows.row.number, rows.channel}));
  Binding binding{name.str(), type, {rows.buffer, rows.bytes}};
  binding.openDim = rows.count ? rows.count->entry : -1;
  if (rows.row.isOpen())
    binding.openStrides.push_back(rows.row.entry);
  return binding;
}

Binding States::bind(StringRef name, BufferOffset place, DataType type, ArrayRef<Dim> dims, int64_t offset) const {
  static_assert(runtimeDim == ShapedType::kDynamic);
  Builder builder(place.bytes.getContext());
  Binding binding{name.str(), {}, std::move(place)};
  SmallVector<int64_t> shape, strides;
  for (const auto &[size, stride] : dims) {
    shape.push_back(size.number), strides.push_back(stride.number);
    if (size.isOpen())
      binding.openDims.push_back(size.entry);
    if (stride.isOpen())
      binding.openStrides.push_back(stride.entry);
  }
  binding.type =
      MemRefType::get(shape, elementType(type, builder), StridedLayoutAttr::get(builder.getContext(), offset, strides));
  return binding;
}

Rows States::tensor(StringRef name, const TensorDesc &desc, ArrayRef<AffineExpr> at) const {
  auto rowDim = static_cast<int>(at.size());
  Rows rows{name.str(),
            desc.dataType,
            dimOf(name, desc, rowDim + 1),
            strideOf(name, desc, rowDim),
            desc.strides[rowDim + 1],
            desc.offset0,
            number(0)};
  for (auto [dim, index] : llvm::enumerate(at))
    rows.bytes = rows.bytes + index * (expr(strideOf(name, desc, static_cast<int>(dim))) * bytesOf(desc.dataType));
  return rows;
}

Rows States::scratch(StringRef name, DataType type, Extent channels, int64_t index) {
  const bool isPerLayer = name == "cells";
  return matrixOf(name, type, channels, number(index), number(s.directions * (isPerLayer ? s.layers : 1)));
}

Rows States::ofSteps(StringRef name, DataType type, Extent channels, int64_t direction, AffineExpr t,
                     AffineExpr slots) {
  const AffineExpr row = expr(channels) * bytesOf(type);
  AffineExpr whole = ((slots ? slots : steps()) * batch() + padding) * row;
  program.addRegion(name, whole * s.directions);
  return {name.str(), type, channels, channels, 1, 0, t * (batch() * row) + whole * direction};
}

Rows States::section(WorkspacePart part, int64_t channels, int64_t index, AffineExpr t) const {
  const WorkspaceSection &found = *workspace.find(part);
  const auto position = static_cast<int>(&found - workspace.sections.data());
  const bool isMoved = isOpen() && position > 0;
  AffineExpr stepBytes = batch() * (channels * bytesOf(found.desc.dataType));
  AffineExpr bytes = isMoved ? program.size(workspaceSize(WorkspaceOffsets + position - 1)) : number(found.byteOffset);
  bytes = bytes + (t ? steps() : number(1)) * stepBytes * index;
  if (t)
    bytes = bytes + t * stepBytes;
  return {"workspace", found.desc.dataType, channels, channels, 1, 0, bytes};
}

Rows States::stackOf(StringRef name, DataType type, int64_t layer, AffineExpr t) {
  const Extent row = s.directions == 1 ? dic : Extent(s.directions * s.dic);
  return matrixOf(name.str() + std::to_string(layer % 2), type, row, t + 1, steps() + 2);
}

Rows States::statesAt(int64_t layer, AffineExpr t) { return stackOf("states", state, layer, t); }
Rows States::factorsAt(int64_t layer, AffineExpr t) { return stackOf("factors", factor, layer, t); }

Rows States::factorAt(int64_t layer, int64_t direction, AffineExpr t) {
  Rows rows = factorsAt(layer, t);
  rows.channels = dic;
  rows.bytes = rows.bytes + direction * s.dic * bytesOf(factor);
  return rows;
}

Rows States::startFactorOf(int64_t layer, int64_t direction) {
  return factorAt(layer, direction, isReversed(direction) ? stepsDone() : number(-1));
}

Rows States::inputFactorsAt(AffineExpr t) {
  return matrixOf(factor == state ? "inputs_dense" : "inputs_rounded", factor, slc, t, steps());
}

Rows States::stackedAt(AffineExpr t) { return matrixOf("stacked", state, s.directions * s.dic, t, steps()); }

Rows States::scratchOfSteps(StringRef name, DataType type) {
  program.addRegion(name, (steps() * batch() + padding) * bytesOf(type));
  return {name.str(), type, 1, 1, 1, 0, number(0)};
}

Rows States::stateAt(int64_t layer, int64_t direction, AffineExpr t) {
  if (isKept)
    return section(WorkspacePart::States, s.dic, layer * s.directions + direction, t);
  Rows rows = isResult(layer) ? tensor("dst_layer", rnn.dstLayer, t) : statesAt(layer, t);
  rows.channels = dic;
  rows.bytes = rows.bytes + direction * s.dic * bytesOf(state);
  return rows;
}

bool States::startsInPlace(int64_t layer) const {
  const TensorDesc &src = rnn.srcIter;
  if (src.isZero() || isKept || src.dataType != state || src.strides[3] != 1 || !startsApart(layer))
    return false;
  return s.steps == 1 || (src.strides[2] == rnn.dstLayer.strides[1] && src.strides[2] != runtimeDim &&
                          src.offset0 == rnn.dstLayer.offset0);
}

Rows States::startOf(int64_t layer, int64_t direction) {
  if (startsInPlace(layer))
    return tensor("src_iter", rnn.srcIter, {number(layer), number(direction)});
  if (!startsApart(layer))
    return stateAt(layer, direction, isReversed(direction) ? stepsDone() : number(-1));
  Rows rows = stateAt(layer, direction, number(0));
  if (s.steps == 1 || rows.row.isOpen())
    return scratch("start", state, sic, direction);
  const int64_t row = std::max(rows.row.number, s.sic); // the stride is meaningless for a single sequence
  program.addRegion("start", batch() * (row * bytesOf(state) * s.directions) + rows.offset * bytesOf(state));
  rows.buffer = "start";
  rows.channels = sic;
  rows.bytes = batch() * (row * bytesOf(state) * direction);
  return rows;
}
