//===- BackwardCell.h - The gradients of cells as linalg --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One step of one layer and direction back in time, over all sequences. "After" and "before" are in the order in which
// forward computes. A step's arguments, found by name:
//   delta_after, u   [N, G, DHC], weights: the gradients of the gates of the step after, and the transposed weights of
//                    h, whose product is what that step hands back; absent at the end of time
//   carry_after      [N, DIC] f32: what it hands back besides, or at the end diff_dst_iter; optional
//   dst_diff         [N, DIC] f32: the gradient from above
//   state_diff, r    [N, DIC], weights: in place of all these, the gradient of a projected state, and the transposed
//                    weights of the projection
//   gates, hidden_sums, c, c_next, h   [N, G, DHC], [N, DHC] …: of the step, as the workspace has them, and the states
//                    before it; c is absent where it is zero
//   peephole [3, DHC], attention [N], remaining [N]   as forward has them
//   cells_diff_after [N, DHC] f32, optional
// and it writes
//   delta0, delta1 … [N, DHC] of each gate, of deltaType(); where products read others, also delta_rounded0 …; linear
//   before reset also hidden_delta0 …:
//                    of U h
//   carry            [N, DIC] f32, what is handed back besides products; cells_diff [N, DHC]
//   unprojected, reset   [N, DHC] o tanh(c) and r h, as forward rounds them
//   attention_terms  [N, DHC] f32, whose sums over channels are the gradient of attention
// A sequence that has no such step hands back what it is given.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_BACKWARD_CELL_H
#define QUERN_PRIMITIVES_RNN_EMIT_BACKWARD_CELL_H

#include "Primitives/Rnn/Emit/Cell.h"

namespace quern::rnn {

/// The type of the gradients of gates.
inline DataType deltaType(const CellContext &context) {
  return context.state() == DataType::BF16 ? DataType::BF16 : DataType::F32;
}
/// Of f32 whose products may be made in bf16 there is another copy of them, rounded, which products read.
inline bool roundsDeltas(const CellContext &context) {
  return context.state() == DataType::F32 && context.iter.element == DataType::BF16;
}
inline DataType deltaFactorType(const CellContext &context) {
  return roundsDeltas(context) ? DataType::BF16 : deltaType(context);
}

/// vanilla, lstm and the linear-before-reset cells; with `product` the transposed weights that are multiplied.
void emitCellDiff(emission::StepEmitter &step, const CellContext &context, const WeightsView &product);
/// gru and augru: all but the gradient of the reset gate; `product` is of the update and reset gates.
void emitGruOutputDiff(emission::StepEmitter &step, const CellContext &context, const WeightsView &product);
/// gru and augru: that of the reset gate; "delta_output", [N, 1, DHC] of this step, is multiplied by `product`.
void emitGruGatesDiff(emission::StepEmitter &step, const CellContext &context, const WeightsView &product);
/// lstm with a projection: "state_diff", the gradient of the projected state.
void emitStateDiff(emission::StepEmitter &step, const CellContext &context, const WeightsView &product);
/// "start_diff", [N, SIC]: what the first step hands back.
void emitStartDiff(emission::StepEmitter &step, const CellContext &context, const WeightsView &product);

/// h of a step, "h_next", from gates, c_next and h.
void emitStateAgain(emission::StepEmitter &step, const CellContext &context);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_BACKWARD_CELL_H
