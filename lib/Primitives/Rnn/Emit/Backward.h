//===- Backward.h - Builder of the program of an RNN's gradients ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Processes the layers from last to first. For each layer, its states are recomputed from the workspace. A loop
// backward in time then passes the gradients of h and c from step to step and stores those of the gates. Everything
// else is a sum over these, computed for all time steps at once. The main regions, each [D][T][N][…] unless stated
// otherwise:
//   delta, hidden_delta   gradients of the gates (of W x), and for linear before reset of U h
//   delta_rounded, hidden_delta_rounded   copies that products read if the fpmath mode lets factors be rounded
//   states0, states1      [D][T + 1][N][…]: states of a layer (layer mod 2); the additional slot is the state at the
//                         start, slot 0 or T, depending on the direction
//   cells_again           the same for c, if cells cannot be read from the workspace: with lengths, peepholes or open T
//   state_diff            gradients of an LSTM's projected states
//   unprojected, reset    factors of R and U_o
//   input_diff            gradients of a layer's inputs
//   carry, cells_diff     [D][N][…], passed from step to step
//
// Backward.cpp has the loop over time, BackwardStates.cpp the recomputed states, BackwardSums.cpp the sums after the
// loop.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_BACKWARD_H
#define QUERN_PRIMITIVES_RNN_EMIT_BACKWARD_H

#include "Primitives/Rnn/Emit/BackwardCell.h"
#include "Primitives/Rnn/Emit/RowSteps.h"
#include "Primitives/Rnn/Emit/Weights.h"

namespace quern::rnn {

class RnnBackwardEmitter {
public:
  RnnBackwardEmitter(mlir::ModuleOp module, const VerifiedProblem &problem)
      : builder(module.getContext()), rnn(std::get<Boxed<RnnDesc>>(problem.desc.op)), s(Shape::of(rnn)),
        layer(Weights::transposed("weights_layer", rnn.weightsLayer, problem, module.getContext())),
        iter(Weights::transposed("weights_iter", rnn.weightsIter, problem, module.getContext())),
        projection(Weights::transposed("weights_projection", rnn.weightsProjection, problem, module.getContext())),
        peephole("weights_peephole", rnn.weightsPeephole),
        context{rnn, problem.desc.attr, s, layer.view(), iter.view(), projection.view()},
        program(module, States::openBatch(problem)), states(problem, context, program), rows(context, program, states) {
  }
  void emit();

private:
  using Bindings = RowSteps::Bindings;
  /// One time step of a layer and direction. `isEnd`: the last step in forward order; `isStart`: the first.
  struct At {
    int64_t layer, direction;
    mlir::AffineExpr t;
    bool isEnd, isStart;
  };
  /// A range of gates.
  struct Gates {
    int64_t first, count;
  };
  mlir::AffineExpr before(const At &at) const { return states.isReversed(at.direction) ? at.t + 1 : at.t - 1; }
  mlir::AffineExpr after(const At &at) const { return states.isReversed(at.direction) ? at.t - 1 : at.t + 1; }
  mlir::AffineExpr startOf(int64_t direction) {
    return states.isReversed(direction) ? states.steps() - 1 : program.number(0);
  }
  bool isStacked() const { return s.directions == 2 && (rnn.flags & RnnStackConcatenated) != 0; }
  /// Returns true if a step passes back more than a product (`carry`).
  bool hasCarry() const { return isGru(rnn) || states.hasLengths; }
  bool copiesCells() const { return states.hasLengths || !rnn.diffWeightsPeephole.isZero() || s.steps == runtimeDim; }
  bool readsStates() const { return isGru(rnn) || !rnn.diffWeightsIter.isZero(); }
  /// Rows of one step, or of all time steps.
  enum class Span { Step, All };
  int64_t count(Span span) const {
    return span == Span::Step ? s.batch : states.isOpen() ? mlir::ShapedType::kDynamic : s.steps * s.batch;
  }
  int64_t openDim(Span span) const {
    return span == Span::All && states.isOpen() ? states.workspaceSize(WorkspaceRows) : -1;
  }
  Rows ofSpan(const Rows &rows, Span span) const { return span == Span::All ? states.ofAll(rows) : rows; }
  /// Returns the gates whose weights U are multiplied by h in one product.
  Gates iterGates() const { return {0, hasResetFirst(rnn) ? 2 : s.gates}; }
  /// Returns the region in which products read the gate gradients of `region`.
  llvm::StringRef factorsOf(llvm::StringRef region) const {
    return !roundsDeltas(context) ? region : region == "delta" ? "delta_rounded" : "hidden_delta_rounded";
  }
  DataType typeOf(llvm::StringRef region) const {
    return region.ends_with("_rounded") ? DataType::BF16 : deltaType(context);
  }
  llvm::StringRef iterDelta() const { return isLinearBeforeReset(rnn) ? "hidden_delta" : "delta"; }

