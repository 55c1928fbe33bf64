//===- BackwardStates.cpp - Recomputed states and padding -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// States are recomputed from the gates with the arithmetic of forward. As in forward, a sequence that has ended keeps
// its state: sums over all time steps multiply it by zero gradients, and the workspace may contain NaN after the end of
// a sequence.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Emit/Backward.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

void RnnBackwardEmitter::emitPadding() {
  if (states.padding == 0)
    return;
  auto pad = [&](StringRef region, DataType type, int64_t channels, AffineExpr slots) {
    for (int64_t direction = 0; direction < s.directions; ++direction) {
      Rows behind = states.ofSteps(region, type, channels, direction, slots, slots);
      behind.count = states.padding;
      rows.emitCopy("rnn_pad", {}, behind,
                    [&](OpBuilder &b, Location loc, ValueRange) { return zeroOf(b, loc, type); });
    }
  };
  const AffineExpr steps = states.steps();
  for (StringRef region : {"delta", "hidden_delta"})
    for (StringRef part : {region, factorsOf(region)})
      if (region == "delta" || isLinearBeforeReset(rnn))
        pad(part, typeOf(part), s.gates * s.dhc, steps);
  if (!rnn.diffWeightsLayer.isZero() || !rnn.diffWeightsIter.isZero())
    pad("factor", context.state(), widestFactor(), steps);
  if (hasResetFirst(rnn) && !rnn.diffWeightsIter.isZero())
    pad("reset", context.state(), s.dhc, steps);
  if (!rnn.diffWeightsProjection.isZero())
    pad("unprojected", context.state(), s.dhc, steps), pad("state_diff", deltaFactorType(context), s.dic, steps);
  if (!rnn.diffWeightsPeephole.isZero())
    pad("cells_again", DataType::F32, s.dhc, steps + 1);
  if (!rnn.diffWeightsPeephole.isZero() && states.hasLengths) {
    Rows behind = rows.remainingAt(steps);
    behind.count = states.padding;
    rows.emitCopy("rnn_pad", {}, behind,
                  [&](OpBuilder &b, Location loc, ValueRange) { return zeroOf(b, loc, DataType::S32); });
  }
}

/// Copies diff_dst_layer to a region with contiguous channels, unless its channels are contiguous.
void RnnBackwardEmitter::emitDenseResult() {
  if (rnn.diffDstLayer.strides[2] == 1 || s.dlc(rnn) == 1)
    return;
  AffineExpr t = program.beginLoop(states.steps());
  rows.emitCopy("rnn_gather", states.tensor("diff_dst_layer", rnn.diffDstLayer, t),
                states.ofSteps("dst_diff_dense", DataType::F32, s.dlc(rnn), 0, t), first);
  program.endLoop();
}

void RnnBackwardEmitter::emitStates(int64_t layer) {
  const bool isRead = !rnn.diffWeightsLayer.isZero() && layer + 1 < s.layers;
  if (!isRead && !readsStates())
    return;
  for (int64_t direction = 0; direction < s.directions; ++direction)
    rows.emitStart("src_iter", rnn.srcIter, layer, direction, stateAtStart(layer, direction), direction > 0);
  auto call = [&](int64_t direction, AffineExpr t, Span span) {
    Rows to = ofSpan(stateAfter(layer, direction, t), span);
    if (isProjected(rnn)) {
      Rows kept = ofSpan(states.section(WorkspacePart::States, s.dic, states.stack(layer, direction), t), span);
      SmallVector<Rows, 2> from = {kept};
      if (states.hasLengths && s.sic == s.dic)
        from.push_back(stateBefore(layer, direction, t));
      rows.emitCopy("rnn_states", from, to, states.hasLengths ? firstIfAlive : first,
                    states.hasLengths ? t : AffineExpr(), direction > 0);
      return;
    }
    const At at{layer, direction, t, false, false};
    Bindings bindings = {gatesAt(at, span)};
    if (isLstm(rnn)) {
      bindings.push_back(states.bind("c_next", ofSpan(keptCells(layer, direction, t), span)));
    }
    if (isGru(rnn) || (states.hasLengths && s.sic == s.dic))
      addState(bindings, at);
    rows.addPerSequence(bindings, at.t);
    bindings.push_back(states.bind("h_next", to));
    program.call("rnn_states", bindings, [&](StepEmitter &step) { emitStateAgain(step, context); }, direction > 0);
  };
  const bool isSequential = isGru(rnn) || states.hasLengths;
  AffineExpr i = isSequential ? program.beginLoop(states.steps()) : program.number(0);
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    AffineExpr t = isSequential && states.isReversed(direction) ? states.steps() - 1 - i : i;
    call(direction, t, isSequential ? Span::Step : Span::All);
  }
  if (isSequential)
    program.endLoop();
}

void RnnBackwardEmitter::emitCells(int64_t layer) {
  if (!isLstm(rnn))
    return;
  for (int64_t direction = 0; direction < s.directions; ++direction)
    rows.emitStart("src_iter_c", rnn.srcIterC, layer, direction, cellsAtStart(direction), direction > 0);
  if (!copiesCells())
    return;
  AffineExpr i = states.hasLengths ? program.beginLoop(states.steps()) : program.number(0);
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    AffineExpr t = states.hasLengths && states.isReversed(direction) ? states.steps() - 1 - i : i;
    const At at{layer, direction, t, false, false};
    const Span span = states.hasLengths ? Span::Step : Span::All;
    Rows kept = ofSpan(keptCells(layer, direction, t), span), to = ofSpan(cellsAfter(layer, direction, t), span);
    SmallVector<Rows, 2> from = {kept};
    if (states.hasLengths)
      from.push_back(cellsBefore(at));
    rows.emitCopy("rnn_cells", from, to, states.hasLengths ? firstIfAlive : first, states.hasLengths ? t : AffineExpr(),
                  direction > 0);
  }
  if (states.hasLengths)
    program.endLoop();
}
