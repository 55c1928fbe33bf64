//===- Transfers.cpp - Copies before and after the steps of an RNN --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Rnn/Emit/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cstddef>
#include <cstring>
#include <utility>

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

/// Copies src_layer in the type that products read, unless they read src_layer itself: at once if its rows have a
/// constant distance, otherwise step by step.
void RnnEmitter::emitInputFactors() {
  if (!context.roundsRows() && !separate)
    return;
  const TensorDesc &src = rnn.srcLayer;
  const bool isEven = !src.hasRuntimeDims() && (s.batch == 1 || src.strides[0] == s.batch * src.strides[1]);
  AffineExpr t = isEven ? program.number(0) : program.beginLoop(states.steps());
  Rows from = states.tensor("src_layer", src, t), to = states.inputFactorsAt(t);
  if (isEven) {
    from.count = to.count = s.steps * s.batch;
    from.row = s.batch == 1 ? src.strides[0] : from.row;
  }
  rows.emitCopy(
      context.roundsRows() ? "rnn_round" : "rnn_copy", from, to,
      [&](OpBuilder &b, Location loc, ValueRange in) {
        return context.roundsRows() ? roundedFactor(b, loc, in[0], to.type)
                                    : emitState(b, loc, context, in[0], from.type, to.type);
      },
      {}, false);
  if (!isEven)
    program.endLoop();
}

void RnnEmitter::emitStart(int64_t layer) {
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    bool independent = direction > 0;
    if (!states.startsInPlace(layer) && readsState())
      rows.emitStart("src_iter", rnn.srcIter, layer, direction, states.startOf(layer, direction),
                     std::exchange(independent, true));
    if (context.roundsRows())
      rows.emitStart("src_iter", rnn.srcIter, layer, direction, states.startFactorOf(layer, direction),
                     std::exchange(independent, true));
    if (isLstm(rnn))
      rows.emitStart("src_iter_c", rnn.srcIterC, layer, direction, cellsStart(layer, direction), independent);
  }
}

void RnnEmitter::emitFinish(int64_t layer) {
  bool independent = false;
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    const SmallVector<AffineExpr> at = {program.number(layer), program.number(direction)};
    AffineExpr last = states.isReversed(direction) ? program.number(0) : states.stepsDone() - 1;
    if (!rnn.dstIter.isZero()) {
      Rows from = states.stateAt(layer, direction, last), to = states.tensor("dst_iter", rnn.dstIter, at);
      rows.emitCopy(
          "rnn_finish", from, to,
          [&](OpBuilder &b, Location loc, ValueRange in) -> Value {
            return emitState(b, loc, context, in[0], from.type, to.type);
          },
          {}, std::exchange(independent, true));
    }
    if (!rnn.dstIterC.isZero())
      rows.emitCopy(
          "rnn_finish_cells", cellsAt(layer, direction, last), states.tensor("dst_iter_c", rnn.dstIterC, at),
          [&](OpBuilder &b, Location loc, ValueRange in) { return narrowed(b, loc, in[0], rnn.dstIterC.dataType); }, {},
          std::exchange(independent, true));
  }
}

/// Copies the states of the last layer to dst_layer, unless the steps wrote them there.
void RnnEmitter::emitResult() {
  const int64_t last = s.layers - 1;
  if (states.isResult(last))
    return;
  const bool isSum = rnn.direction == RnnDirection::BidirectionalSum;
  const DataType type = rnn.dstLayer.dataType;
  const bool isWide = isQuantized(rnn) && type == DataType::F32; // dequantized numbers, not stored states
  AffineExpr t = s.steps == 1 ? program.number(0) : program.beginLoop(states.steps());
  for (int64_t direction = 0; direction < (isSum ? 1 : s.directions); ++direction) {
    Rows to = states.tensor("dst_layer", rnn.dstLayer, t);
    to.channels = states.dic;
    to.bytes = to.bytes + direction * s.dic * to.channel * bytesOf(type);
    SmallVector<Rows, 2> from = {states.stateAt(last, direction, t)};
    if (isSum)
      from.push_back(states.stateAt(last, 1, t));
    auto number = [&](OpBuilder &b, Location loc, Value stored) {
      return isWide ? emitNumber(b, loc, context, stored) : widened(b, loc, stored, context.state(), b.getF32Type());
    };
    rows.emitCopy(
        "rnn_result", from, to,
        [&](OpBuilder &b, Location loc, ValueRange in) -> Value {
          Value result = in[0];
          if (isSum)
            result =
                narrowed(b, loc, arith::AddFOp::create(b, loc, number(b, loc, in[0]), number(b, loc, in[1])), type);
          else
            result = emitState(b, loc, context, in[0], from[0].type, to.type);
          if (!states.hasLengths)
            return result;
          Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
          zero = isWide ? zero : emitStored(b, loc, context, zero);
          Value none = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
          Value isAlive = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, in[from.size()], none);
          return arith::SelectOp::create(b, loc, isAlive, result, zero);
        },
        states.hasLengths ? t : AffineExpr(), direction > 0);
  }
  if (s.steps != 1)
    program.endLoop();
}

