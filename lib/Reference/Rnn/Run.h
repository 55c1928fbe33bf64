//===- Run.h - An RNN over layers, directions and time -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The inputs of one execution as logical values, and the recurrence over them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_RNN_RUN_H
#define QUERN_REFERENCE_RNN_RUN_H

#include "Reference/Reference.h"
#include "Reference/Rnn/Roundings.h"
#include "Reference/Rnn/Spread.h"

namespace quern::rnn {

/// Filled element by element; the ends are those of what arithmetic in f32 may make of the exact value.
struct RunValues : PossibleValues {
  void resize(size_t count);
  /// An error of at most `off`. What is not finite has none.
  void set(size_t at, double value, double off);
  double offAt(size_t at) const { return high[at] - exact[at]; }
  /// Whether an element of that type may be `value`.
  bool contains(DataType type, size_t at, double value) const;
};

/// Row-major over the dims of the tensor or of the workspace's part of that name.
struct RunResults {
  RunValues dstLayer, dstIter, dstIterC;
  RunValues gates, states, cells, hiddenSums;
  /// Vanilla: of the sums behind states, dstLayer and dstIter.
  std::vector<double> termNorms, dstLayerTermNorms, dstIterTermNorms;
  std::vector<double> cellSizes, dstIterCSizes; ///< lstm: 1, or what |c| was at most until then
  std::vector<double> h;                        ///< states as numbers, not rounded to what is kept
  std::vector<double> stored;                   ///< and rounded
  std::vector<double> off;                      ///< how far each of these may be off
  /// How far what the next step or layer reads of each may be from what is kept of h: 0 as a rule.
  std::vector<double> spread;
};

struct RunOptions {
  /// The state after a step, as stored, where a result shows it: what the next step has read if it is
  /// one that the state may be.
  std::function<double(const RunPlace &)> seen{};
  double (*sigmoid)(double) = nullptr; ///< null: the function of that name
  Roundings *roundings = nullptr;      ///< of integers: which numbers are rounded the other way
  bool isStrict = false;               ///< no number may be off because another may have been rounded the other way
  std::optional<int64_t> only{};       ///< nothing but this sequence
};

class Run {
public:
  /// Of a verified problem whose sizes are known; `invalid_arguments` for a missing input.
  static Result<Run> make(const PrimitiveDesc &desc, const ReferenceInputs &inputs, Operands operands = {},
                          const Variant &variant = {});

  RunResults compute(const RunOptions &options = {}) const;

  const RnnDesc &rnn() const { return desc; }
  const Shape &shape() const { return s; }
  const StateType &state() const { return stateType; }
  bool hasLengths() const { return !desc.seqLengths.isZero(); }
  /// Of each sequence, from 0 to T.
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
  size_t stack(int64_t layer, int64_t direction) const { return static_cast<size_t>(layer * s.directions + direction); }

  struct Sequence;
  struct Input;
  RunResults emptyResults() const;
  /// As stored.
  std::vector<double> initialState(int64_t layer, int64_t direction, int64_t n, const RunOptions &options) const;
  void runSequence(Sequence &sequence, RunResults &results) const;
  Input inputOf(const RunPlace &at, const RunResults &results) const;
  void keepStep(Sequence &sequence, const RunPlace &at, const CellOutputs &out, const CellSpread *spread,
                RunResults &results) const;
  /// What the next step reads of c.
  void keepCells(Sequence &sequence, const CellOutputs &out, const CellSpread *spread) const;
  void keepState(Sequence &sequence, const RunPlace &at, const CellOutputs &out, const CellSpread *spread,
                 RunResults &results) const;
  /// What is kept of h.
  double storedAt(const RunOptions &options, const Rounding &at, double h) const;
  void follow(Sequence &sequence, RunPlace at, const CellOutputs &out, std::span<const double> off) const;
  /// A state, and what is kept of it, as an output of this type has it.
  void setState(RunValues &values, size_t at, double h, double stored, double off, DataType output) const;
  void addState(RunValues &sums, size_t at, double h, double stored, double off, bool isFirst) const;
  void combine(RunResults &results) const;

  RnnDesc desc;
  RnnQuantization quantized;
  Shape s;
  StateType stateType;
  bool saturatesSums;
  DataType cellType; ///< that c is kept in; f32 as it is
  /// srcLayer as numbers, srcIter as it is given, zeros as stored.
  std::vector<double> srcLayer, srcIter, srcIterC, attention;
  std::vector<int64_t> lengthOf;
  std::vector<CellWeights> weights; ///< of each layer and direction
};

/// As computeRnnReference(), of a library that differs so.
Result<std::vector<ReferenceOutput>> computeReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs,
                                                      const Variant &variant);

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_RUN_H
