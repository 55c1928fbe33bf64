//===- BackwardSums.cpp - Gradients of an RNN's inputs and weights --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sums over all time steps and sequences: one product for each tensor, layer and direction.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Emit/Backward.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

namespace {

/// Sets "to" to the sums of "terms" over the last of `loops` loops.
void emitSums(StepEmitter &step, unsigned loops) {
  clearSums(step, step["to"], 0, 1);
  const AffineMap identity = step.builder.getMultiDimIdentityMap(loops);
  emitOp(step, step["terms"], step["to"], {identity, identity.dropResult(loops - 1)}, 1,
         [](OpBuilder &b, Location at, ValueRange in) -> Value {
           return arith::AddFOp::create(b, at, in[1], in[0], arith::FastMathFlags::reassoc);
         });
}

} // namespace

Binding RnnBackwardEmitter::allOf(StringRef name, const Rows &from, int64_t timeStride) const {
  Binding binding = states.bind(name, states.isOpen() ? states.ofAll(from) : from);
  Type element = binding.type.getElementType();
  const int64_t channels = from.channels.number, row = from.row.number;
  if (states.isOpen()) {
    binding.type = MemRefType::get({ShapedType::kDynamic, channels}, element,
                                   StridedLayoutAttr::get(builder.getContext(), 0, {row, from.channel}));
  } else if (isEven(from, timeStride)) {
    const int64_t every = s.batch == 1 ? timeStride : row;
    binding.type = MemRefType::get({count(Span::All), channels}, element,
                                   StridedLayoutAttr::get(builder.getContext(), from.offset, {every, from.channel}));
  } else {
    binding.type =
        MemRefType::get({s.steps, s.batch, channels}, element,
                        StridedLayoutAttr::get(builder.getContext(), from.offset, {timeStride, row, from.channel}));
  }
  return binding;
}

Binding RnnBackwardEmitter::factor(llvm::function_ref<Rows(AffineExpr)> at, int64_t timeStride, int64_t direction) {
  // With a single channel, the product may be a sum of one element, which needs K as one loop: uneven rows are copied.
  const Rows first = at(program.number(0));
  if (!states.hasLengths && !states.isOpen() && (isEven(first, timeStride) || first.channels.number > 1))
    return allOf("x", first, timeStride);
  AffineExpr t = program.beginLoop(states.steps());
  Rows from = at(t);
  const int64_t widest = widestFactor();
  auto placeAt = [&](AffineExpr time) {
    Rows to = states.ofSteps("factor", context.state(), widest, direction, time);
    to.channels = from.channels;
    return to;
  };
  rows.emitCopy("rnn_factor", from, placeAt(t), states.hasLengths ? firstIfAlive : rnn::first,
                states.hasLengths ? t : AffineExpr());
  program.endLoop();
  return allOf("x", placeAt(program.number(0)), everyStep(widest));
}

void RnnBackwardEmitter::inChunks(MutableArrayRef<Binding> parts, llvm::function_ref<void()> call) {
  if (!states.isOpen())
    return call();
  AffineExpr chunk = program.beginLoop(program.size(states.workspaceSize(WorkspaceChunks)));
  for (Binding &part : parts) {
    auto [strides, offset] = part.type.getStridesAndOffset();
    SmallVector<int64_t> shape(part.type.getShape());
    shape[0] = chunkRows;
    const int64_t rowBytes = strides[0] * part.type.getElementTypeBitWidth() / 8;
    part.place.bytes = part.place.bytes + chunk * (chunkRows * rowBytes);
    part.type = MemRefType::get(shape, part.type.getElementType(),
                                StridedLayoutAttr::get(builder.getContext(), offset, strides));
    part.openDim = -1;
  }
  call();
  program.endLoop();
}

void RnnBackwardEmitter::fill(StringRef kind, const Binding &to) {
  program.call(kind, {to}, [&](StepEmitter &step) { clearSums(step, step[to.name], 0, 1); });
}

