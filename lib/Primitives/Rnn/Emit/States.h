//===- States.h - Memory of an RNN's states -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Matrices of one row per sequence, in tensors of the problem, in sections of the workspace and in regions of the
// scratch. The states of a layer over time are stored in one of
//   result     dst_layer itself: for the last layer, if dst_layer holds only states
//   workspace  for training with a projection, because backward cannot recompute these states from the gates
//   region     "states0" and "states1" alternately, [T + 2][N][D][DIC]: time t is slot t + 1; the state at the start is
//              the slot before the first step: slot 0 or T + 1, depending on the direction
// For a result, a workspace or a problem of one step, the state at the start is elsewhere: in src_iter or in the region
// "start".
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_STATES_H
#define QUERN_PRIMITIVES_RNN_EMIT_STATES_H

#include "Primitives/Registry.h"
#include "Primitives/Rnn/Emit/Cell.h"
#include "Primitives/Rnn/Workspace.h"

#include <optional>

namespace quern::rnn {

/// A number of elements: a constant, or an entry of the list of runtime sizes.
struct Extent {
  Extent(int64_t number = 0, int64_t entry = -1) // NOLINT(google-explicit-constructor): every number is an extent
      : number(number), entry(entry) {}
  bool isOpen() const { return entry >= 0; }
  bool operator==(const Extent &) const = default;
  int64_t number; ///< runtimeDim if it is open
  int64_t entry;  ///< -1: known
};

/// A matrix [N][channels] at a given time, layer and direction.
struct Rows {
  std::string buffer;
  DataType type = DataType::F32;
  Extent channels, row; ///< number of channels; distance between rows in elements
  /// Distance between channels, and offset, in elements; equal for all matrices of the buffer.
  int64_t channel = 1, offset = 0;
  mlir::AffineExpr bytes;
  std::optional<Extent> count = std::nullopt; ///< number of rows; absent: N
};

class States {
public:
  States(const VerifiedProblem &problem, const CellContext &context, emission::Program &program);

  /// Binds a matrix as an argument of a step.
  emission::Binding bind(llvm::StringRef name, const Rows &rows) const;
  struct Dim {
    Extent size, stride;
  };
  emission::Binding bind(llvm::StringRef name, emission::BufferOffset place, DataType type, llvm::ArrayRef<Dim> dims,
                         int64_t offset) const;
  /// Returns the matrix of a tensor of the problem at these indices of the dims before N; the dims after N are the
  /// channels.
  Rows tensor(llvm::StringRef name, const TensorDesc &desc, llvm::ArrayRef<mlir::AffineExpr> at) const;
  /// Returns a dense matrix in region `name`. `index` counts directions, or layers and directions.
  Rows scratch(llvm::StringRef name, DataType type, Extent channels, int64_t index);
  Rows section(WorkspacePart part, int64_t channels, int64_t index, mlir::AffineExpr t = {}) const;

  Rows stateAt(int64_t layer, int64_t direction, mlir::AffineExpr t);
  /// Returns the states of both directions as one matrix of adjacent channels; only for a region.
  Rows statesAt(int64_t layer, mlir::AffineExpr t);
  /// Like statesAt(), but in the type that products read, if this type differs. The matrix is in a region, for every
  /// layer.
  Rows factorsAt(int64_t layer, mlir::AffineExpr t);
  Rows factorAt(int64_t layer, int64_t direction, mlir::AffineExpr t);
  /// Returns the matrix of src_layer as products read it.
  Rows inputFactorsAt(mlir::AffineExpr t);
  /// Returns a copy of both directions' states for the layer above; the workspace stores the directions separately.
  Rows stackedAt(mlir::AffineExpr t);
  /// Returns the matrix at slot `t` of a region [D][`slots`][N][channels]. `slots` defaults to T. `padding` rows follow
  /// each direction.
  Rows ofSteps(llvm::StringRef name, DataType type, Extent channels, int64_t direction, mlir::AffineExpr t,
               mlir::AffineExpr slots = {});
  /// Returns a region with one element for each step and sequence.
  Rows scratchOfSteps(llvm::StringRef name, DataType type);
  Rows startOf(int64_t layer, int64_t direction);
  Rows startFactorOf(int64_t layer, int64_t direction);
  /// Returns true if src_iter itself serves as the state at the start.
  bool startsInPlace(int64_t layer) const;
  bool isResult(int64_t layer) const { return layer == s.layers - 1 && lastIsResult; }
  /// Returns true if the first step of a loop over time reads its state from different memory than the other steps.
  bool startsApart(int64_t layer) const { return isKept || s.steps == 1 || isResult(layer); }

