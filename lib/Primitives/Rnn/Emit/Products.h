//===- Products.h - Products of states and weights ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Rows of states times the weights of some gates, added to sums. Packing shows in the maps alone: channel p · block + v
// of the outputs, channel k · kPack + j of the inputs.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_PRODUCTS_H
#define QUERN_PRIMITIVES_RNN_EMIT_PRODUCTS_H

#include "Desc/PrimitiveDesc.h"
#include "Primitives/Emission/Program.h"

namespace quern::rnn {

/// The weights of one layer and direction: [O / block][K / kPack][gate][block][kPack], or [O][K][gate] with neither,
/// with any strides but those of the last two. Transposed, O counts the channels that the weights multiply in forward,
/// K those of a gate.
struct WeightsView {
  mlir::MemRefType type;
  DataType element = DataType::Undef;
  int64_t inputs = 0, gates = 1, outputs = 0;
  int64_t block = 1, kPack = 1;

  /// Of weights of rank 5, [L, D, K, G, O], or 4, [L, D, K, O].
  static WeightsView of(const TensorDesc &weights, mlir::MLIRContext *context);
  /// For products with gradients: `gates` gates from one on, as a single K where they follow each other evenly.
  static WeightsView transposed(const TensorDesc &weights, int64_t gates, mlir::MLIRContext *context);
  int64_t panels() const { return (outputs + block - 1) / block; }
  /// Channels of the outputs, those that fill up the last panel included.
  int64_t width() const { return panels() * block; }
};

/// The sums of some gates, [N][gates][panels · block], or [N][panels · block] of one gate, in f32 or i32, set to zero.
struct Sums {
  mlir::Value memref;
  int64_t firstGate = 0, gates = 1;
};

/// `rows` is a memref whose first dim is N; `width` is that of the widest of the weights.
Sums makeSums(emission::StepEmitter &step, mlir::Value rows, int64_t width, bool isInteger, int64_t firstGate,
              int64_t gates);
/// As the sums that a step is given to write.
Sums clearSums(emission::StepEmitter &step, mlir::Value memref, int64_t firstGate, int64_t gates);
/// Adds x, [N][K], of type `rows`, times the sums' gates of `weights`. Factors of f32 may be
/// rounded as `fpmath` allows.
void addProduct(emission::StepEmitter &step, const Sums &sums, mlir::Value x, DataType rows, mlir::Value weights,
                const WeightsView &view, FpmathMode fpmath);
/// `sums`, [N, O], become x, [N, K], times `weights`, [K, O].
void addPlainProduct(emission::StepEmitter &step, mlir::Value sums, mlir::Value x, mlir::Value weights);
/// The same with weights in panels, [panels][K][block], or [panels][groups][block][kPack] where so many K make a group,
/// the last of which may lack some; of sums whole panels.
void addPanelProduct(emission::StepEmitter &step, mlir::Value sums, mlir::Value x, mlir::Value weights);
/// Adds gradients, [N][gate][K] of type `rows`, times transposed weights, summed over the gates.
void addTransposedProduct(emission::StepEmitter &step, const Sums &sums, mlir::Value gradients, DataType rows,
                          mlir::Value weights, const WeightsView &view, FpmathMode fpmath);
/// Adds left^T right to `sums`: left [K.., R], right [K.., columns..], sums [R, columns..], where K may be several dims
/// and columns, too.
void addOuterProduct(emission::StepEmitter &step, mlir::Value sums, mlir::Value left, mlir::Value right,
                     FpmathMode fpmath);
/// The same of sums that no recipe adds products to: with one element. They are made apart and added as one.
void addOuterProductApart(emission::StepEmitter &step, mlir::Value sums, mlir::Value left, mlir::Value right,
                          FpmathMode fpmath);
/// The sums of `values`, [K, G, O], over K, each multiplied by `factors`, [K, O], if there are such: written to `to`,
/// [G, O], or added to what it holds. With `remaining`, [K], only of what has a step left.
void emitGradientSums(emission::StepEmitter &step, mlir::Value to, mlir::Value values, mlir::Value factors,
                      mlir::Value remaining, bool isAdded);
/// The sums of the columns of plain s8 weights, "weights", as f32 [G, O], "sums".
void emitColumnSums(emission::StepEmitter &step);
/// The sums without the columns that only fill up the last panel.
mlir::Value withoutPadding(emission::StepEmitter &step, const Sums &sums, const WeightsView &view);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_PRODUCTS_H