/// Emits the product of the gates' gradients and W^T. Both directions add to one result for the first layer and for
/// concatenated stacks; otherwise each direction has its own result.
void RnnBackwardEmitter::emitInputDiff(int64_t layer, int64_t direction) {
  if (layer == 0 && rnn.diffSrcLayer.isZero())
    return;
  const bool isShared = layer == 0 || isStacked(), isLast = direction + 1 == s.directions;
  const TensorDesc &result = rnn.diffSrcLayer;
  const bool isDirect =
      layer > 0 || (!states.isOpen() && (result.strides[2] == 1 || s.slc == 1) &&
                    (s.batch == 1 || s.steps == 1 || result.strides[0] == s.batch * result.strides[1]));
  Rows to;
  if (layer > 0)
    to = inputDiff(isStacked() ? 0 : direction, program.number(0));
  else if (isDirect)
    to = states.tensor("diff_src_layer", result, program.number(0));
  else
    to = states.ofSteps("src_diff", DataType::F32, s.slc, 0, program.number(0));
  if (layer == 0 && isDirect && s.batch == 1)
    to.row = result.strides[0];
  to = states.ofAll(to);
  WeightsView view = this->layer.viewOf(s.gates);
  Bindings bindings = {
      delta("delta_after", factorsOf("delta"), direction, program.number(0), {0, s.gates}, Span::All, &view),
      this->layer.bindGates("u", layer, direction, 0, s.gates, program)};
  if (isShared && direction > 0)
    bindings.push_back(states.bind("carry_after", to));
  bindings.push_back(states.bind("start_diff", to));
  program.call("rnn_input_diff", bindings, [&](StepEmitter &step) {
    CellContext read = context;
    read.shape.sic = s.slc;
    rnn::emitStartDiff(step, read, view);
  });
  if (isDirect || !isLast)
    return;
  AffineExpr t = program.beginLoop(states.steps());
  rows.emitCopy("rnn_scatter", states.ofSteps("src_diff", DataType::F32, s.slc, 0, t),
                states.tensor("diff_src_layer", result, t), first);
  program.endLoop();
}

/// Emits a product into the gradient of weights, through a dense matrix if neither of its dims is contiguous.
void RnnBackwardEmitter::emitOuter(const Outer &outer, Binding left, Binding right) {
  const TensorDesc &desc = outer.desc;
  const bool hasGates = desc.ndims == 5;
  const int last = desc.ndims - 1;
  const int64_t inputs = left.type.getShape().back(), gates = hasGates ? outer.gates.count : 1,
                outputs = desc.dims[last], ofInput = desc.strides[2], ofGate = hasGates ? desc.strides[3] : 0,
                ofOutput = gates > 1 && outputs == 1 ? ofGate : desc.strides[last];
  const bool isMerged = gates == 1 || ofGate == outputs * ofOutput;
  const bool hasAdjacentColumns = ofOutput == 1 && (isMerged ? gates * outputs : outputs) > 1;
  const bool isDirect = hasAdjacentColumns || (isMerged && ofInput == 1 && inputs > 1);
  const int64_t firstElement = outer.layer * desc.strides[0] + outer.direction * desc.strides[1] +
                               outer.firstRow * ofInput + outer.gates.first * ofGate;
  MLIRContext *mlir = builder.getContext();
  BufferOffset place{outer.tensor.str(), program.number(firstElement * bytesOf(DataType::F32))};
  SmallVector<int64_t> shape = {inputs}, strides = {isDirect ? ofInput : gates * outputs};
  if (gates > 1 && isDirect && !isMerged)
    shape.push_back(gates), strides.push_back(ofGate), shape.push_back(outputs), strides.push_back(ofOutput);
  else
    shape.push_back(gates * outputs), strides.push_back(isDirect ? ofOutput : 1);
  Binding to{
      "to",
      MemRefType::get(shape, builder.getF32Type(), StridedLayoutAttr::get(mlir, isDirect ? desc.offset0 : 0, strides)),
      place};
  const std::string dense = (outer.tensor + "_dense").str();
  if (!isDirect) {
    program.addRegion(dense, // size for all calls, some of which use part of the rows or gates
                      program.number(desc.dims[2] * (hasGates ? s.gates : 1) * outputs * bytesOf(DataType::F32)));
    to.place = {dense, program.number(0)};
  }
  // The rows of the gradients are split into time and sequences as in the left factor.
  const int64_t row = right.type.getStridesAndOffset().first[0];
  SmallVector<int64_t> ofRight(left.type.getShape().drop_back()), rightStrides = {row};
  right.openDim = left.openDim;
  if (ofRight.size() == 2)
    rightStrides.insert(rightStrides.begin(), row * s.batch);
  ofRight.append(shape.begin() + 1, shape.end());
  if (shape.size() == 3)
    rightStrides.push_back(outputs);
  rightStrides.push_back(1);
  right.type = MemRefType::get(ofRight, right.type.getElementType(), StridedLayoutAttr::get(mlir, 0, rightStrides));

  const bool clears = overwrites() || !isDirect;
  const bool clearsFirst = clears && states.isOpen();
  if (clearsFirst)
    fill("rnn_outer_cleared", to);
  Bindings bindings = {left, right, to};
  inChunks(MutableArrayRef(bindings).take_front(2), [&] {
    const bool writes = clears && !clearsFirst;
    const auto add = !writes && inputs * gates * outputs == 1 ? addOuterProductApart : addOuterProduct;
    program.call(writes ? "rnn_outer_written" : "rnn_outer", bindings, [&](StepEmitter &step) {
      if (writes)
        clearSums(step, step["to"], 0, 1);
      add(step, step["to"], step[left.name], step[right.name], context.attr.fpmathMode);
    });
  });
  for (int64_t gate = 0; gate < gates && !isDirect; ++gate) {
    Rows sums{dense, DataType::F32, outputs, gates * outputs, 1, 0, program.number(gate * outputs * 4), inputs};
    Rows result{place.buffer,
                DataType::F32,
                outputs,
                ofInput,
                ofOutput,
                desc.offset0,
                place.bytes + gate * ofGate * bytesOf(DataType::F32),
                inputs};
    rows.emitCopy("rnn_weights_diff", sums, result, [&](OpBuilder &b, Location loc, ValueRange in) -> Value {
      return overwrites() ? in[0] : arith::AddFOp::create(b, loc, in.back(), in[0]).getResult();
    });
  }
}