  mlir::AffineExpr number(int64_t value) const { return program.number(value); }
  mlir::AffineExpr expr(Extent x) const { return x.isOpen() ? program.size(x.entry) : number(x.number); }
  /// Returns a dim or stride of a tensor of the problem.
  Extent dimOf(llvm::StringRef name, const TensorDesc &desc, int dim) const;
  Extent strideOf(llvm::StringRef name, const TensorDesc &desc, int dim) const;
  /// Returns the number of blocks along a dim; the dim itself if it is not blocked.
  Extent blocksOf(llvm::StringRef name, const TensorDesc &desc, int dim) const;
  /// Appends a value computed from sizes to the list of sizes, unless it is a constant or an entry.
  Extent computed(mlir::AffineExpr value);
  bool isReversed(int64_t direction) const { return direction == 1 || rnn.direction == RnnDirection::Right2Left; }
  /// Returns the index of a layer and direction in tensors [L, D, …].
  int64_t stack(int64_t layer, int64_t direction) const { return layer * s.directions + direction; }
  bool isOpen() const { return s.isOpen(); }
  /// Returns the entry of a workspace size (WorkspaceSize) in the list of sizes.
  int64_t workspaceSize(int size) const;
  /// Returns `rows` extended to all steps and sequences, which must have a constant distance.
  Rows ofAll(Rows rows) const;
  mlir::AffineExpr steps() const { return expr(dimOf("src_layer", rnn.srcLayer, 0)); }
  mlir::AffineExpr batch() const { return expr(sequences); }
  /// stepsDone() is the number of computed steps: T, or the length of the longest sequence if the runtime determines
  /// it.
  bool countsStepsDone() const { return countsSteps; }
  mlir::AffineExpr stepsDone() const { return countsSteps ? program.size(sizeCount) : steps(); }
  /// Returns the entry of N in the list of runtime sizes; -1 if it is known.
  static int64_t openBatch(const VerifiedProblem &problem);
  /// Returns CellContext::memory.
  static DataType memoryOf(const VerifiedProblem &problem);

  const int64_t padding; ///< rows after the last step, read by sums over all time steps in whole chunks
  const bool isTraining;
  const bool isKept; ///< true if the workspace has the states of all layers
  const bool hasLengths;
  const Extent sequences, slc, sic, dhc, dic; ///< N and channels; see Shape

private:
  static int64_t indexOf(const VerifiedProblem &problem, llvm::StringRef name, int dim, bool isStride);
  static int64_t openWidth(const VerifiedProblem &problem, int dim);
  bool canBeResult() const;
  Rows stackOf(llvm::StringRef name, DataType type, int64_t layer, mlir::AffineExpr t);
  Rows matrixOf(llvm::StringRef name, DataType type, Extent channels, mlir::AffineExpr slot, mlir::AffineExpr slots);

  const VerifiedProblem &problem;
  const RnnDesc &rnn;
  const Shape &s;
  emission::Program &program;
  DataType state, factor; ///< types of states in memory, and of states as products read them
  WorkspaceLayout workspace;
  int64_t sizeCount = 0, computedCount = 0;
  bool lastIsResult, countsSteps;
};

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_STATES_H
