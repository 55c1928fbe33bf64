//===- BackwardReference.cpp - Gradients of an RNN and their tolerances ---===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads the arguments of an execution and determines the permitted values of each gradient. A result may be off by a
// number of deviations of f32 arithmetic (Uncertain.h, and some draws of roundings), with factors of products rounded
// to bf16 where kernels do so. Alternatively, it may be off by a few roundings relative to its size, because equal
// terms of long sums are rounded alike.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/Rnn/Workspace.h"
#include "Reference/Attributes/Quantization.h"
#include "Reference/Elements.h"
#include "Reference/Rnn/Backward.h"

#include <algorithm>
#include <cmath>

namespace quern::rnn {
namespace {

constexpr double roundingsAllowed = 4, deviationsAllowed = 8;

/// Returns the elements of an argument; `count` zeros if it is absent.
Result<std::vector<double>> valuesOf(const ReferenceInputs &inputs, int32_t argument, const TensorDesc &desc,
                                     int64_t count = 0) {
  if (desc.isZero())
    return std::vector<double>(static_cast<size_t>(count));
  QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, argument, desc));
  return gather(desc, buffer);
}

/// Adds `share` times the squared deviation of each drawn element to the element's entry in `squares`.
void addSquares(const RnnDesc &rnn, const RnnGradients<Uncertain> &gradients, const RnnGradients<double> &drawn,
                double share, std::vector<std::vector<double>> &squares) {
  const auto tensors = gradientValues<Uncertain>(rnn);
  const auto drawnTensors = gradientValues<double>(rnn);
  for (size_t tensor = 0; tensor < tensors.size(); ++tensor) {
    const std::vector<double> &values = drawn.*drawnTensors[tensor].values;
    squares[tensor].resize(values.size());
    for (size_t i = 0; i < values.size(); ++i)
      squares[tensor][i] += std::pow(values[i] - (gradients.*tensors[tensor].values)[i].value, 2) * share;
  }
}

/// Raises each variance to the mean squared deviation of the draws, if that is greater. The mean of a few draws is
/// inexact, so it is averaged with the product of the variance and the ratio of both sums over the tensor.
void widen(const RnnDesc &rnn, const std::vector<std::vector<double>> &squares, RnnGradients<Uncertain> &gradients) {
  const auto tensors = gradientValues<Uncertain>(rnn);
  for (size_t tensor = 0; tensor < tensors.size(); ++tensor) {
    std::vector<Uncertain> &values = gradients.*tensors[tensor].values;
    double drawn = 0, independent = 0;
    for (size_t i = 0; i < values.size(); ++i)
      if (std::isfinite(squares[tensor][i]) && std::isfinite(values[i].variance))
        drawn += squares[tensor][i], independent += values[i].variance;
    const double ratio = independent > 0 ? drawn / independent : 0;
    for (size_t i = 0; i < values.size(); ++i)
      if (std::isfinite(squares[tensor][i]))
        values[i].variance = std::max(values[i].variance, (squares[tensor][i] + ratio * values[i].variance) / 2);
  }
}

/// Roundings are not independent. A gradient that is rounded once contributes to many sums, and its error is passed
/// from step to step; weights are the same in each step, and equal numbers are rounded alike. Gradients are therefore
/// also computed with some draws of these roundings, and with all of them away from 0: in a sequence with constant
/// values, each of a thousand steps loses the same amount.
void addCommonRoundings(const PrimitiveDesc &desc, const BackwardArguments &arguments,
                        RnnGradients<Uncertain> &gradients) {
  constexpr uint64_t draws = 4;
  const RnnDesc &rnn = std::get<Boxed<RnnDesc>>(desc.op);
  const size_t tensors = gradientValues<Uncertain>(rnn).size();
  std::vector<std::vector<double>> squares(tensors), awayFrom0(tensors);
  for (uint64_t draw = 1; draw <= draws; ++draw)
    addSquares(rnn, gradients, computeGradients<double>(desc, arguments, {.draw = draw}), 1.0 / draws, squares);
  constexpr double share = 1 / (deviationsAllowed * deviationsAllowed); // permits about the error of such a sequence
  addSquares(rnn, gradients, computeGradients<double>(desc, arguments, {.isAwayFrom0 = true}), share, awayFrom0);
  widen(rnn, squares, gradients);
  widen(rnn, awayFrom0, gradients);
}

PossibleValues possibleOf(const PrimitiveDesc &desc, const std::vector<Uncertain> &numbers) {
  const Shape s = Shape::of(std::get<Boxed<RnnDesc>>(desc.op));
  // Products of bf16 treat a denormal as 0.
  const double least = static_cast<double>(std::max(s.steps * s.batch, s.gates * s.dhc) + 1) * 0x1p-122;
  PossibleValues values;
  for (const Uncertain &number : numbers) {
    const double off =
        std::max(deviationsAllowed * number.deviation(), roundingsAllowed * 0x1p-24 * std::fabs(number.value)) + least;
    const bool isFinite = std::isfinite(number.value);
    values.exact.push_back(number.value);
    values.low.push_back(isFinite ? number.value - off : number.value);
    values.high.push_back(isFinite ? number.value + off : number.value);
  }
  return values;
}

} // namespace

