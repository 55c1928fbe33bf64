//===- Backward.h - The gradients of an RNN over layers and time ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// From the top layer down, each direction for each sequence on its own, from the last step to the first. What forward
// kept (gates, cells, sums of the hidden state) is taken as it is given, and its states are made again from that, so
// that backward is judged alone.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_RNN_BACKWARD_H
#define QUERN_REFERENCE_RNN_BACKWARD_H

#include "Reference/Reference.h"
#include "Reference/Rnn/BackwardCells.h"
#include "Reference/Rnn/Roundings.h"

namespace quern::rnn {

/// A number for each element of these tensors, row-major; zeros where a tensor is absent.
template <typename Number> struct RnnGradients {
  std::vector<Number> srcLayer, srcIter, srcIterC, attention;
  std::vector<Number> weightsLayer, weightsIter, weightsPeephole, weightsProjection, bias;
};

/// The arguments of an execution as numbers, row-major over the dims of their tensors or parts of the workspace.
struct BackwardArguments {
  /// `invalid_arguments` for one that is missing.
  static Result<BackwardArguments> read(const PrimitiveDesc &desc, const ReferenceInputs &inputs);

  std::vector<double> srcLayer, srcIter, srcIterC, attention; ///< states are zeros where they are absent
  std::vector<double> weightsLayer, weightsIter, weightsPeephole, weightsProjection; ///< the last two may be empty
  std::vector<double> gates, cells, hiddenSums, states; ///< of the workspace, those that the problem has
  std::vector<double> diffDstLayer, diffDstIter, diffDstIterC;
  std::vector<int64_t> lengths; ///< of each sequence, from 0 to T
  RnnGradients<double> old;     ///< what gradients are added to
};

/// One step of one sequence, its gradients made; what `weights_iter` and `bias` get of it is still to be made.
template <typename Number> struct BackwardStep {
  RunPlace at;
  bool isLast;           ///< of its sequence, in the order of processing
  std::vector<Number> h; ///< that the step read
  CellGradients<Number> gradients;
  std::vector<Number> dh; ///< of the state
};

template <typename Number> struct BackwardOptions {
  /// Tests of the judge change what a step makes.
  std::function<void(BackwardStep<Number> &)> changed{};
  uint64_t draw = 0;        ///< of double: which way roundings go
  bool isAwayFrom0 = false; ///< of double: all of them go that way
};

/// Number: Uncertain; float for what a plain kernel would compute; double for one way that its roundings may go.
template <typename Number>
RnnGradients<Number> computeGradients(const PrimitiveDesc &desc, const BackwardArguments &arguments,
                                      const BackwardOptions<Number> &options = {});

/// Whether products may read factors of f32 rounded to bf16.
bool roundsOperands(const PrimitiveDesc &desc);

/// What backward must compute, and how far results may be off.
Result<std::vector<ReferenceOutput>> computeBackwardReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs);

/// A gradient of the problem, absent ones too.
template <typename Number> struct GradientValues {
  int32_t argument;
  const TensorDesc &desc;
  std::vector<Number> RnnGradients<Number>::*values;
  bool isOfWeights; ///< added to what its buffer holds, unless a flag says otherwise
};
template <typename Number> std::vector<GradientValues<Number>> gradientValues(const RnnDesc &rnn);

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_BACKWARD_H
