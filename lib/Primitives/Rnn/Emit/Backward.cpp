//===- Backward.cpp - RNN gradients as a program of linalg steps ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One step backward in time is one function: its products are the gradients that the step after passes back, its
// epilogue is the arithmetic of the cell. It is two functions if the second reads all channels of the first one's
// result (gru, projection).
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Emit/Backward.h"

#include "Primitives/Emission/Tensors.h"
#include "Primitives/Rnn/Plan.h"

#include <utility>

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

//===----------------------------------------------------------------------===//
// Memory of the operands
//===----------------------------------------------------------------------===//

MemRefType RnnBackwardEmitter::gatesType(Span span, Gates gates, int64_t of, DataType type) const {
  Builder b(builder.getContext());
  const int64_t rows = count(span);
  Type element = elementType(type, b);
  if (gates.count == of)
    return MemRefType::get({rows, of, s.dhc}, element);
  return MemRefType::get({rows, gates.count, s.dhc}, element,
                         StridedLayoutAttr::get(b.getContext(), 0, {of * s.dhc, s.dhc, 1}));
}

Binding RnnBackwardEmitter::delta(StringRef name, StringRef region, int64_t direction, AffineExpr t, Gates gates,
                                  Span span, const WeightsView *view) {
  const DataType type = typeOf(region);
  Rows place = states.ofSteps(region, type, s.gates * s.dhc, direction, t);
  MemRefType seen = gatesType(span, gates, s.gates, type);
  if (view && view->inputs != s.dhc) // all gates form one K
    seen = MemRefType::get({count(span), 1, view->inputs}, seen.getElementType(),
                           StridedLayoutAttr::get(builder.getContext(), 0, {s.gates * s.dhc, view->inputs, 1}));
  return {name.str(), seen, {place.buffer, place.bytes + gates.first * s.dhc * bytesOf(type)}, {}, openDim(span)};
}

void RnnBackwardEmitter::addDelta(Bindings &bindings, StringRef region, const At &at, ArrayRef<int64_t> gates) {
  if (factorsOf(region) != region)
    addDelta(bindings, factorsOf(region), at, gates);
  const DataType type = typeOf(region);
  Rows place = states.ofSteps(region, type, s.gates * s.dhc, at.direction, at.t);
  place.channels = s.dhc;
  for (int64_t gate : gates) {
    Rows own = place;
    own.bytes = place.bytes + gate * s.dhc * bytesOf(type);
    bindings.push_back(states.bind((region + std::to_string(gate)).str(), own));
  }
}

Binding RnnBackwardEmitter::gatesAt(const At &at, Span span) {
  Rows place = states.section(WorkspacePart::Gates, s.gates * s.dhc, states.stack(at.layer, at.direction), at.t);
  return {
      "gates", gatesType(span, {0, s.gates}, s.gates, DataType::F32), {place.buffer, place.bytes}, {}, openDim(span)};
}

Rows RnnBackwardEmitter::stateAfter(int64_t layer, int64_t direction, AffineExpr t) {
  const int64_t width = std::max(s.sic, s.dic);
  Rows place = states.ofSteps("states" + std::to_string(layer % 2), context.state(), width, direction,
                              states.isReversed(direction) ? t : t + 1, states.steps() + 1);
  place.channels = s.dic;
  return place;
}

Rows RnnBackwardEmitter::stateBefore(int64_t layer, int64_t direction, AffineExpr t) {
  Rows place = stateAfter(layer, direction, states.isReversed(direction) ? t + 1 : t - 1);
  place.channels = s.sic;
  return place;
}

Rows RnnBackwardEmitter::stateAtStart(int64_t layer, int64_t direction) {
  return stateBefore(layer, direction, startOf(direction));
}

Rows RnnBackwardEmitter::cellsAfter(int64_t layer, int64_t direction, AffineExpr t) {
  if (!copiesCells())
    return keptCells(layer, direction, t);
  return states.ofSteps("cells_again", DataType::F32, s.dhc, direction, states.isReversed(direction) ? t : t + 1,
                        states.steps() + 1);
}

Rows RnnBackwardEmitter::cellsAtStart(int64_t direction) {
  if (copiesCells())
    return cellsAfter(0, direction, states.isReversed(direction) ? states.steps() : program.number(-1));
  return states.scratch("cells_start", DataType::F32, s.dhc, direction);
}