  // Memory of the operands.
  mlir::MemRefType gatesType(Span span, Gates gates, int64_t of, DataType type) const;
  /// Binds the gradients of some gates from time `t` on. With `view`: in the shape in which products with its
  /// transposed weights read them.
  emission::Binding delta(llvm::StringRef name, llvm::StringRef region, int64_t direction, mlir::AffineExpr t,
                          Gates gates, Span span, const WeightsView *view = nullptr);
  /// Binds the gradient of each gate of a step as a separate argument, because a recipe supports one result per buffer.
  void addDelta(Bindings &bindings, llvm::StringRef region, const At &at, llvm::ArrayRef<int64_t> gates);
  emission::Binding gatesAt(const At &at, Span span);
  Rows gateRows(int64_t layer, int64_t direction, mlir::AffineExpr t, int64_t gate);
  Rows keptCells(int64_t layer, int64_t direction, mlir::AffineExpr t) const {
    return states.section(WorkspacePart::Cells, s.dhc, states.stack(layer, direction), t);
  }
  /// Return the states after and before a step, and before the first step; likewise for the cells.
  Rows stateAfter(int64_t layer, int64_t direction, mlir::AffineExpr t);
  Rows stateBefore(int64_t layer, int64_t direction, mlir::AffineExpr t);
  Rows stateAtStart(int64_t layer, int64_t direction);
  Rows cellsAfter(int64_t layer, int64_t direction, mlir::AffineExpr t);
  Rows cellsAtStart(int64_t direction);
  Rows cellsBefore(const At &at);
  Rows inputDiff(int64_t direction, mlir::AffineExpr t);
  Rows dstDiff(const At &at);
  /// Returns the problem's gradient of a final state with contiguous channels: the tensor itself, or the copy of
  /// emitEnds().
  Rows endDiff(llvm::StringRef name, const TensorDesc &desc, const At &at);

  // Recomputed states.
  /// Zeros the rows after the last step, which sums over all time steps read because they process whole chunks.
  void emitPadding();
  void emitDenseResult();
  void emitStates(int64_t layer);
  void emitCells(int64_t layer);

  // Loop over time.
  void emitEnds(int64_t layer);
  void emitSweep(int64_t layer, llvm::ArrayRef<int64_t> directions);
  void emitStep(int64_t layer, llvm::ArrayRef<int64_t> directions, mlir::AffineExpr i, bool isEnd, bool isStart);
  void callCell(const At &at, bool independent);
  void callState(const At &at, bool independent);
  void callGruOutput(const At &at, bool independent);
  void callGruGates(const At &at, bool independent);
  void emitStartDiff(int64_t layer);
  void addHandedBack(Bindings &bindings, const At &at);
  void addCarry(Bindings &bindings, int64_t direction);
  Rows carryOf(int64_t direction) { return ofStep("carry", s.dic, direction); }
  /// Returns the matrix of one direction in a region [D][N][channels] of f32.
  Rows ofStep(llvm::StringRef name, Extent channels, int64_t direction) {
    return states.ofSteps(name, DataType::F32, channels, direction, program.number(0), program.number(1));
  }
  void addState(Bindings &bindings, const At &at);

  // Sums after the loop.
  void emitInputDiff(int64_t layer, int64_t direction);
  void emitWeightsDiff(int64_t layer, int64_t direction);
  void emitAttentionDiff();
  /// A product left^T right that is added to or stored in a matrix [I, G, O] of a gradient tensor, from row `firstRow`
  /// on.
  struct Outer {
    llvm::StringRef tensor;
    const TensorDesc &desc;
    int64_t layer, direction, firstRow = 0;
    Gates gates;
  };
  void emitOuter(const Outer &outer, emission::Binding left, emission::Binding right);
  void emitColumns(llvm::StringRef tensor, const TensorDesc &desc, int64_t layer, int64_t direction, int64_t firstRow,
                   const emission::Binding &values, const Rows *factors);
  /// Returns the left factor of such a product, bound like allOf(). Steps after the end of a sequence, whose contents
  /// are unspecified, are replaced by zeros.
  emission::Binding factor(llvm::function_ref<Rows(mlir::AffineExpr)> at, int64_t timeStride, int64_t direction);
  /// If sizes are open, emits a loop over chunks of rows with `call` as its body, in which `parts` are bound to one
  /// chunk. Otherwise only calls `call`.
  void inChunks(llvm::MutableArrayRef<emission::Binding> parts, llvm::function_ref<void()> call);
  void fill(llvm::StringRef kind, const emission::Binding &to);
  void emitAttentionSteps();
  /// Binds the rows of all time steps from `from` on: as [T N, channels], or as [T, N, channels] if their distance is
  /// not constant.
  emission::Binding allOf(llvm::StringRef name, const Rows &from, int64_t timeStride) const;
  /// Returns the distance in elements between consecutive steps of a dense region whose rows have `row` elements.
  int64_t everyStep(int64_t row) const { return states.isOpen() ? mlir::ShapedType::kDynamic : s.batch * row; }
  /// Returns true if the rows of all steps have a constant distance, so that time and sequences form one dim.
  bool isEven(const Rows &at, int64_t timeStride) const {
    return s.batch == 1 || s.steps == 1 || timeStride == s.batch * at.row.number;
  }
  int64_t widestFactor() const { return std::max(std::max(s.slc, s.sic), s.dic); }
  bool overwrites() const { return (rnn.flags & RnnDiffWeightsOverwrite) != 0; }

  mlir::Builder builder;
  const RnnDesc &rnn;
  const Shape s;
  const Weights layer, iter, projection;
  const Vectors peephole;
  const CellContext context;
  emission::Program program;
  States states;
  const RowSteps rows;
};

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_BACKWARD_H
