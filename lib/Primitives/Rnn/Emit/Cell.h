//===- Cell.h - The cells as linalg ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One step of one layer and direction over all sequences. The operands of a step are its arguments, found by name:
//   x, h        [N, SLC], [N, SIC]   states, of src_layer's type
//   h_rounded   [N, SIC] bf16, multiplied in place of h; x is bf16 then, and h is passed only if an elementwise op
//               reads it
//   inputs      [N, G, DHC] in place of x and w: their products, in f32 or s32, computed for all time steps at once
//   x0, h0, x1 …  [N, DHC] in place of x, w and u: the products of each gate with x and with h, if the widths are open.
//               Rows of bias and peephole are separate arguments then: bias0, bias1 …
//   w, u, r     weights of x, of h and of a projection; w_sums, u_sums [G, DHC] and r_sums [1, DIC] are the sums of
//               their columns, for shifted bytes
//   scales      [G, DHC], for a projection [1, DIC]: factors of integer products, if they are not all equal
//   bias        [G or G + 1, DHC], optional
//   c, c_next   [N, DHC] f32, may be the same memory; peephole [3, DHC], optional
//   attention   [N], optional
//   remaining   [N] s32, optional: number of steps that each sequence still has; if 0, its state does not change
//   h_next      [N, DIC]; with a projection, unprojected [N, DHC] instead, which the projection reads. h_next_rounded
//               and unprojected_rounded are bf16 copies for later products; unprojected is dropped if nothing else
//               reads it
//   update, reset  [N, DHC]: u in f32 and r h, passed between the two steps of a gru
//   gates, hidden_sums  [N, G, DHC], [N, DHC] f32: stored for backward in training, optional
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_CELL_H
#define QUERN_PRIMITIVES_RNN_EMIT_CELL_H

#include "Desc/Attributes.h"
#include "Primitives/Rnn/Emit/Products.h"
#include "Primitives/Rnn/Shape.h"

namespace quern::rnn {

/// Properties shared by all steps of a problem.
struct CellContext {
  const RnnDesc &rnn;
  const Attributes &attr;
  Shape shape;
  WeightsView layer, iter, projection; ///< `projection` is empty if the problem has none, all are if widths are open
  /// Type of states in memory: state(), or f32 for states of bf16 that products read as f32.
  DataType memory = rnn.srcLayer.dataType;
  DataType state() const { return rnn.srcLayer.dataType; }
  /// Returns true if the rows of an f32 problem are rounded to bf16 once, for all products that read them. A problem
  /// with one time step rounds them in the product instead.
  bool roundsRows() const { return state() == DataType::F32 && layer.kPack > 1 && shape.steps != 1; }
  /// Returns the type of the rows that are multiplied.
  DataType factor() const { return roundsRows() ? DataType::BF16 : memory; }
  bool isShifted() const { return isQuantized(rnn) && attr.rnn.dataShift != 0; }
};

/// Computes "inputs", [T N, G, DHC]: the products of x, [T N, SLC], with w.
void emitInputs(emission::StepEmitter &step, const CellContext &context);
/// Computes a step of a vanilla, lstm or linear-before-reset cell.
void emitCell(emission::StepEmitter &step, const CellContext &context);
/// Computes the update gate and r h of a gru or augru.
void emitGruGates(emission::StepEmitter &step, const CellContext &context);
/// Computes the output gate and h_next of a gru or augru.
void emitGruOutput(emission::StepEmitter &step, const CellContext &context);
/// Computes h_next of an lstm with a projection from "unprojected".
void emitProjection(emission::StepEmitter &step, const CellContext &context);

/// Convert an f32 to a state as it is stored between steps, and back (quantized if the problem is; see
/// Reference/Rnn/Cells.h). `builder` inserts into a body.
mlir::Value emitStored(mlir::OpBuilder &builder, mlir::Location loc, const CellContext &context, mlir::Value number);
mlir::Value emitNumber(mlir::OpBuilder &builder, mlir::Location loc, const CellContext &context, mlir::Value stored);
/// Converts a state between the types of two tensors or regions.
mlir::Value emitState(mlir::OpBuilder &builder, mlir::Location loc, const CellContext &context, mlir::Value state,
                      DataType from, DataType to);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_CELL_H