/// Returns the cells before a step. Those at the start have separate memory unless the cells are copied.
Rows RnnBackwardEmitter::cellsBefore(const At &at) {
  if (copiesCells() || !at.isStart)
    return cellsAfter(at.layer, at.direction, before(at));
  return cellsAtStart(at.direction);
}

Rows RnnBackwardEmitter::inputDiff(int64_t direction, AffineExpr t) {
  return states.ofSteps("input_diff", DataType::F32, s.slc, isStacked() ? 0 : direction, t);
}

/// Returns the gradient of dst_layer, or of the input of the layer above.
Rows RnnBackwardEmitter::dstDiff(const At &at) {
  Rows place;
  int64_t first = 0;
  if (at.layer + 1 < s.layers) {
    place = inputDiff(at.direction, at.t);
    first = isStacked() ? at.direction * s.dic : 0;
  } else {
    const bool isConcat = rnn.direction == RnnDirection::BidirectionalConcat;
    first = isConcat ? at.direction * s.dic : 0;
    if (rnn.diffDstLayer.strides[2] == 1 || s.dlc(rnn) == 1)
      place = states.tensor("diff_dst_layer", rnn.diffDstLayer, at.t);
    else
      place = states.ofSteps("dst_diff_dense", DataType::F32, s.dlc(rnn), 0, at.t);
  }
  place.channels = s.dic;
  place.bytes = place.bytes + first * place.channel * bytesOf(DataType::F32);
  return place;
}

Rows RnnBackwardEmitter::endDiff(StringRef name, const TensorDesc &desc, const At &at) {
  Rows place = states.tensor(name, desc, {program.number(at.layer), program.number(at.direction)});
  if (place.channel == 1 || place.channels == 1)
    return place;
  return ofStep(name.str() + "_dense", place.channels, at.direction);
}

/// Emits the copies for endDiff() before the loop over time. The copies of both directions are independent.
void RnnBackwardEmitter::emitEnds(int64_t layer) {
  bool independent = false;
  for (int64_t direction = 0; direction < s.directions; ++direction)
    for (const auto &[name, desc] :
         {std::pair{"diff_dst_iter", &rnn.diffDstIter}, std::pair{"diff_dst_iter_c", &rnn.diffDstIterC}}) {
      if (desc->isZero())
        continue;
      const Rows from = states.tensor(name, *desc, {program.number(layer), program.number(direction)}),
                 to = endDiff(name, *desc, {layer, direction, {}, true, false});
      if (to.buffer != from.buffer)
        rows.emitCopy("rnn_gather", from, to, first, {}, std::exchange(independent, true));
    }
}

//===----------------------------------------------------------------------===//
// Arguments of steps
//===----------------------------------------------------------------------===//

/// Adds the gradients from the step after and from above.
void RnnBackwardEmitter::addHandedBack(Bindings &bindings, const At &at) {
  if (!at.isEnd) {
    WeightsView view = iter.viewOf(iterGates().count);
    bindings.push_back(
        delta("delta_after", factorsOf(iterDelta()), at.direction, after(at), iterGates(), Span::Step, &view));
    bindings.push_back(iter.bindGates("u", at.layer, at.direction, 0, iterGates().count, program));
    if (hasCarry())
      bindings.push_back(states.bind("carry_after", carryOf(at.direction)));
  } else if (!rnn.diffDstIter.isZero()) {
    bindings.push_back(states.bind("carry_after", endDiff("diff_dst_iter", rnn.diffDstIter, at)));
  }
  bindings.push_back(states.bind("dst_diff", dstDiff(at)));
}

void RnnBackwardEmitter::addCarry(Bindings &bindings, int64_t direction) {
  if (hasCarry())
    bindings.push_back(states.bind("carry", carryOf(direction)));
}

void RnnBackwardEmitter::addState(Bindings &bindings, const At &at) {
  bindings.push_back(states.bind("h", stateBefore(at.layer, at.direction, at.t)));
}

//===----------------------------------------------------------------------===//
// Loop over time
//===----------------------------------------------------------------------===//

