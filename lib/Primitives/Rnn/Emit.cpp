//===- Emit.cpp - RNN as a program of linalg steps --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One step of a layer and direction is one function, or two if the second reads all channels of the first one's result
// (gru, projection); its calls differ in their buffers. For each layer, the program copies the states at the start,
// loops over time with both directions in one iteration (in two loops if weightsExceedCache()), and copies dst_iter.
// Unless the last layer's steps write dst_layer directly, it is copied at the end. With open widths, the products are
// separate steps (SeparateGates).
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emitters.h"
#include "Primitives/Rnn/Emit/Backward.h"
#include "Primitives/Rnn/Emit/Emitter.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

//===----------------------------------------------------------------------===//
// Arguments of steps
//===----------------------------------------------------------------------===//

/// Binds `rows` rows of the products of a layer's inputs and its weights, from time `t` on.
Binding RnnEmitter::inputsAt(int64_t direction, AffineExpr t, int64_t rows) {
  const int64_t width = layer.view().width(), row = s.gates * width, element = bytesOf(DataType::F32);
  const int64_t index = isSequential ? 0 : direction;
  if (direction == 0)
    program.addRegion("inputs", program.number((isSequential ? 1 : s.directions) * s.steps * s.batch * row * element));
  Type type = isQuantized(rnn) ? Type(builder.getI32Type()) : builder.getF32Type();
  AffineExpr bytes = (t + index * s.steps) * (s.batch * row * element);
  return {
      "inputs",
      MemRefType::get({rows, s.gates, s.dhc}, type, StridedLayoutAttr::get(builder.getContext(), 0, {row, width, 1})),
      {"inputs", bytes}};
}

/// Returns the input of a layer: src_layer, or the states of the layer below, of both directions if they are
/// concatenated.
Rows RnnEmitter::inputOf(const At &at) {
  const bool isStacked = s.directions == 2 && (rnn.flags & RnnStackConcatenated);
  if (context.roundsRows())
    return at.layer == 0 ? states.inputFactorsAt(at.t)
           : isStacked   ? states.factorsAt(at.layer - 1, at.t)
                         : states.factorAt(at.layer - 1, at.direction, at.t);
  if (at.layer == 0)
    return states.tensor("src_layer", rnn.srcLayer, at.t);
  if (isStacked)
    return states.isKept ? states.stackedAt(at.t) : states.statesAt(at.layer - 1, at.t);
  return states.stateAt(at.layer - 1, at.direction, at.t);
}

Rows RnnEmitter::stateBefore(const At &at) {
  return at.isFirst && states.startsApart(at.layer) ? states.startOf(at.layer, at.direction)
                                                    : states.stateAt(at.layer, at.direction, before(at));
}

Rows RnnEmitter::cellsAt(int64_t layer, int64_t direction, AffineExpr t) {
  int64_t index = states.stack(layer, direction);
  return states.isTraining ? states.section(WorkspacePart::Cells, s.dhc, index, t)
                           : states.scratch("cells", DataType::F32, states.dhc, index);
}

Rows RnnEmitter::cellsStart(int64_t layer, int64_t direction) {
  return states.isTraining ? states.scratch("cells_start", DataType::F32, s.dhc, direction)
                           : cellsAt(layer, direction, {});
}

/// Adds the results of a step that training stores, except cells.
void RnnEmitter::addKept(Bindings &bindings, const At &at) {
  if (!states.isTraining)
    return;
  Rows gates = states.section(WorkspacePart::Gates, s.gates * s.dhc, states.stack(at.layer, at.direction), at.t);
  Binding binding = states.bind("gates", gates);
  binding.type = MemRefType::get({s.batch, s.gates, s.dhc}, builder.getF32Type());
  bindings.push_back(binding);
  if (isLinearBeforeReset(rnn))
    bindings.push_back(states.bind(
        "hidden_sums", states.section(WorkspacePart::HiddenSums, s.dhc, states.stack(at.layer, at.direction), at.t)));
}

/// Adds the result of a cell that its projection reads.
void RnnEmitter::addUnprojected(Bindings &bindings, const At &at) {
  StringRef name = context.roundsRows() ? "unprojected_rounded" : "unprojected";
  bindings.push_back(states.bind(name, states.scratch(name, context.factor(), s.dhc, at.direction)));
}

void RnnEmitter::addNext(Bindings &bindings, const At &at) {
  bindings.push_back(states.bind("h_next", states.stateAt(at.layer, at.direction, at.t)));
  if (context.roundsRows())
    bindings.push_back(states.bind("h_next_rounded", states.factorAt(at.layer, at.direction, at.t)));
}

