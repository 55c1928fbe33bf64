//===- States.h - Where the states of an RNN lie --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Matrices of one row for each sequence, in tensors of the problem, in sections of the workspace and in regions of the
// scratch. The states of a layer over time are one of
//   result     dst_layer itself: the last layer, where it holds nothing but states
//   workspace  training with a projection: backward cannot make these states from the gates
//   region     "states0" and "states1" in turn, [T + 2][N][D][DIC]: time t is slot t + 1; the state at the start is the
//              slot before the first step, whichever end that is
// A result or workspace, and a problem of one step, have the state at the start elsewhere: src_iter, or
// "start", or the workspace.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_STATES_H
#define QUERN_PRIMITIVES_RNN_EMIT_STATES_H

#include "Primitives/Registry.h"
#include "Primitives/Rnn/Emit/Cell.h"
#include "Primitives/Rnn/Workspace.h"

namespace quern::rnn {

/// A matrix [N][channels] at a time, layer and direction.
struct Rows {
  std::string buffer;
  DataType type = DataType::F32;
  int64_t channels = 0;
  int64_t row = 0, channel = 1, offset = 0; ///< strides and offset in elements, of every such matrix of the buffer
  int64_t openRow = -1;                     ///< where the stride is told at execution: its entry in the list of sizes
  mlir::AffineExpr bytes;
  int64_t count = -1;     ///< of rows, where that is not N
  int64_t openCount = -1; ///< where it is told at execution: its entry in the list of sizes
};

class States {
public:
  States(const VerifiedProblem &problem, const CellContext &context, emission::Program &program);

  /// One matrix as a step's argument.
  emission::Binding bind(llvm::StringRef name, const Rows &rows) const;
  /// The problem's tensor of that name at these indices of its dims before N; the dims behind N are the channels.
  Rows tensor(llvm::StringRef name, const TensorDesc &desc, llvm::ArrayRef<mlir::AffineExpr> at) const;
  /// A dense matrix of its own in a region, one for each direction, or for each layer and direction.
  Rows scratch(llvm::StringRef name, DataType type, int64_t channels, int64_t index);
  Rows section(WorkspacePart part, int64_t channels, int64_t index, mlir::AffineExpr t = {}) const;

  Rows stateAt(int64_t layer, int64_t direction, mlir::AffineExpr t);
  /// Both directions side by side; of a region only.
  Rows statesAt(int64_t layer, mlir::AffineExpr t);
  /// The same in the type that products read, if that is another: always such a region, of every layer.
  Rows factorsAt(int64_t layer, mlir::AffineExpr t);
  Rows factorAt(int64_t layer, int64_t direction, mlir::AffineExpr t);
  /// And src_layer in that type.
  Rows inputFactorsAt(mlir::AffineExpr t);
  /// A copy of such for the layer above, where the workspace has directions apart.
  Rows stackedAt(mlir::AffineExpr t);
  /// A region of its own, [D][`slots`][N][channels]: the matrix of slot `t`. Slots are T where nothing else is said.
  /// `padding` rows follow each direction.
  Rows ofSteps(llvm::StringRef name, DataType type, int64_t channels, int64_t direction, mlir::AffineExpr t,
               mlir::AffineExpr slots = {});
  /// An element for each step and sequence.
  Rows scratchOfSteps(llvm::StringRef name, DataType type);
  Rows startOf(int64_t layer, int64_t direction);
  Rows startFactorOf(int64_t layer, int64_t direction);
  /// src_iter itself is the state at the start.
  bool startsInPlace(int64_t layer) const;
  bool isResult(int64_t layer) const { return layer == s.layers - 1 && lastIsResult; }
  /// The first step of a loop over time reads other memory than the others.
  bool startsApart(int64_t layer) const { return isKept || s.steps == 1 || isResult(layer); }

  mlir::AffineExpr number(int64_t value) const { return program.number(value); }
  /// The entry of an open dim in the list of sizes.
  int64_t sizeOf(llvm::StringRef name, int dim) const { return indexOf(problem, name, dim, false); }
  /// A dim or stride of a tensor of the problem, a number or an entry of the list of sizes.
  mlir::AffineExpr dimOf(llvm::StringRef name, const TensorDesc &desc, int dim) const;
  mlir::AffineExpr strideOf(llvm::StringRef name, const TensorDesc &desc, int dim) const;
  /// How many blocks there are along a dim; of one without blocks, the dim.
  mlir::AffineExpr blocksOf(llvm::StringRef name, const TensorDesc &desc, int dim) const;
  bool isOpen() const { return s.isOpen(); }
  /// The entry of a size of the workspace in the list of sizes.
  int64_t workspaceSize(int size) const;
  /// `rows` of all steps and sequences, which lie evenly.
  Rows ofAll(Rows rows) const;
  mlir::AffineExpr steps() const { return dimOf("src_layer", rnn.srcLayer, 0); }
  mlir::AffineExpr batch() const { return dimOf("src_layer", rnn.srcLayer, 1); }
  /// The steps that are computed: as many as the longest sequence has, where that is known in time.
  bool countsStepsDone() const { return countsSteps; }
  mlir::AffineExpr stepsDone() const { return countsSteps ? program.size(sizeCount) : steps(); }
  /// The entry of N in the list of runtime sizes; -1 if it is known.
  static int64_t openBatch(const VerifiedProblem &problem);

  const int64_t padding; ///< rows behind what sums over all of time read in chunks
  const bool isTraining;
  const bool isKept; ///< the workspace has the states of all layers
  const bool hasLengths;

private:
  static int64_t indexOf(const VerifiedProblem &problem, llvm::StringRef name, int dim, bool isStride);
  bool canBeResult() const;
  bool isReversed(int64_t direction) const { return direction == 1 || rnn.direction == RnnDirection::Right2Left; }
  Rows stackOf(llvm::StringRef name, DataType type, int64_t layer, mlir::AffineExpr t);
  void addRegion(llvm::StringRef name, mlir::AffineExpr bytes);

  const VerifiedProblem &problem;
  const RnnDesc &rnn;
  const Shape &s;
  emission::Program &program;
  DataType state, factor; ///< of what is kept, and of what products read
  WorkspaceLayout workspace;
  int64_t sizeCount = 0;
  bool lastIsResult, countsSteps;
  llvm::StringMap<bool> regions;
};

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_STATES_H