void RnnBackwardEmitter::callCell(const At &at, bool independent) {
  Bindings bindings;
  WeightsView view = iter.viewOf(iterGates().count);
  if (isProjected(rnn)) {
    Rows diff = states.ofSteps("state_diff", deltaFactorType(context), s.dic, at.direction, at.t);
    Binding binding = states.bind("state_diff", diff);
    binding.type = MemRefType::get({s.batch, 1, s.dic}, binding.type.getElementType());
    bindings.push_back(binding);
    bindings.push_back(projection.bindGates("r", at.layer, at.direction, 0, 1, program));
    view = projection.viewOf(1);
  } else {
    addHandedBack(bindings, at);
  }
  bindings.push_back(gatesAt(at, Span::Step));
  if (isLstm(rnn)) {
    bindings.push_back(states.bind("c", cellsBefore(at)));
    bindings.push_back(states.bind("c_next", cellsAfter(at.layer, at.direction, at.t)));
    peephole.bind("peephole", at.layer, at.direction, program, bindings);
    if (!at.isEnd)
      bindings.push_back(
          states.bind("cells_diff_after", states.scratch("cells_diff", DataType::F32, s.dhc, at.direction)));
    else if (!rnn.diffDstIterC.isZero())
      bindings.push_back(states.bind("cells_diff_after", endDiff("diff_dst_iter_c", rnn.diffDstIterC, at)));
  }
  if (isGru(rnn)) {
    addState(bindings, at);
    bindings.push_back(states.bind(
        "hidden_sums", states.section(WorkspacePart::HiddenSums, s.dhc, states.stack(at.layer, at.direction), at.t)));
  }
  rows.addPerSequence(bindings, at.t);
  const int64_t gates[] = {0, 1, 2, 3};
  addDelta(bindings, "delta", at, ArrayRef(gates).take_front(static_cast<size_t>(s.gates)));
  if (isLinearBeforeReset(rnn))
    addDelta(bindings, "hidden_delta", at, ArrayRef(gates).take_front(3));
  if (isLstm(rnn))
    bindings.push_back(states.bind("cells_diff", states.scratch("cells_diff", DataType::F32, s.dhc, at.direction)));
  if (!isProjected(rnn))
    addCarry(bindings, at.direction);
  if (!rnn.diffWeightsProjection.isZero())
    bindings.push_back(
        states.bind("unprojected", states.ofSteps("unprojected", context.state(), s.dhc, at.direction, at.t)));
  if (!rnn.diffAttention.isZero())
    bindings.push_back(
        states.bind("attention_terms", states.ofSteps("attention_terms", DataType::F32, s.dhc, 0, at.t)));
  program.call("rnn_cell_diff", bindings, [&](StepEmitter &step) { emitCellDiff(step, context, view); }, independent);
}

void RnnBackwardEmitter::callState(const At &at, bool independent) {
  Bindings bindings;
  addHandedBack(bindings, at);
  if (states.hasLengths)
    rows.addVector(bindings, "remaining", rows.remainingAt(at.t));
  bindings.push_back(
      states.bind("state_diff", states.ofSteps("state_diff", deltaFactorType(context), s.dic, at.direction, at.t)));
  addCarry(bindings, at.direction);
  WeightsView view = iter.viewOf(s.gates);
  program.call(
      "rnn_state_diff", bindings, [&](StepEmitter &step) { rnn::emitStateDiff(step, context, view); }, independent);
}

void RnnBackwardEmitter::callGruOutput(const At &at, bool independent) {
  Bindings bindings;
  addHandedBack(bindings, at);
  bindings.push_back(gatesAt(at, Span::Step));
  addState(bindings, at);
  rows.addPerSequence(bindings, at.t);
  addDelta(bindings, "delta", at, {0, 2});
  addCarry(bindings, at.direction);
  if (!rnn.diffAttention.isZero())
    bindings.push_back(
        states.bind("attention_terms", states.ofSteps("attention_terms", DataType::F32, s.dhc, 0, at.t)));
  WeightsView view = iter.viewOf(2);
  program.call(
      "rnn_output_diff", bindings, [&](StepEmitter &step) { emitGruOutputDiff(step, context, view); }, independent);
}

void RnnBackwardEmitter::callGruGates(const At &at, bool independent) {
  constexpr Gates output{2, 1};
  Bindings bindings = {delta("delta_output", factorsOf("delta"), at.direction, at.t, output, Span::Step),
                       iter.bindGates("u", at.layer, at.direction, output.first, output.count, program),
                       gatesAt(at, Span::Step)};
  addState(bindings, at);
  bindings.push_back(states.bind("carry_after", carryOf(at.direction)));
  if (states.hasLengths)
    rows.addVector(bindings, "remaining", rows.remainingAt(at.t));
  addDelta(bindings, "delta", at, {1});
  addCarry(bindings, at.direction);
  if (!rnn.diffWeightsIter.isZero())
    bindings.push_back(states.bind("reset", states.ofSteps("reset", context.state(), s.dhc, at.direction, at.t)));
  WeightsView view = iter.viewOf(output.count);
  program.call(
      "rnn_gates_diff", bindings, [&](StepEmitter &step) { emitGruGatesDiff(step, context, view); }, independent);
}

