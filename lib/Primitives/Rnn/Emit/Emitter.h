//===- Emitter.h - Builder of the program of a forward RNN ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emit.cpp builds the steps over time, Transfers.cpp the copies before and after them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_EMITTER_H
#define QUERN_PRIMITIVES_RNN_EMIT_EMITTER_H

#include "Primitives/Rnn/Emit/RowSteps.h"
#include "Primitives/Rnn/Emit/SeparateGates.h"
#include "Primitives/Rnn/Emit/Weights.h"
#include "Primitives/Rnn/Plan.h"

namespace quern::rnn {

class RnnEmitter {
public:
  RnnEmitter(mlir::ModuleOp module, const VerifiedProblem &problem)
      : builder(module.getContext()), rnn(std::get<Boxed<RnnDesc>>(problem.desc.op)), s(Shape::of(rnn)),
        layer("weights_layer", rnn.weightsLayer, problem, module.getContext()),
        iter("weights_iter", rnn.weightsIter, problem, module.getContext()),
        projection("weights_projection", rnn.weightsProjection, problem, module.getContext()), bias("bias", rnn.bias),
        peephole("weights_peephole", rnn.weightsPeephole),
        context{rnn, problem.desc.attr, s, layer.view(), iter.view(), projection.view(), States::memoryOf(problem)},
        isMerged(mergesInputs(rnn)), isSequential(s.directions == 2 && weightsExceedCache(rnn)),
        program(module, States::openBatch(problem)), states(problem, context, program), rows(context, program, states) {
    if (hasOpenWidths(rnn))
      separate.emplace(rnn, s, program, states);
  }
  void emit();

private:
  using Bindings = RowSteps::Bindings;
  /// A step of a layer and direction.
  struct At {
    int64_t layer, direction;
    mlir::AffineExpr t;
    bool isFirst;
  };
  mlir::AffineExpr before(const At &at) const { return states.isReversed(at.direction) ? at.t + 1 : at.t - 1; }

  /// Returns true if a step reads the stored state before it: in products, unless these read a rounded copy, or in
  /// elementwise ops.
  bool readsState() const { return !context.roundsRows() || states.hasLengths || isGru(rnn); }

  void emitHeader();
  void emitHeaderSize(int dim, int64_t byte);
  void emitInputFactors();
  void emitStart(int64_t layer);
  void emitInputs(int64_t layer, llvm::ArrayRef<int64_t> directions);
  /// Emits all steps over time in these directions.
  void emitSteps(int64_t layer, llvm::ArrayRef<int64_t> directions);
  /// Emits one time step in each direction; `i` counts from the first.
  void emitStep(int64_t layer, llvm::ArrayRef<int64_t> directions, mlir::AffineExpr i, bool isFirst);
  void emitFinish(int64_t layer);
  void emitStacked(int64_t layer);
  void emitResult();

  void callCell(const At &at, bool independent);
  void callSeparateLstm(const At &at);
  void callProjection(const At &at, bool independent);
  void callGruGates(const At &at, bool independent);
  void callGruOutput(const At &at, bool independent);

  Bindings gateBindings(const At &at, int64_t first, int64_t end);
  void addReset(Bindings &bindings, const At &at);
  Rows resetOf(const At &at) { return states.scratch("reset", context.factor(), states.dhc, at.direction); }
  void addUnprojected(Bindings &bindings, const At &at);
  void addNext(Bindings &bindings, const At &at);
  void addKept(Bindings &bindings, const At &at);
  Rows inputOf(const At &at);
  emission::Binding inputsAt(int64_t direction, mlir::AffineExpr t, int64_t rows);
  Rows stateBefore(const At &at);
  /// Returns true if the first step of a loop over time is a separate call.
  bool startsApart(int64_t layer) const { return states.startsApart(layer) || (states.isTraining && isLstm(rnn)); }
  Rows cellsAt(int64_t layer, int64_t direction, mlir::AffineExpr t);
  Rows cellsStart(int64_t layer, int64_t direction);

  mlir::Builder builder;
  const RnnDesc &rnn;
  const Shape s;
  const Weights layer, iter, projection;
  const Vectors bias, peephole;
  const CellContext context;
  const bool isMerged;     ///< true if the products of x are computed for all time steps at once
  const bool isSequential; ///< true if the second direction starts after the first has ended, so that each has the
                           ///< caches to itself
  emission::Program program;
  States states;
  const RowSteps rows;
  std::optional<SeparateGates> separate; ///< the products if the widths are open
};

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_EMITTER_H
