//===- Weights.h - Where the constants of the cells lie -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Weights, sums of their columns, scales, biases and peepholes, as the steps of each layer and direction read them.
// What a cell cannot read as it is, once per execution a step brings into a region: weights that are not packed, unless
// rows of a single vector or a single step of time are not worth it, or not rounded as the fpmath mode allows; vectors
// that are strided; scales, which are constants of the problem.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_WEIGHTS_H
#define QUERN_PRIMITIVES_RNN_EMIT_WEIGHTS_H

#include "Primitives/Registry.h"
#include "Primitives/Rnn/Emit/Cell.h"

namespace quern::rnn {

class Weights {
public:
  /// `tensor` is a name of the problem's weights; a zero descriptor stands for none.
  Weights(llvm::StringRef tensor, const TensorDesc &given, const VerifiedProblem &problem, mlir::MLIRContext *context);

  /// Of backward: the products are with the transposed weights.
  static Weights transposed(llvm::StringRef tensor, const TensorDesc &given, const VerifiedProblem &problem,
                            mlir::MLIRContext *context);

  /// Calls the steps that prepare the regions.
  void emitSteps(emission::Program &program) const;
  /// As `name`, and the sums of their columns as `name` + "_sums", where shifted bytes need them.
  void bind(llvm::StringRef name, int64_t layer, int64_t direction, emission::Program &program,
            llvm::SmallVectorImpl<emission::Binding> &bindings) const;
  /// Without the sums.
  void bindAlone(llvm::StringRef name, int64_t layer, int64_t direction, emission::Program &program,
                 llvm::SmallVectorImpl<emission::Binding> &bindings) const;
  /// The sums alone.
  void bindSums(llvm::StringRef name, int64_t layer, int64_t direction, emission::Program &program,
                llvm::SmallVectorImpl<emission::Binding> &bindings) const;
  const WeightsView &view() const { return seen; }
  /// Of transposed weights: some gates.
  WeightsView viewOf(int64_t gates) const { return WeightsView::transposed(used, gates, seen.type.getContext()); }
  emission::Binding bindGates(llvm::StringRef name, int64_t layer, int64_t direction, int64_t firstGate, int64_t gates,
                              emission::Program &program) const;

private:
  emission::Binding sumsAlone(llvm::StringRef name, int64_t layer, int64_t direction, emission::Program &program) const;
  void emitCopy(emission::Program &program) const;
  void emitSums(emission::Program &program) const;
  int64_t stacks() const { return given.dims[0] * given.dims[1]; }

  std::string tensor, buffer;
  TensorDesc given, used; ///< the tensor, and what cells read: itself, or a region in packed layout
  bool hasSums = false;   ///< shifted bytes: sums of columns are behind the weights, or in a region
  WeightsView seen;
};

/// The scales that products of integers are multiplied by, 1 / (w_s s), as a region [G, O] "scales" (projection: [1, O]
/// "projection_scales"), if they are more than one.
void emitScales(const CellContext &context, emission::Program &program);
void bindScales(const CellContext &context, bool isProjection, emission::Program &program,
                llvm::SmallVectorImpl<emission::Binding> &bindings);
/// 1 / (w_s s) where it is one for all.
float commonScaleOf(const RnnQuantization &quantization, bool isProjection);

/// Writes constants, which the module holds as `@name`, to `to` of the same size.
void emitConstants(emission::StepEmitter &step, mlir::Value to, llvm::StringRef name, mlir::DenseElementsAttr values);

/// A tensor [L, D, R, O] of vectors: its [R, O] of a layer and direction as `name`.
class Vectors {
public:
  Vectors(llvm::StringRef tensor, const TensorDesc &desc);
  void emitSteps(emission::Program &program) const;
  void bind(llvm::StringRef name, int64_t layer, int64_t direction, emission::Program &program,
            llvm::SmallVectorImpl<emission::Binding> &bindings) const;

private:
  std::string tensor, buffer;
  TensorDesc given, used;
};

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_WEIGHTS_H
