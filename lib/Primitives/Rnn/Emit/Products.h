//===- Products.h - Products of states and weights ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Products of rows of states and the weights of some gates, added to sums. Packing appears only in the indexing maps: p
// · block + v for the output channels, k · kPack + j for the input channels.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_PRODUCTS_H
#define QUERN_PRIMITIVES_RNN_EMIT_PRODUCTS_H

#include "Desc/PrimitiveDesc.h"
#include "Primitives/Emission/Program.h"

namespace quern::rnn {

/// Weights of one layer and direction: [O / block][K / kPack][gate][block][kPack], or [O][K][gate] if not packed. All
/// strides are arbitrary except those of the last two dims of packed weights. In transposed weights, O counts the input
/// channels of forward, K the channels of a gate.
struct WeightsView {
  mlir::MemRefType type;
  DataType element = DataType::Undef;
  int64_t inputs = 0, gates = 1, outputs = 0;
  int64_t block = 1, kPack = 1;

  /// Returns the view of weights of rank 5, [L, D, K, G, O], or 4, [L, D, K, O].
  static WeightsView of(const TensorDesc &weights, mlir::MLIRContext *context);
  /// Returns the view for products with gradients of `gates` consecutive gates; K covers all of them if their distance
  /// allows it.
  static WeightsView transposed(const TensorDesc &weights, int64_t gates, mlir::MLIRContext *context);
  int64_t panels() const { return (outputs + block - 1) / block; }
  /// Returns the number of output channels, including the padding of the last panel.
  int64_t width() const { return panels() * block; }

private:
  static WeightsView between(const TensorDesc &weights, int row, int column, int64_t gates, bool mergesGates,
                             mlir::MLIRContext *context);
};

/// Sums of some gates in f32 or i32, initially zero: [N][gates][panels · block], or [N][panels · block] for one gate.
struct Sums {
  mlir::Value memref;
  int64_t firstGate = 0, gates = 1;
};

/// Emits an op with these indexing maps that yields the result of `body`. Its loops are parallel except for the last
/// `reductions`.
using ElementBody = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;
mlir::Operation *emitOp(emission::StepEmitter &step, mlir::ValueRange inputs, mlir::Value output,
                        llvm::ArrayRef<mlir::AffineMap> maps, unsigned reductions, ElementBody body);

/// Allocates sums. `rows` is a memref whose first dim is N; `width` is the width() of the widest weights.
Sums makeSums(emission::StepEmitter &step, mlir::Value rows, int64_t width, bool isInteger, int64_t firstGate,
              int64_t gates);
/// Zeros sums that the step receives as an argument.
Sums clearSums(emission::StepEmitter &step, mlir::Value memref, int64_t firstGate, int64_t gates);
/// Adds x, [N][K] of type `rows`, times the sums' gates of `weights`. Factors in f32 may be rounded as `fpmath` allows.
void addProduct(emission::StepEmitter &step, const Sums &sums, mlir::Value x, DataType rows, mlir::Value weights,
                const WeightsView &view, FpmathMode fpmath);
/// Sets `sums`, [N, O], to x, [N, K], times `weights`: [K, O], or in panels: [panels][K][block], or
/// [panels][groups][block][kPack] with groups of kPack values of K, the last of which may be incomplete. With panels,
/// the sums have whole panels.
void addSeparateProduct(emission::StepEmitter &step, mlir::Value sums, mlir::Value x, mlir::Value weights);
/// Adds gradients, [N][gate][K] of type `rows`, times transposed weights, summed over the gates.
void addTransposedProduct(emission::StepEmitter &step, const Sums &sums, mlir::Value gradients, DataType rows,
                          mlir::Value weights, const WeightsView &view, FpmathMode fpmath);
/// Adds left^T right to `sums`: left [K.., R], right [K.., columns..], sums [R, columns..], where K and columns may be
/// several dims.
void addOuterProduct(emission::StepEmitter &step, mlir::Value sums, mlir::Value left, mlir::Value right,
                     FpmathMode fpmath);
/// Like addOuterProduct(), for sums of one element, which no recipe accumulates into: computes the sum separately and
/// adds it.
void addOuterProductApart(emission::StepEmitter &step, mlir::Value sums, mlir::Value left, mlir::Value right,
                          FpmathMode fpmath);
/// Computes the sums of `values`, [K, G, O], over K, each multiplied by `factors`, [K, O], if not null. Stores them in
/// `to`, [G, O], or adds them to it. With `remaining`, [K], only rows with a step left are summed.
void emitGradientSums(emission::StepEmitter &step, mlir::Value to, mlir::Value values, mlir::Value factors,
                      mlir::Value remaining, bool isAdded);
/// Computes "sums", f32 [G, O], the sums of the columns of plain s8 weights, "weights".
void emitColumnSums(emission::StepEmitter &step);
/// Returns the sums without the padding columns of the last panel.
mlir::Value withoutPadding(emission::StepEmitter &step, const Sums &sums, const WeightsView &view);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_PRODUCTS_H
