//===- BackwardCell.h - Gradients of the cells as linalg ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One step of one layer and direction backward in time, over all sequences. "After" and "before" refer to the order of
// forward. A step's arguments, found by name:
//   delta_after, u   [N, G, DHC], weights: gradients of the gates of the step after, and the transposed weights of h;
//                    their product is passed back by that step; absent at the end of time
//   carry_after      [N, DIC] f32: passed back in addition to the product; at the end diff_dst_iter; optional
//   dst_diff         [N, DIC] f32: gradient from the layer above
//   state_diff, r    [N, DIC], weights: replace the arguments above if there is a projection: the gradient of the
//                    projected state, and the transposed weights of the projection
//   gates, hidden_sums, c, c_next, h   [N, G, DHC], [N, DHC] …: values of the step in the workspace, and the states
//                    before it; c is zero if absent
//   peephole [3, DHC], attention [N], remaining [N]   as in forward
//   cells_diff_after [N, DHC] f32, optional
// Its results:
//   delta0, delta1 … [N, DHC] of each gate, of deltaType(); if products read rounded copies, also delta_rounded0 …
//   hidden_delta0 …  the same for the gradients of U h, for linear before reset
//   carry            [N, DIC] f32, passed back in addition to products; cells_diff [N, DHC]
//   unprojected, reset   [N, DHC]: o tanh(c) and r h, rounded as in forward
//   attention_terms  [N, DHC] f32, whose sums over channels are the gradient of attention
// A sequence that does not have this step passes the incoming gradients on unchanged.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_BACKWARD_CELL_H
#define QUERN_PRIMITIVES_RNN_EMIT_BACKWARD_CELL_H

#include "Primitives/Rnn/Emit/Cell.h"

namespace quern::rnn {

/// Returns the type in which gradients of gates are stored.
inline DataType deltaType(const CellContext &context) {
  return context.state() == DataType::BF16 ? DataType::BF16 : DataType::F32;
}
/// Returns true if products read a rounded copy of the gradients of gates: f32 gradients and weights rounded to bf16.
inline bool roundsDeltas(const CellContext &context) {
  return context.state() == DataType::F32 && context.iter.element == DataType::BF16;
}
inline DataType deltaFactorType(const CellContext &context) {
  return roundsDeltas(context) ? DataType::BF16 : deltaType(context);
}

/// Emits the gradients of a vanilla, lstm or linear-before-reset cell. `product` describes the transposed weights that
/// are multiplied.
void emitCellDiff(emission::StepEmitter &step, const CellContext &context, const WeightsView &product);
/// Emits all gradients of a gru or augru except that of the reset gate. `product` describes the weights of the update
/// and reset gates.
void emitGruOutputDiff(emission::StepEmitter &step, const CellContext &context, const WeightsView &product);
/// Emits the gradient of the reset gate of a gru or augru, and completes "carry". "delta_output", [N, 1, DHC] of this
/// step, is multiplied by `product`.
void emitGruGatesDiff(emission::StepEmitter &step, const CellContext &context, const WeightsView &product);
/// Emits "state_diff", the gradient of the projected state of an lstm.
void emitStateDiff(emission::StepEmitter &step, const CellContext &context, const WeightsView &product);
/// Computes "start_diff", [N, SIC]: the gradient that the first step passes back.
void emitStartDiff(emission::StepEmitter &step, const CellContext &context, const WeightsView &product);

/// Recomputes h of a step, "h_next", from gates, c_next and h.
void emitStateAgain(emission::StepEmitter &step, const CellContext &context);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_BACKWARD_CELL_H
