//===- Backward.h - Building the program of an RNN's gradients --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// From the last layer to the first: the states of a layer are made again from what the workspace has, then a loop goes
// back in time, which hands the gradients of h and c from step to step and keeps those of the gates. Everything else
// are sums over these, made for all of time at once. Regions, each [D][T][N][…] unless said otherwise:
//   delta, hidden_delta   the gradients of the gates, of W x and, linear before reset, of U h
//   delta_rounded, hidden_delta_rounded   the same as products read them where the fpmath mode lets them be rounded
//   states0, states1      the states of a layer and of that below, of one more time: the start lies where the direction
//                         begins
//   cells                 likewise c, where that of the workspace does not serve: with lengths, or for peepholes
//   state_diff            of an LSTM's projected states
//   unprojected, reset    what R and U_o multiply
//   input_diff            the gradients of what a layer reads
//   carry, cells_diff     [D][N][…], from step to step
//
// Backward.cpp has the sweep, BackwardStates.cpp what is made again, BackwardSums.cpp what follows the sweep.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_BACKWARD_H
#define QUERN_PRIMITIVES_RNN_EMIT_BACKWARD_H

#include "Primitives/Rnn/Emit/BackwardCell.h"
#include "Primitives/Rnn/Emit/RowSteps.h"
#include "Primitives/Rnn/Emit/Weights.h"

namespace quern::rnn {

class BackwardEmitter {
public:
  BackwardEmitter(mlir::ModuleOp module, const VerifiedProblem &problem)
      : builder(module.getContext()), rnn(std::get<Boxed<RnnDesc>>(problem.desc.op)), s(Shape::of(rnn)),
        layer(Weights::transposed("weights_layer", rnn.weightsLayer, problem, module.getContext())),
        iter(Weights::transposed("weights_iter", rnn.weightsIter, problem, module.getContext())),
        projection(Weights::transposed("weights_projection", rnn.weightsProjection, problem, module.getContext())),
        peephole("weights_peephole", rnn.weightsPeephole),
        context{rnn, problem.desc.attr, s, layer.view(), iter.view(), projection.view()},
        program(module, States::openBatch(problem)), states(problem, context, program), rows(rnn, s, program, states) {}
  void emit();

private:
  using Bindings = RowSteps::Bindings;
  /// A step of a layer and direction; no step of it is after the end, none before the start.
  struct At {
    int64_t layer, direction;
    mlir::AffineExpr t;
    bool isEnd, isStart;
  };
  /// Gradients of some gates.
  struct Gates {
    int64_t first, count;
  };
  bool isReversed(int64_t direction) const { return direction == 1 || rnn.direction == RnnDirection::Right2Left; }
  int64_t stack(int64_t layer, int64_t direction) const { return layer * s.directions + direction; }
  mlir::AffineExpr before(const At &at) const { return isReversed(at.direction) ? at.t + 1 : at.t - 1; }
  mlir::AffineExpr after(const At &at) const { return isReversed(at.direction) ? at.t - 1 : at.t + 1; }
  mlir::AffineExpr startOf(int64_t direction) { return isReversed(direction) ? states.steps() - 1 : program.number(0); }
  bool isProjected() const { return !rnn.weightsProjection.isZero(); }
  bool isStacked() const { return s.directions == 2 && (rnn.flags & RnnStackConcatenated) != 0; }
  bool hasResetFirst() const { return isGru(rnn) && !isLinearBeforeReset(rnn); }
  /// What a step hands back is more than a product.
  bool hasCarry() const { return isGru(rnn) || states.hasLengths; }
  bool copiesCells() const { return states.hasLengths || !rnn.diffWeightsPeephole.isZero() || s.steps == runtimeDim; }
  bool readsStates() const { return isGru(rnn) || !rnn.diffWeightsIter.isZero(); }
  /// Rows of a step, or of all of time.
  enum class Span { Step, All };
  int64_t count(Span span) const {
    return span == Span::Step ? s.batch : states.isOpen() ? mlir::ShapedType::kDynamic : s.steps * s.batch;
  }
  int64_t openDim(Span span) const {
    return span == Span::All && states.isOpen() ? states.workspaceSize(WorkspaceRows) : -1;
  }
  Rows ofSpan(const Rows &rows, Span span) const { return span == Span::All ? states.ofAll(rows) : rows; }
  /// The gates that U multiplies with h at once.
  Gates iterGates() const { return {0, hasResetFirst() ? 2 : s.gates}; }
  /// Where products read some gradients of gates.
  llvm::StringRef factorsOf(llvm::StringRef region) const {
    return !roundsDeltas(context) ? region : region == "delta" ? "delta_rounded" : "hidden_delta_rounded";
  }
  DataType typeOf(llvm::StringRef region) const {
    return region.ends_with("_rounded") ? DataType::BF16 : deltaType(context);
  }
  llvm::StringRef iterDelta() const { return isLinearBeforeReset(rnn) ? "hidden_delta" : "delta"; }

