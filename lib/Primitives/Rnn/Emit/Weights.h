//===- Weights.h - Memory of the cells' constants -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Weights, sums of their columns, scales, biases and peepholes, as the steps of each layer and direction read them.
// Once per execution, a step copies to a region: weights that are not packed, unless too few rows are multiplied to pay
// for packing; weights that the fpmath mode lets be rounded; strided vectors; scales, which are constants of the
// problem.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_WEIGHTS_H
#define QUERN_PRIMITIVES_RNN_EMIT_WEIGHTS_H

#include "Primitives/Registry.h"
#include "Primitives/Rnn/Emit/Cell.h"

namespace quern::rnn {

class Weights {
public:
  /// `tensor` is the name of weights of the problem; a zero descriptor: they are absent. Weights of open widths have an
  /// empty view (see SeparateGates).
  Weights(llvm::StringRef tensor, const TensorDesc &given, const VerifiedProblem &problem, mlir::MLIRContext *context);

  /// Returns the weights for backward, whose products use the transposed weights.
  static Weights transposed(llvm::StringRef tensor, const TensorDesc &given, const VerifiedProblem &problem,
                            mlir::MLIRContext *context);

  /// Calls the steps that fill the regions.
  void emitSteps(emission::Program &program) const;
  /// Binds the weights as `name` and, if shifted bytes need them, the sums of their columns as `name` + "_sums".
  void bind(llvm::StringRef name, int64_t layer, int64_t direction, emission::Program &program,
            llvm::SmallVectorImpl<emission::Binding> &bindings) const;
  /// Binds the weights without the sums.
  void bindAlone(llvm::StringRef name, int64_t layer, int64_t direction, emission::Program &program,
                 llvm::SmallVectorImpl<emission::Binding> &bindings) const;
  /// Binds only the sums.
  void bindSums(llvm::StringRef name, int64_t layer, int64_t direction, emission::Program &program,
                llvm::SmallVectorImpl<emission::Binding> &bindings) const;
  const WeightsView &view() const { return seen; }
  /// For transposed weights: returns the view of `gates` gates.
  WeightsView viewOf(int64_t gates) const { return WeightsView::transposed(used, gates, seen.type.getContext()); }
  emission::Binding bindGates(llvm::StringRef name, int64_t layer, int64_t direction, int64_t firstGate, int64_t gates,
                              emission::Program &program) const;

private:
  emission::Binding sumsAlone(llvm::StringRef name, int64_t layer, int64_t direction, emission::Program &program) const;
  void emitCopy(emission::Program &program) const;
  void emitSums(emission::Program &program) const;
  int64_t stacks() const { return given.dims[0] * given.dims[1]; }

  std::string tensor, buffer;
  TensorDesc given, used; ///< the problem's tensor, and the one that cells read: the same, or a packed region
  bool hasSums = false;   ///< true for shifted bytes; sums of columns follow the weights or are in a region
  WeightsView seen;
};

/// Emits the factors of integer products, 1 / (scale of the weights · data scale), as a region [G, O] "scales" (for a
/// projection [1, O] "projection_scales"), if they differ by channel.
void emitScales(const CellContext &context, emission::Program &program);
void bindScales(const CellContext &context, bool isProjection, emission::Program &program,
                llvm::SmallVectorImpl<emission::Binding> &bindings);
/// Returns 1 / (scale of the weights · data scale), from the first scale of the weights.
float commonScaleOf(const RnnQuantization &quantization, bool isProjection);

/// Copies constants, a global `@name` of the module, to `to` of the same size.
void emitConstants(emission::StepEmitter &step, mlir::Value to, llvm::StringRef name, mlir::DenseElementsAttr values);

/// Vectors of a tensor [L, D, R, O]; binds its [R, O] of a layer and direction.
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
