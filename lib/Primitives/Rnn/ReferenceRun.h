//===- ReferenceRun.h - An RNN over layers, directions and time -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The inputs of one execution as logical values, and the recurrence over them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_REFERENCERUN_H
#define QUERN_PRIMITIVES_RNN_REFERENCERUN_H

#include "Primitives/Reference.h"
#include "Primitives/Rnn/ReferenceCells.h"

namespace quern::rnn {

/// One channel of the state after step t of a sequence.
struct RunPlace {
  int64_t layer, direction, t, n, channel;
};

/// Row-major over the dims of the tensor or of the workspace's part of that name. Outputs are as they are stored.
struct RunResults {
  std::vector<double> dstLayer, dstIter, dstIterC;
  std::vector<double> gates, initialStates, states, initialCells, cells, hiddenSums, unprojected;
  std::vector<double> termNorms, dstLayerTermNorms, dstIterTermNorms; ///< vanilla: of the sums behind states, dstLayer and dstIter
};

class Run {
public:
  /// Of a verified problem whose sizes are known; `invalid_arguments` for a missing input.
  static Result<Run> make(const PrimitiveDesc &desc, const ReferenceInputs &inputs);

  /// `replace`, if there is one, says what the next step reads for a state that was computed (both as stored).
  RunResults compute(const std::function<double(const RunPlace &, double)> &replace = {}) const;

  const RnnDesc &rnn() const { return desc; }
  const Shape &shape() const { return s; }
  const StateType &state() const { return stateType; }
  const RnnQuantization &quantization() const { return quantized; }
  bool hasLengths() const { return !desc.seqLengths.isZero(); }
  /// Of each sequence, from 0 to T.
  const std::vector<int64_t> &lengths() const { return lengthOf; }

private:
  Run(const RnnDesc &rnn, const RnnQuantization &quantization)
      : desc(rnn), quantized(quantization), s(Shape::of(rnn)), stateType(rnn, quantization) {}
  Result<void> read(const ReferenceInputs &inputs);
  void readWeights(const std::vector<double> &layer, const std::vector<double> &iter, const std::vector<double> &peephole,
                   const std::vector<double> &projection, const std::vector<double> &bias);
  bool isReversed(int64_t direction) const { return direction == 1 || desc.direction == RnnDirection::Right2Left; }
  size_t stack(int64_t layer, int64_t direction) const { return static_cast<size_t>(layer * s.directions + direction); }

  struct Sequence;
  void runSequence(Sequence &sequence, RunResults &results) const;
  std::vector<double> inputOf(const RunPlace &at, const RunResults &results) const;
  void combine(RunResults &results) const;

  RnnDesc desc;
  RnnQuantization quantized;
  Shape s;
  StateType stateType;
  std::vector<double> srcLayer, srcIter, srcIterC, attention; ///< srcLayer as numbers, srcIter as stored
  std::vector<int64_t> lengthOf;
  std::vector<CellWeights> weights; ///< of each layer and direction
};

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_REFERENCERUN_H