/// Copies the states of both directions into one matrix for the layer above, in training with a projection and
/// concatenated directions, because the workspace stores the directions separately.
void RnnEmitter::emitStacked(int64_t layer) {
  if (!states.isKept || context.roundsRows() || s.directions == 1 || !(rnn.flags & RnnStackConcatenated) ||
      layer + 1 == s.layers)
    return;
  AffineExpr t = s.steps == 1 ? program.number(0) : program.beginLoop(states.steps());
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    Rows to = states.stackedAt(t);
    to.channels = s.dic;
    to.bytes = to.bytes + direction * s.dic * bytesOf(to.type);
    rows.emitCopy(
        "rnn_stack", states.stateAt(layer, direction, t), to,
        [](OpBuilder &, Location, ValueRange in) { return in[0]; }, {}, direction > 0);
  }
  if (s.steps != 1)
    program.endLoop();
}

/// Writes a dim of src_layer to the header. Steps cannot read sizes as values, so the size is computed as a sum of
/// ones.
void RnnEmitter::emitHeaderSize(int dim, int64_t byte) {
  const Extent size = states.dimOf("src_layer", rnn.srcLayer, dim);
  const std::string region = "ones" + std::to_string(dim);
  program.addRegion(region, states.expr(size) * bytesOf(DataType::S32));
  Binding ones{
      "ones", MemRefType::get({1, ShapedType::kDynamic}, builder.getI32Type()), {region, program.number(0)}, {}};
  ones.openDim = size.entry;
  program.call("rnn_ones", ones, [&](StepEmitter &step) {
    Value one = arith::ConstantOp::create(step.builder, step.loc, step.builder.getI32IntegerAttr(1));
    linalg::FillOp::create(step.builder, step.loc, one, step["ones"]);
  });
  Binding to{"to", MemRefType::get({1}, builder.getI32Type()), {"workspace", program.number(byte)}};
  program.call("rnn_header_size", {ones, to}, [&](StepEmitter &step) {
    clearSums(step, step["to"], 0, 1);
    const AffineMap identity = builder.getMultiDimIdentityMap(2);
    emitOp(
        step, step["ones"], step["to"], {identity, identity.dropResult(1)}, 1,
        [](OpBuilder &b, Location at, ValueRange in) -> Value { return arith::AddIOp::create(b, at, in[1], in[0]); });
  });
}

/// Writes the workspace header, by which backward recognizes the workspace.
void RnnEmitter::emitHeader() {
  if (!states.isTraining)
    return;
  WorkspaceHeader header = workspaceHeaderOf(rnn);
  int32_t words[workspaceHeaderBytes / sizeof(int32_t)];
  std::memcpy(words, &header, sizeof(header));
  MemRefType type = MemRefType::get({std::size(words)}, builder.getI32Type());
  Binding to{"header", type, {"workspace", program.number(0)}};
  program.call("rnn_header", to, [&](StepEmitter &step) {
    auto data = DenseElementsAttr::get(RankedTensorType::get(type.getShape(), type.getElementType()), ArrayRef(words));
    emitConstants(step, step["header"], "rnn_header_words", data);
  });
  if (s.steps == runtimeDim)
    emitHeaderSize(0, offsetof(WorkspaceHeader, steps));
  if (s.batch == runtimeDim)
    emitHeaderSize(1, offsetof(WorkspaceHeader, batch));
}