/// Emits the sums over K of `values`, [K, G, O], times `factors`, into rows of a tensor [L, D, G, O].
void RnnBackwardEmitter::emitColumns(StringRef tensor, const TensorDesc &desc, int64_t layer, int64_t direction,
                                     int64_t firstRow, const Binding &values, const Rows *factors) {
  const int64_t start = layer * desc.strides[0] + direction * desc.strides[1] + firstRow * desc.strides[2];
  auto layout = StridedLayoutAttr::get(builder.getContext(), desc.offset0, {desc.strides[2], desc.strides[3]});
  Binding to{"to",
             MemRefType::get({values.type.getDimSize(1), s.dhc}, builder.getF32Type(), layout),
             {tensor.str(), program.number(start * bytesOf(DataType::F32))}};
  Bindings bindings = {values};
  if (factors)
    bindings.push_back(states.bind("factors", *factors));
  if (factors && states.hasLengths) {
    Binding remaining = states.bind("remaining", rows.remainingAt(program.number(0)));
    remaining.type = MemRefType::get({count(Span::All)}, builder.getI32Type());
    remaining.openDim = openDim(Span::All);
    bindings.push_back(remaining);
  }
  const bool writes = overwrites() && !states.isOpen();
  if (overwrites() && !writes)
    fill("rnn_columns_cleared", to);
  bindings.push_back(to);
  inChunks(MutableArrayRef(bindings).drop_back(), [&] {
    program.call(writes ? "rnn_columns_written" : "rnn_columns", bindings, [&](StepEmitter &step) {
      auto find = [&](StringRef name) { return step.has(name) ? step[name] : Value(); };
      emitGradientSums(step, step["to"], step[values.name], find("factors"), find("remaining"), !writes);
    });
  });
}

