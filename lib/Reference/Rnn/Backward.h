//===- Backward.h - Reference of an RNN's gradients -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Processes the layers from last to first, and each direction and sequence separately, from the last step to the first.
// Data stored by forward (gates, cells, sums of the hidden state) is used as given, and states are recomputed from it,
// so that only backward is judged.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_RNN_BACKWARD_H
#define QUERN_REFERENCE_RNN_BACKWARD_H

#include "Reference/Reference.h"
#include "Reference/Rnn/BackwardCells.h"
#include "Reference/Rnn/Roundings.h"

namespace quern::rnn {

/// A number for each element of these tensors, row-major; zeros for absent tensors.
template <typename Number> struct RnnGradients {
  std::vector<Number> srcLayer, srcIter, srcIterC, attention;
  std::vector<Number> weightsLayer, weightsIter, weightsPeephole, weightsProjection, bias;
};

/// Arguments of an execution as numbers, row-major over the dims of their tensors or sections of the workspace.
struct BackwardArguments {
  /// Reads the arguments of an execution. Fails with `invalid_arguments` if one is missing.
  static Result<BackwardArguments> read(const PrimitiveDesc &desc, const ReferenceInputs &inputs);

  std::vector<double> srcLayer, srcIter, srcIterC, attention; ///< states are zeros if they are absent
  std::vector<double> weightsLayer, weightsIter, weightsPeephole, weightsProjection; ///< the last two may be empty
  std::vector<double> gates, cells, hiddenSums, states; ///< sections of the workspace that the problem has
  std::vector<double> diffDstLayer, diffDstIter, diffDstIterC;
  std::vector<int64_t> lengths; ///< length of each sequence, from 0 to T
  RnnGradients<double> old;     ///< old values to which gradients are added
};

/// One step of one sequence with its gradients, before they are added to the gradients of the weights and the bias.
template <typename Number> struct BackwardStep {
  RunPlace at;
  bool isLast;           ///< true for the last step of its sequence, in forward order
  std::vector<Number> h; ///< state that the step read
  CellGradients<Number> gradients;
  std::vector<Number> dh; ///< gradient of the state
};

template <typename Number> struct BackwardOptions {
  /// Modifies each step; set by tests of the judge.
  std::function<void(BackwardStep<Number> &)> changed{};
  uint64_t draw = 0;        ///< if Number is double: seed for the directions of roundings
  bool isAwayFrom0 = false; ///< if Number is double: true if all roundings are away from 0
};

/// Computes all gradients. `Number` is Uncertain; or float, for the results of f32 arithmetic; or double, for one
/// outcome of the roundings of a kernel.
template <typename Number>
RnnGradients<Number> computeGradients(const PrimitiveDesc &desc, const BackwardArguments &arguments,
                                      const BackwardOptions<Number> &options = {});

/// Returns true if products may read f32 factors rounded to bf16.
bool roundsOperands(const PrimitiveDesc &desc);

/// Computes the expected gradients and their permitted errors.
Result<std::vector<ReferenceOutput>> computeBackwardReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs);

/// A gradient of the problem; may be absent.
template <typename Number> struct GradientValues {
  int32_t argument;
  const TensorDesc &desc;
  std::vector<Number> RnnGradients<Number>::*values;
  bool isOfWeights; ///< true if it is added to the old contents of its buffer, unless a flag requests overwriting
};
template <typename Number> std::vector<GradientValues<Number>> gradientValues(const RnnDesc &rnn);

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_BACKWARD_H