void RnnBackwardEmitter::emitStep(int64_t layer, ArrayRef<int64_t> directions, AffineExpr i, bool isEnd, bool isStart) {
  auto inEachDirection = [&](auto call) {
    for (int64_t direction : directions)
      call({layer, direction, states.isReversed(direction) ? i : states.steps() - 1 - i, isEnd, isStart},
           direction != directions.front());
  };
  if (isProjected(rnn))
    inEachDirection([&](const At &at, bool independent) { callState(at, independent); });
  if (!hasResetFirst(rnn))
    return inEachDirection([&](const At &at, bool independent) { callCell(at, independent); });
  inEachDirection([&](const At &at, bool independent) { callGruOutput(at, independent); });
  inEachDirection([&](const At &at, bool independent) { callGruGates(at, independent); });
}

/// The last step has no step after it, and the first step of an LSTM reads its cells from separate memory, so both are
/// emitted outside of the loop.
void RnnBackwardEmitter::emitSweep(int64_t layer, ArrayRef<int64_t> directions) {
  emitStep(layer, directions, program.number(0), /*isEnd=*/true, /*isStart=*/s.steps == 1);
  if (s.steps == 1)
    return;
  const bool isStartApart = isLstm(rnn) && !copiesCells();
  const int64_t apart = isStartApart ? 2 : 1;
  if (s.steps == runtimeDim || s.steps > apart) {
    AffineExpr index = program.beginLoop(states.steps() - apart);
    emitStep(layer, directions, index + 1, false, false);
    program.endLoop();
  }
  if (isStartApart)
    emitStep(layer, directions, program.number(s.steps - 1), false, true);
}

/// Emits the gradients of src_iter and src_iter_c, which the first step passes back.
void RnnBackwardEmitter::emitStartDiff(int64_t layer) {
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    const SmallVector<AffineExpr> at = {program.number(layer), program.number(direction)};
    if (!rnn.diffSrcIter.isZero()) {
      Rows result = states.tensor("diff_src_iter", rnn.diffSrcIter, at), to = result;
      const bool isStrided = to.channel != 1 && to.channels != 1;
      if (isStrided)
        to = ofStep("start_diff", s.sic, direction);
      WeightsView view = iter.viewOf(iterGates().count);
      Bindings bindings = {
          delta("delta_after", factorsOf(iterDelta()), direction, startOf(direction), iterGates(), Span::Step, &view),
          iter.bindGates("u", layer, direction, 0, iterGates().count, program)};
      if (hasCarry() && s.sic == s.dic)
        bindings.push_back(states.bind("carry_after", carryOf(direction)));
      bindings.push_back(states.bind("start_diff", to));
      program.call("rnn_start_diff", bindings, [&](StepEmitter &step) { rnn::emitStartDiff(step, context, view); });
      if (isStrided)
        rows.emitCopy("rnn_scatter", to, result, first);
    }
    if (!rnn.diffSrcIterC.isZero())
      rows.emitCopy("rnn_start_cells_diff", states.scratch("cells_diff", DataType::F32, s.dhc, direction),
                    states.tensor("diff_src_iter_c", rnn.diffSrcIterC, at), first);
  }
}

void RnnBackwardEmitter::emit() {
  for (const Weights *weights : {&layer, &iter, &projection})
    weights->emitSteps(program);
  peephole.emitSteps(program);
  if (states.hasLengths)
    rows.emitRemaining();
  emitPadding();
  emitDenseResult();
  for (int64_t index = s.layers - 1; index >= 0; --index) {
    // The states of the layer below are also needed: they are multiplied with the gradients of this layer.
    for (int64_t made = index; made >= 0 && made >= index - 1; --made)
      if (made < index || index == s.layers - 1)
        emitStates(made);
    emitCells(index);
    emitEnds(index);
    const int64_t directions[] = {0, 1};
    const int64_t beside = weightsExceedCache(rnn) ? 1 : s.directions;
    for (int64_t first = 0; first < s.directions; first += beside)
      emitSweep(index, ArrayRef(directions).slice(static_cast<size_t>(first), static_cast<size_t>(beside)));
    emitStartDiff(index);
    for (int64_t direction = 0; direction < s.directions; ++direction) {
      emitInputDiff(index, direction);
      emitWeightsDiff(index, direction);
    }
  }
  emitAttentionDiff();
  program.finish();
}