void RnnBackwardEmitter::emitWeightsDiff(int64_t layer, int64_t direction) {
  const AffineExpr start = program.number(0);
  auto gradients = [&](StringRef region, Gates gates) {
    return delta("delta", region, direction, start, gates, Span::All);
  };
  const Gates every{0, s.gates};
  if (!rnn.diffWeightsLayer.isZero()) {
    Outer outer{"diff_weights_layer", rnn.diffWeightsLayer, layer, direction, 0, every};
    if (layer == 0) {
      auto x = [&](AffineExpr t) { return states.tensor("src_layer", rnn.srcLayer, t); };
      emitOuter(outer, factor(x, rnn.srcLayer.strides[0], direction), gradients(factorsOf("delta"), every));
    } else {
      for (int64_t below = isStacked() ? 0 : direction; below < (isStacked() ? 2 : direction + 1); ++below) {
        auto x = [&](AffineExpr t) { return stateAfter(layer - 1, below, t); };
        outer.firstRow = isStacked() ? below * s.dic : 0;
        emitOuter(outer, factor(x, everyStep(x(start).row.number), direction), gradients(factorsOf("delta"), every));
      }
    }
  }
  if (!rnn.diffWeightsIter.isZero()) {
    Outer outer{"diff_weights_iter", rnn.diffWeightsIter, layer, direction, 0, iterGates()};
    auto h = [&](AffineExpr t) { return stateBefore(layer, direction, t); };
    emitOuter(outer, factor(h, everyStep(h(start).row.number), direction),
              gradients(factorsOf(iterDelta()), iterGates()));
    if (hasResetFirst(rnn)) {
      outer.gates = {2, 1};
      Rows reset = states.ofSteps("reset", context.state(), s.dhc, direction, start);
      emitOuter(outer, allOf("x", reset, everyStep(s.dhc)), gradients(factorsOf("delta"), {2, 1}));
    }
  }
  if (!rnn.diffWeightsProjection.isZero()) {
    Outer outer{"diff_weights_projection", rnn.diffWeightsProjection, layer, direction, 0, {0, 1}};
    Rows hidden = states.ofSteps("unprojected", context.state(), s.dhc, direction, start);
    Binding diff =
        states.bind("delta", states.ofSteps("state_diff", deltaFactorType(context), s.dic, direction, start));
    diff.type = MemRefType::get({count(Span::All), s.dic}, diff.type.getElementType());
    emitOuter(outer, allOf("x", hidden, everyStep(s.dhc)), diff);
  }
  if (!rnn.diffBias.isZero()) {
    emitColumns("diff_bias", rnn.diffBias, layer, direction, 0, gradients("delta", every), nullptr);
    if (isLinearBeforeReset(rnn))
      emitColumns("diff_bias", rnn.diffBias, layer, direction, 3, gradients("hidden_delta", {2, 1}), nullptr);
  }
  if (!rnn.diffWeightsPeephole.isZero()) {
    const Rows c = states.ofAll(cellsBefore({layer, direction, start, false, false})),
               next = states.ofAll(cellsAfter(layer, direction, start));
    emitColumns("diff_weights_peephole", rnn.diffWeightsPeephole, layer, direction, 0, gradients("delta", {0, 2}), &c);
    emitColumns("diff_weights_peephole", rnn.diffWeightsPeephole, layer, direction, 2, gradients("delta", {3, 1}),
                &next);
  }
}

/// Emits the sums of the attention terms over channels, for each step and sequence.
void RnnBackwardEmitter::emitAttentionDiff() {
  const TensorDesc &desc = rnn.diffAttention;
  if (desc.isZero())
    return;
  if (states.isOpen())
    return emitAttentionSteps();
  Binding terms = states.bind("terms", states.ofSteps("attention_terms", DataType::F32, s.dhc, 0, program.number(0)));
  terms.type = MemRefType::get({s.steps, s.batch, s.dhc}, builder.getF32Type());
  auto layout = StridedLayoutAttr::get(builder.getContext(), desc.offset0, {desc.strides[0], desc.strides[1]});
  Binding to{
      "to", MemRefType::get({s.steps, s.batch}, builder.getF32Type(), layout), {"diff_attention", program.number(0)}};
  program.call("rnn_attention_diff", {terms, to}, [&](StepEmitter &step) { emitSums(step, 3); });
}

/// Like emitAttentionDiff(), but in a loop over time, for open sizes.
void RnnBackwardEmitter::emitAttentionSteps() {
  AffineExpr t = program.beginLoop(states.steps());
  Bindings bindings = {states.bind("terms", states.ofSteps("attention_terms", DataType::F32, s.dhc, 0, t))};
  rows.addVector(bindings, "to", states.tensor("diff_attention", rnn.diffAttention, t));
  program.call("rnn_attention_diff", bindings, [&](StepEmitter &step) { emitSums(step, 2); });
  program.endLoop();
}