/// Returns the operands of the products, or with open widths the products of gates `first` to `end`, followed by the
/// operands of the epilogue.
RnnEmitter::Bindings RnnEmitter::gateBindings(const At &at, int64_t first, int64_t end) {
  Bindings bindings;
  if (separate) {
    separate->bindGates(first, end, at.t, bindings);
    if (isGru(rnn))
      bindings.push_back(states.bind("h", stateBefore(at)));
    return bindings;
  }
  if (isMerged) {
    bindings.push_back(inputsAt(at.direction, at.t, s.batch));
    layer.bindSums("w", at.layer, at.direction, program, bindings);
  } else {
    bindings.push_back(states.bind("x", inputOf(at)));
    layer.bind("w", at.layer, at.direction, program, bindings);
  }
  if (context.roundsRows())
    bindings.push_back(states.bind("h_rounded", states.factorAt(at.layer, at.direction, before(at))));
  if (readsState())
    bindings.push_back(states.bind("h", stateBefore(at)));
  iter.bind("u", at.layer, at.direction, program, bindings);
  bindScales(context, /*isProjection=*/false, program, bindings);
  bias.bind("bias", at.layer, at.direction, program, bindings);
  return bindings;
}

//===----------------------------------------------------------------------===//
// Steps of time
//===----------------------------------------------------------------------===//

/// Calls two steps of one result each, because only the recipe for rows supports several results, and it is slower
/// here.
void RnnEmitter::callSeparateLstm(const At &at) {
  const Rows cells = cellsAt(at.layer, at.direction, at.t);
  Bindings ofCell = gateBindings(at, 0, 3), ofState = gateBindings(at, 3, 4);
  separate->bindPeepholes(0, 2, ofCell);
  separate->bindPeepholes(2, 3, ofState);
  ofCell.append({states.bind("c", cells), states.bind("c_next", cells)});
  ofState.push_back(states.bind("c", cells));
  addNext(ofState, at);
  for (const auto &[kind, bindings] : {std::pair("rnn_cells", &ofCell), std::pair("rnn_state", &ofState)})
    program.call(kind, *bindings, [&](StepEmitter &step) { emitCell(step, context); });
}

void RnnEmitter::callCell(const At &at, bool independent) {
  if (separate)
    separate->emitIter(stateBefore(at), 0, s.gates);
  if (separate && isLstm(rnn))
    return callSeparateLstm(at);
  Bindings bindings = gateBindings(at, 0, s.gates);
  if (isLstm(rnn)) {
    peephole.bind("peephole", at.layer, at.direction, program, bindings);
    bool isStart = at.isFirst && states.isTraining;
    bindings.push_back(
        states.bind("c", isStart ? cellsStart(at.layer, at.direction) : cellsAt(at.layer, at.direction, before(at))));
    bindings.push_back(states.bind("c_next", cellsAt(at.layer, at.direction, at.t)));
  }
  rows.addPerSequence(bindings, at.t);
  if (isProjected(rnn))
    addUnprojected(bindings, at);
  else
    addNext(bindings, at);
  addKept(bindings, at);
  program.call("rnn_cell", bindings, [&](StepEmitter &step) { emitCell(step, context); }, independent);
}

void RnnEmitter::callProjection(const At &at, bool independent) {
  Bindings bindings;
  addUnprojected(bindings, at);
  projection.bind("r", at.layer, at.direction, program, bindings);
  bindScales(context, /*isProjection=*/true, program, bindings);
  if (states.hasLengths) {
    bindings.push_back(states.bind("h", stateBefore(at)));
    rows.addVector(bindings, "remaining", rows.remainingAt(at.t));
  }
  addNext(bindings, at);
  program.call("rnn_projection", bindings, [&](StepEmitter &step) { emitProjection(step, context); }, independent);
}

/// Adds the intermediate results of both steps of a gru.
void RnnEmitter::addReset(Bindings &bindings, const At &at) {
  bindings.push_back(states.bind("update", states.scratch("update", DataType::F32, states.dhc, at.direction)));
  bindings.push_back(states.bind("reset", resetOf(at)));
}

void RnnEmitter::callGruGates(const At &at, bool independent) {
  if (separate)
    separate->emitIter(stateBefore(at), 0, 2);
  Bindings bindings = gateBindings(at, 0, 2);
  addReset(bindings, at);
  addKept(bindings, at);
  program.call("rnn_gates", bindings, [&](StepEmitter &step) { emitGruGates(step, context); }, independent);
}