  // Where things are.
  mlir::MemRefType gatesType(Span span, Gates gates, int64_t of, DataType type) const;
  /// Some gates of the gradients from time t on; as the transposed weights of `view` are read.
  emission::Binding delta(llvm::StringRef name, llvm::StringRef region, int64_t direction, mlir::AffineExpr t,
                          Gates gates, Span span, const WeightsView *view = nullptr);
  /// Each gate of a step, which are arguments of their own: a recipe takes one result for one buffer.
  void addDelta(Bindings &bindings, llvm::StringRef region, const At &at, llvm::ArrayRef<int64_t> gates);
  emission::Binding gatesAt(const At &at, Span span);
  Rows gateRows(int64_t layer, int64_t direction, mlir::AffineExpr t, int64_t gate);
  Rows keptCells(int64_t layer, int64_t direction, mlir::AffineExpr t) const {
    return states.section(WorkspacePart::Cells, s.dhc, stack(layer, direction), t);
  }
  /// The state behind a step, and that before the first.
  Rows stateAfter(int64_t layer, int64_t direction, mlir::AffineExpr t);
  Rows stateBefore(int64_t layer, int64_t direction, mlir::AffineExpr t);
  Rows stateAtStart(int64_t layer, int64_t direction);
  Rows cellsAfter(int64_t layer, int64_t direction, mlir::AffineExpr t);
  Rows cellsAtStart(int64_t direction);
  std::optional<Rows> cellsBefore(const At &at);
  Rows inputDiff(int64_t direction, mlir::AffineExpr t);
  Rows dstDiff(const At &at);
  /// The problem's gradient of a state at the end, with contiguous channels: where emitEnds() gathers it, or itself.
  Rows endDiff(llvm::StringRef name, const TensorDesc &desc, const At &at);

  // What is made again.
  /// Zeros behind what sums over all of time read in chunks.
  void emitPadding();
  void emitDenseResult();
  void emitStart(int64_t layer);
  void emitStates(int64_t layer);
  void emitCells(int64_t layer);

  // The sweep.
  void emitEnds(int64_t layer);
  void emitSweep(int64_t layer, llvm::ArrayRef<int64_t> directions);
  void emitStep(int64_t layer, llvm::ArrayRef<int64_t> directions, mlir::AffineExpr i, bool isEnd, bool isStart);
  void callCell(const At &at, bool beside);
  void callState(const At &at, bool beside);
  void callGruOutput(const At &at, bool beside);
  void callGruGates(const At &at, bool beside);
  void emitStartDiff(int64_t layer);
  void addHandedBack(Bindings &bindings, const At &at);
  void addCarry(Bindings &bindings, int64_t direction);
  void addPerSequence(Bindings &bindings, const At &at);
  void addState(Bindings &bindings, const At &at);

  // What follows it.
  void emitInputDiff(int64_t layer, int64_t direction);
  void emitWeightsDiff(int64_t layer, int64_t direction);
  void emitAttentionDiff();
  /// left^T right, added to or written to a matrix of a gradient's tensor, [I, G, O] from row `firstRow` on.
  struct Outer {
    llvm::StringRef tensor;
    const TensorDesc &desc;
    int64_t layer, direction, firstRow = 0;
    Gates gates;
  };
  void emitOuter(const Outer &outer, emission::Binding left, emission::Binding right);
  void emitColumns(llvm::StringRef tensor, const TensorDesc &desc, int64_t layer, int64_t direction, int64_t firstRow,
                   const emission::Binding &values, const Rows *factors);
  /// The left factor of such a product: [T, N, channels] with zeros where a sequence has ended, which may hold
  /// anything.
  emission::Binding factor(llvm::function_ref<Rows(mlir::AffineExpr)> at, int64_t timeStride, int64_t direction);
  /// Where sizes are open, calls it for each chunk of the rows of `parts`, whose bindings then are those of a chunk.
  void inChunks(llvm::MutableArrayRef<emission::Binding> parts, llvm::function_ref<void()> call);
  void fill(llvm::StringRef kind, const emission::Binding &to);
  void emitAttentionSteps();
  /// `from` on, as [T N, channels] or, where time is not even, [T, N, channels].
  emission::Binding allOf(llvm::StringRef name, const Rows &from, int64_t timeStride) const;
  /// From a row of the first step to that of the next, where steps lie evenly.
  int64_t everyStep(int64_t row) const { return states.isOpen() ? mlir::ShapedType::kDynamic : s.batch * row; }
  /// Time and sequences are one dim.
  bool isEven(const Rows &at, int64_t timeStride) const {
    return s.batch == 1 || s.steps == 1 || timeStride == s.batch * at.row;
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