template <typename Number> std::vector<GradientValues<Number>> gradientValues(const RnnDesc &rnn) {
  using Of = RnnGradients<Number>;
  return {{arg::diffSrc, rnn.diffSrcLayer, &Of::srcLayer, false},
          {arg::diffSrc1, rnn.diffSrcIter, &Of::srcIter, false},
          {arg::diffSrc2, rnn.diffSrcIterC, &Of::srcIterC, false},
          {arg::diffAttention, rnn.diffAttention, &Of::attention, false},
          {arg::diffWeights, rnn.diffWeightsLayer, &Of::weightsLayer, true},
          {arg::diffWeights1, rnn.diffWeightsIter, &Of::weightsIter, true},
          {arg::diffWeights2, rnn.diffWeightsPeephole, &Of::weightsPeephole, true},
          {arg::diffWeights3, rnn.diffWeightsProjection, &Of::weightsProjection, true},
          {arg::diffBias, rnn.diffBias, &Of::bias, true}};
}
template std::vector<GradientValues<Uncertain>> gradientValues(const RnnDesc &);
template std::vector<GradientValues<float>> gradientValues(const RnnDesc &);
template std::vector<GradientValues<double>> gradientValues(const RnnDesc &);

Result<BackwardArguments> BackwardArguments::read(const PrimitiveDesc &desc, const ReferenceInputs &inputs) {
  const RnnDesc &rnn = std::get<Boxed<RnnDesc>>(desc.op);
  const Shape s = Shape::of(rnn);
  const int64_t sequences = s.layers * s.directions * s.batch;
  BackwardArguments a;
  std::vector<double> lengths;
  struct Input {
    int32_t argument;
    const TensorDesc &desc;
    std::vector<double> &values;
    int64_t zeros = 0;
  };
  const Input all[] = {{arg::src, rnn.srcLayer, a.srcLayer},
                       {arg::src1, rnn.srcIter, a.srcIter, sequences * s.sic},
                       {arg::src2, rnn.srcIterC, a.srcIterC, sequences * s.dhc},
                       {arg::attention, rnn.attention, a.attention},
                       {arg::seqLengths, rnn.seqLengths, lengths},
                       {arg::weights, rnn.weightsLayer, a.weightsLayer},
                       {arg::weights1, rnn.weightsIter, a.weightsIter},
                       {arg::weights2, rnn.weightsPeephole, a.weightsPeephole},
                       {arg::weights3, rnn.weightsProjection, a.weightsProjection},
                       {arg::diffDst, rnn.diffDstLayer, a.diffDstLayer, s.steps * s.batch * s.dlc(rnn)},
                       {arg::diffDst1, rnn.diffDstIter, a.diffDstIter, sequences * s.dic},
                       {arg::diffDst2, rnn.diffDstIterC, a.diffDstIterC, sequences * s.dhc}};
  for (const Input &input : all) {
    QUERN_ASSIGN_OR_RETURN(input.values, valuesOf(inputs, input.argument, input.desc, input.zeros));
  }
  for (int64_t n = 0; n < s.batch; ++n)
    a.lengths.push_back(lengths.empty()
                            ? s.steps
                            : std::clamp<int64_t>(static_cast<int64_t>(lengths[static_cast<size_t>(n)]), 0, s.steps));
  for (const GradientValues<double> &tensor : gradientValues<double>(rnn))
    if (tensor.isOfWeights && !tensor.desc.isZero() && !(rnn.flags & RnnDiffWeightsOverwrite)) {
      QUERN_ASSIGN_OR_RETURN(a.old.*tensor.values, quern::rnn::valuesOf(inputs, tensor.argument, tensor.desc));
    }
  QUERN_ASSIGN_OR_RETURN(WorkspaceLayout layout, workspaceOf(rnn));
  QUERN_ASSIGN_OR_RETURN(const void *workspace, bufferOf(inputs, arg::workspace, layout.desc));
  for (const auto &[part, values] :
       {std::pair{WorkspacePart::Gates, &a.gates}, std::pair{WorkspacePart::Cells, &a.cells},
        std::pair{WorkspacePart::HiddenSums, &a.hiddenSums}, std::pair{WorkspacePart::States, &a.states}})
    if (const WorkspaceSection *section = layout.find(part))
      *values = gather(section->desc, static_cast<const char *>(workspace) + section->byteOffset);
  return a;
}

Result<std::vector<ReferenceOutput>> computeBackwardReference(const PrimitiveDesc &desc,
                                                              const ReferenceInputs &inputs) {
  QUERN_ASSIGN_OR_RETURN(BackwardArguments arguments, BackwardArguments::read(desc, inputs));
  RnnGradients<Uncertain> gradients = computeGradients<Uncertain>(desc, arguments);
  addCommonRoundings(desc, arguments, gradients);
  std::vector<ReferenceOutput> outputs;
  for (const auto &tensor : gradientValues<Uncertain>(std::get<Boxed<RnnDesc>>(desc.op))) {
    if (tensor.desc.isZero())
      continue;
    PossibleValues possible = possibleOf(desc, gradients.*tensor.values);
    ReferenceOutput output{tensor.argument, tensor.desc, possible.exact};
    output.possibleOf = [possible = std::move(possible)](const ReferenceInputs &) { return possible; };
    outputs.push_back(std::move(output));
  }
  return outputs;
}

} // namespace quern::rnn