void RnnEmitter::callGruOutput(const At &at, bool independent) {
  if (separate)
    separate->emitIter(resetOf(at), 2, 3);
  Bindings bindings = gateBindings(at, 2, 3);
  addReset(bindings, at);
  rows.addPerSequence(bindings, at.t);
  addNext(bindings, at);
  addKept(bindings, at);
  program.call("rnn_output", bindings, [&](StepEmitter &step) { emitGruOutput(step, context); }, independent);
}

void RnnEmitter::emitStep(int64_t layer, ArrayRef<int64_t> directions, AffineExpr i, bool isFirst) {
  AffineExpr steps = states.stepsDone();
  auto inEachDirection = [&](auto call) {
    for (int64_t direction : directions)
      call({layer, direction, states.isReversed(direction) ? steps - 1 - i : i, isFirst},
           direction != directions.front());
  };
  inEachDirection([&](const At &at, bool independent) {
    hasResetFirst(rnn) ? callGruGates(at, independent) : callCell(at, independent);
  });
  if (hasResetFirst(rnn))
    inEachDirection([&](const At &at, bool independent) { callGruOutput(at, independent); });
  if (isProjected(rnn))
    inEachDirection([&](const At &at, bool independent) { callProjection(at, independent); });
}

/// Emits the products of the inputs of all time steps.
void RnnEmitter::emitInputs(int64_t layer, ArrayRef<int64_t> directions) {
  if (separate)
    return separate->emitInputs();
  if (!isMerged)
    return;
  for (int64_t direction : directions) {
    At at{layer, direction, program.number(0), false};
    Rows x = inputOf(at);
    x.count = s.steps * s.batch;
    if (s.batch == 1 && layer == 0 && !context.roundsRows())
      x.row = rnn.srcLayer.strides[0];
    Binding inputs = inputsAt(direction, at.t, s.steps * s.batch);
    const int64_t width = this->layer.view().width();
    SmallVector<int64_t> shape = {s.steps * s.batch, s.gates, width}, strides = {s.gates * width, width, 1};
    if (s.gates == 1)
      shape.erase(shape.begin() + 1), strides.erase(strides.begin() + 1);
    inputs.type =
        MemRefType::get(shape, inputs.type.getElementType(), StridedLayoutAttr::get(builder.getContext(), 0, strides));
    Bindings bindings = {states.bind("x", x)};
    this->layer.bindAlone("w", layer, direction, program, bindings);
    bindings.push_back(inputs);
    program.call(
        "rnn_inputs", bindings, [&](StepEmitter &step) { rnn::emitInputs(step, context); },
        direction != directions.front());
  }
}

void RnnEmitter::emitSteps(int64_t layer, ArrayRef<int64_t> directions) {
  emitInputs(layer, directions);
  const bool isApart = startsApart(layer);
  if (isApart)
    emitStep(layer, directions, program.number(0), /*isFirst=*/true);
  if (s.steps == 1)
    return;
  AffineExpr index = program.beginLoop(isApart ? states.stepsDone() - 1 : states.stepsDone());
  emitStep(layer, directions, isApart ? index + 1 : index, /*isFirst=*/false);
  program.endLoop();
}

void RnnEmitter::emit() {
  emitHeader();
  for (const Weights *weights : {&layer, &iter, &projection})
    weights->emitSteps(program);
  for (const Vectors *vectors : {&bias, &peephole})
    vectors->emitSteps(program);
  emitScales(context, program);
  if (states.hasLengths)
    rows.emitRemaining();
  emitInputFactors();
  for (int64_t layer = 0; layer < s.layers; ++layer) {
    emitStart(layer);
    const int64_t directions[] = {0, 1};
    for (int64_t first = 0, beside = isSequential ? 1 : s.directions; first < s.directions; first += beside)
      emitSteps(layer, ArrayRef(directions).slice(first, beside));
    emitFinish(layer);
    emitStacked(layer);
  }
  emitResult();
  program.finish();
}

void quern::emitRnn(ModuleOp module, const VerifiedProblem &problem) {
  const RnnDesc &rnn = std::get<Boxed<RnnDesc>>(problem.desc.op);
  if (rnn.prop == PropKind::Backward)
    RnnBackwardEmitter(module, problem).emit();
  else
    RnnEmitter(module, problem).emit();
}
