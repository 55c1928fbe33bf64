//===- Run.h - Reference of an RNN over layers and time -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Logical values of the inputs of one execution, and the recurrence over them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_RNN_RUN_H
#define QUERN_REFERENCE_RNN_RUN_H

#include "Reference/Reference.h"
#include "Reference/Rnn/ErrorBounds.h"
#include "Reference/Rnn/Roundings.h"

namespace quern::rnn {

/// Values that are set one element at a time; the bounds are those of f32 arithmetic around the exact value.
struct RunValues : PossibleValues {
  void resize(size_t count);
  /// Sets an element with an error of at most `off`. Values that are not finite have no error.
  void set(size_t at, double value, double off);
  double offAt(size_t at) const { return high[at] - exact[at]; }
  /// Returns true if an element of this type may be `value`.
  bool contains(DataType type, size_t at, double value) const;
};

/// Results, row-major over the dims of the tensor or of the workspace section of that name.
struct RunResults {
  RunValues dstLayer, dstIter, dstIterC;
  RunValues gates, states, cells, hiddenSums;
  /// Vanilla: norms of the terms of states, dstLayer and dstIter.
  std::vector<double> termNorms, dstLayerTermNorms, dstIterTermNorms;
  std::vector<double> cellSizes, dstIterCSizes; ///< lstm: the maximum of 1 and all |c| so far
  std::vector<double> h;                        ///< states as numbers, not rounded to the stored form
  std::vector<double> stored;                   ///< stored form of the states
  std::vector<double> off;                      ///< permitted error of each state in `h`
  /// Possible difference between the state that the next step or layer reads and the stored form of h; usually 0.
  std::vector<double> spread;
};

struct RunOptions {
  /// Returns the stored state that the results have after a step. The next step continues from it if it is permitted.
  /// Empty if the results do not show the states.
  std::function<double(const RunPlace &)> seen{};
  double (*sigmoid)(double) = nullptr; ///< null: the exact function
  Roundings *roundings = nullptr;      ///< for integers: numbers that are rounded the other way
  bool isStrict = false;               ///< true if errors exclude numbers that were rounded the other way
  std::optional<int64_t> only{};       ///< if set, only this sequence is computed
};

class Run {
public:
  /// Creates a run of a verified problem with known sizes. Fails with `invalid_arguments` if an input is missing.
  static Result<Run> make(const PrimitiveDesc &desc, const ReferenceInputs &inputs, Operands operands = {},
                          const Variant &variant = {});

  RunResults compute(const RunOptions &options = {}) const;

  const RnnDesc &rnn() const { return desc; }
  const Shape &shape() const { return s; }
  const StateType &state() const { return stateType; }
  bool hasLengths() const { return !desc.seqLengths.isZero(); }
  /// Returns the length of each sequence, from 0 to T.
  const std::vector<int64_t> &lengths() const { return lengthOf; }

private:
  Run(const RnnDesc &rnn, const RnnQuantization &quantization, Operands operands, const Variant &variant)
      : desc(rnn), quantized(quantization), s(Shape::of(rnn)), stateType(rnn, quantization, operands, variant),
        saturatesSums(variant.saturatesSums) {
    const DataType ofCells = (desc.srcIterC.isZero() ? desc.dstIterC : desc.srcIterC).dataType;
    cellType = variant.roundsCells && ofCells != DataType::Undef ? ofCells : DataType::F32;
  }
  Result<void> read(const ReferenceInputs &inputs);
  void readWeights(const std::vector<double> &layer, const std::vector<double> &iter,
                   const std::vector<double> &peephole, const std::vector<double> &projection,
                   const std::vector<double> &bias);
  bool isReversed(int64_t direction) const { return direction == 1 || desc.direction == RnnDirection::Right2Left; }
  /// Returns the row of a step in tensors [L, D, T, N, …]; stateRowOf() returns the row in tensors [L, D, N, …].
  int64_t rowOf(const RunPlace &at) const { return (stackOf(at) * s.steps + at.t) * s.batch + at.n; }
  int64_t stateRowOf(const RunPlace &at) const { return stackOf(at) * s.batch + at.n; }
  int64_t stackOf(const RunPlace &at) const { return at.layer * s.directions + at.direction; }

  struct Sequence;
  struct Input;
  RunResults emptyResults() const;
  /// Returns the state in its stored form.
  std::vector<double> initialState(int64_t layer, int64_t direction, int64_t n, const RunOptions &options) const;
  void runSequence(Sequence &sequence, RunResults &results) const;
  Input inputOf(const RunPlace &at, const RunResults &results) const;
  void keepStep(Sequence &sequence, const RunPlace &at, const CellOutputs &out, const CellOutputs *spread,
                RunResults &results) const;
  /// Computes c as the next step reads it.
  void keepCells(Sequence &sequence, const CellOutputs &out, const CellOutputs *spread) const;
  void keepState(Sequence &sequence, const RunPlace &at, const CellOutputs &out, const CellOutputs *spread,
                 RunResults &results) const;
  /// Returns the stored form of h.
  double storedAt(const RunOptions &options, const Rounding &at, double h) const;
  void follow(Sequence &sequence, RunPlace at, const CellOutputs &out, std::span<const double> off) const;
  /// Sets an element of type `output` to a state, which is given as h and in its stored form.
  void setState(RunValues &values, size_t at, double h, double stored, double off, DataType output) const;
  void addState(RunValues &sums, size_t at, double h, double stored, double off, bool isFirst) const;
  void combine(RunResults &results) const;

  RnnDesc desc;
  RnnQuantization quantized;
  Shape s;
  StateType stateType;
  bool saturatesSums;
  DataType cellType; ///< type in which c is stored; f32: unmodified
  /// srcLayer as numbers, srcIter as given, absent states in their stored form.
  std::vector<double> srcLayer, srcIter, srcIterC, attention;
  std::vector<int64_t> lengthOf;
  std::vector<CellWeights> weights; ///< one for each layer and direction
};

/// Like computeRnnReference(), for a library with these deviations.
Result<std::vector<ReferenceOutput>> computeReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs,
                                                      const Variant &variant);

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_RUN_H
