//===- Cell.h - The cells as linalg ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One step of one layer and direction over all sequences. What a step reads and writes are its
// arguments, found by name:
//   x, h        [N, SLC], [N, SIC]   states of src_layer's type
//   h_rounded   [N, SIC] bf16, what is multiplied in place of h; x is bf16, too. h is given if
//               an elementwise op reads it
//   inputs      [N, G, DHC] in place of x and w: their products, in f32 or s32, which were made for all of time at once
//   w, u, r     weights of x, of h and of a projection; w_sums, u_sums [G, DHC], r_sums [1, DIC] sums of their
//               columns, of shifted bytes
//   scales      [G, DHC], [1, DIC] of a projection: what products of integers are multiplied by,
//               if that is not one number
//   bias        [G or G + 1, DHC], optional
//   c, c_next   [N, DHC] f32, the same memory or not; peephole [3, DHC], optional
//   attention   [N], optional
//   remaining   [N] s32, optional: the steps that each sequence still has; a state stays as it is where there are none
//   h_next      [N, DIC], or for a projection to read, unprojected [N, DHC]; h_next_rounded, unprojected_rounded in
//               bf16 for the steps to come, in place of unprojected if nothing else reads that
//   update, reset  [N, DHC]: u in f32 and r h between the two steps of a gru
//   gates, hidden_sums  [N, G, DHC], [N, DHC] f32: what training keeps, optional
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_CELL_H
#define QUERN_PRIMITIVES_RNN_EMIT_CELL_H

#include "Desc/Attributes.h"
#include "Primitives/Rnn/Emit/Products.h"
#include "Primitives/Rnn/Shape.h"

namespace quern::rnn {

/// What all steps of a problem share.
struct CellContext {
  const RnnDesc &rnn;
  const Attributes &attr;
  Shape shape;
  WeightsView layer, iter, projection; ///< the last of a problem without one is empty
  DataType state() const { return rnn.srcLayer.dataType; }
  /// f32 whose products may be made in bf16: rows are rounded once for all that they are multiplied with. A problem of
  /// one step does that as it multiplies.
  bool areRowsRounded() const { return state() == DataType::F32 && layer.kPack > 1 && shape.steps != 1; }
  /// Of the rows that are multiplied.
  DataType factor() const { return areRowsRounded() ? DataType::BF16 : state(); }
  bool isShifted() const { return isQuantized(rnn) && attr.rnn.dataShift != 0; }
};

/// Products of x, [T N, SLC], with w: "inputs", [T N, G, DHC].
void emitInputs(emission::StepEmitter &step, const CellContext &context);
/// vanilla, lstm and the linear-before-reset cells.
void emitCell(emission::StepEmitter &step, const CellContext &context);
/// gru and augru: update and r h.
void emitGruGates(emission::StepEmitter &step, const CellContext &context);
/// gru and augru: the output gate and h_next.
void emitGruOutput(emission::StepEmitter &step, const CellContext &context);
/// lstm: h_next from unprojected.
void emitProjection(emission::StepEmitter &step, const CellContext &context);

/// A number as it is kept between steps, and what it stands for (ReferenceCells.h); `builder` is that
/// of a body, values are f32.
mlir::Value emitStored(mlir::OpBuilder &builder, mlir::Location loc, const CellContext &context, mlir::Value number);
mlir::Value emitNumber(mlir::OpBuilder &builder, mlir::Location loc, const CellContext &context, mlir::Value stored);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_CELL_H
