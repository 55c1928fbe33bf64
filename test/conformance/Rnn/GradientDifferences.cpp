//===- GradientDifferences.cpp - Known differences of oneDNN's gradients --===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// oneDNN's backward reads the workspace of oneDNN's forward, whose gates differ by a few roundings or are stored in
// bf16. The effect on a gradient is computed: the reference of backward runs with gates that differ in the same way.
// Any other difference counts as known only if its cause is present.
//
//===----------------------------------------------------------------------===//
#include "PeerDifferences.h"
#include "Primitives/Arguments.h"
#include "Primitives/Rnn/Shape.h"
#include "Primitives/Rnn/Workspace.h"
#include "Reference/Elements.h"
#include "Reference/Rnn/Backward.h"
#include "Rnn/Generator.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace quern::cases::rnn {
namespace {

using quern::rnn::WorkspacePart;

const RnnDesc &descOf(const PeerComparison &with) { return std::get<Boxed<RnnDesc>>(with.desc.op); }

using ChangeOfNumber = std::function<double(WorkspacePart part, size_t gate, double value)>;
/// Returns a copy of the workspace with each number replaced by `change`, which receives the section and the gate.
std::vector<char> changedWorkspace(const RnnDesc &op, const void *workspace, const ChangeOfNumber &change) {
  const quern::rnn::Shape s = quern::rnn::Shape::of(op);
  const quern::rnn::WorkspaceLayout layout = *quern::rnn::workspaceOf(op);
  const char *first = static_cast<const char *>(workspace);
  std::vector<char> copy(first, first + layout.desc.bytes());
  for (const quern::rnn::WorkspaceSection &section : layout.sections) {
    std::vector<double> values = gather(section.desc, first + section.byteOffset);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = change(section.part, i / static_cast<size_t>(s.dhc) % static_cast<size_t>(s.gates), values[i]);
    scatter(section.desc, copy.data() + section.byteOffset, values);
  }
  return copy;
}

using Step = quern::rnn::BackwardStep<quern::rnn::Uncertain>;

using Change = std::function<void(const quern::rnn::BackwardArguments &, Step &)>;

/// Returns the gradient without the values that it is added to.
std::vector<double> gradientOf(const PeerComparison &with, const ReferenceInputs &inputs, const Change &change = {}) {
  PrimitiveDesc alone = with.desc;
  auto &op = *std::get<Boxed<RnnDesc>>(alone.op);
  op.flags |= RnnDiffWeightsOverwrite;
  const Result<quern::rnn::BackwardArguments> arguments = quern::rnn::BackwardArguments::read(alone, inputs);
  if (!arguments)
    return {};
  quern::rnn::BackwardOptions<quern::rnn::Uncertain> options;
  if (change)
    options.changed = [&](Step &step) { change(*arguments, step); };
  const auto gradients = quern::rnn::computeGradients(alone, *arguments, options);
  std::vector<double> values;
  for (const auto &tensor : quern::rnn::gradientValues<quern::rnn::Uncertain>(op))
    if (tensor.argument == with.exact.argument)
      for (const quern::rnn::Uncertain &number : gradients.*tensor.values)
        values.push_back(number.value);
  return values;
}

/// Returns the root mean square of the change of each gradient if gates have the errors of another forward, in addition
/// to `alsoChanged`. A sigmoid is off by a few ulps; candidates and cells, which may cancel, by a few ulps of 1; sums
/// with more than 64 terms, each of which is rounded, by more.
std::vector<double> spreadOf(const PeerComparison &with, const ReferenceInputs &inputs,
                             const std::vector<double> &gradient, const Change &alsoChanged = {}) {
  constexpr int draws = 16; // with fewer draws, some of a million weight elements would change by almost nothing
  constexpr size_t candidate = 2;
  const RnnDesc &op = descOf(with);
  const bool isNarrow = op.srcLayer.dataType != DataType::F32, isRelu = op.activation == Alg::EltwiseRelu;
  const quern::rnn::Shape s = quern::rnn::Shape::of(op);
  const double roundingOfSums = std::sqrt(static_cast<double>(s.slc + s.sic)) * 0x1p-24;
  const double off = isNarrow ? 0x1p-9 : std::max(0x1p-21, roundingOfSums);
  std::vector<double> squares(gradient.size());
  Random random(1);
  const ChangeOfNumber change = [&](WorkspacePart part, size_t gate, double value) {
    if (isNarrow && part != WorkspacePart::Gates)
      return value;
    const bool mayCancel = !isNarrow && !isRelu && (part != WorkspacePart::Gates || gate == candidate);
    const double unit = static_cast<double>(random.between(-1000, 1000)) / 1000 * off;
    return value + unit * (mayCancel ? std::max(1.0, std::fabs(value)) : value);
  };
  for (int draw = 0; draw < draws; ++draw) {
    const std::vector<char> workspace = changedWorkspace(op, inputs.at(arg::workspace), change);
    ReferenceInputs changed = inputs;
    changed[arg::workspace] = workspace.data();
    const std::vector<double> other = gradientOf(with, changed, alsoChanged);
    for (size_t i = 0; i < gradient.size(); ++i)
      squares[i] += (other[i] - gradient[i]) * (other[i] - gradient[i]) / draws;
  }
  for (double &square : squares)
    square = std::sqrt(square);
  return squares;
}

/// Returns the gradient shifted by `by`, with a tolerance of eight times `spread`.
ReferenceOutput moved(const ReferenceOutput &exact, const std::vector<double> &by, const std::vector<double> &spread) {
  constexpr double deviations = 8;
  ReferenceOutput output = exact;
  output.possibleOf = [possibleOf = exact.possibleOf, by, spread](const ReferenceInputs &results) {
    PossibleValues values = possibleOf(results);
    for (size_t i = 0; i < spread.size(); ++i) {
      const double shift = by.empty() ? 0 : by[i];
      values.exact[i] += shift;
      values.low[i] += shift - deviations * spread[i];
      values.high[i] += shift + deviations * spread[i];
    }
    return values;
  };
  return output;
}

/// The top layer of one direction has its states only in dst_layer, starting with the state after the first step.
/// Without src_iter, oneDNN's single product for diff_weights_iter over all steps starts there: it multiplies the
/// gradients of each step with the state that the step computed instead of the one that it read.
bool readsStatesOfTheStepItself(const PeerComparison &with) {
  const RnnDesc &op = descOf(with);
  const bool isLstmOrVanilla = op.cell == Alg::VanillaLstm || op.cell == Alg::VanillaRnn;
  return with.exact.argument == arg::diffWeights1 && isLstmOrVanilla && op.srcIter.isZero() &&
         op.direction == RnnDirection::Left2Right;
}

void readStateOfTheStep(const RnnDesc &op, const quern::rnn::BackwardArguments &in, Step &step) {
  const quern::rnn::Shape s = quern::rnn::Shape::of(op);
  if (step.at.layer != s.layers - 1)
    return;
  const auto row = static_cast<size_t>((step.at.layer * s.steps + step.at.t) * s.batch + step.at.n);
  auto part = [&](const std::vector<double> &values, int64_t length) {
    return values.empty() ? std::span<const double>()
                          : std::span(values).subspan(row * static_cast<size_t>(length), static_cast<size_t>(length));
  };
  if (op.weightsProjection.isZero()) {
    const std::span<const quern::rnn::Uncertain> before(step.h);
    step.h = quern::rnn::remadeState(op, s, part(in.gates, s.gates * s.dhc), part(in.cells, s.dhc), 0, before);
  } else {
    const std::span<const double> states = part(in.states, s.dic);
    step.h.assign(states.begin(), states.end());
  }
  step.h.resize(static_cast<size_t>(s.sic)); // a single step may read a state with another number of channels
}

/// Uses u instead of (1 - a) u in the gradients of h and of the output gate; and, in the gradient of a, the gradient of
/// the update gate's sum before the attention instead of the gradient of the gate itself.
void forgetAttention(const RnnDesc &op, const quern::rnn::BackwardArguments &in, Step &step) {
  const quern::rnn::Shape s = quern::rnn::Shape::of(op);
  const auto channels = static_cast<size_t>(s.dhc), row = static_cast<size_t>(step.at.t * s.batch + step.at.n);
  const double *u = in.gates.data() + row * 3 * channels, *r = u + channels, *candidate = r + channels;
  const double open = 1 - in.attention[row];
  auto &d = step.gradients;
  std::vector<double> dh(channels), dReset(channels);
  double dAttention = 0;
  for (size_t o = 0; o < channels; ++o) {
    dh[o] = d.layer[2 * channels + o].value / (1 - open * u[o]) / (1 - candidate[o] * candidate[o]);
    d.layer[2 * channels + o] = dh[o] * (1 - u[o]) * (1 - candidate[o] * candidate[o]);
    dAttention -= dh[o] * (step.h[o].value - candidate[o]) * u[o] * (1 - u[o]) * u[o];
  }
  d.attention = dAttention;
  if (quern::rnn::isLinearBeforeReset(op)) {
    for (size_t o = 0; o < channels; ++o) {
      const double sum = in.hiddenSums[row * channels + o], dOutput = d.layer[2 * channels + o].value;
      d.layer[channels + o] = d.iter[channels + o] = dOutput * sum * r[o] * (1 - r[o]);
      d.iter[2 * channels + o] = dOutput * r[o];
      d.dhBefore[o] = dh[o] * u[o];
    }
    return;
  }
  for (size_t i = 0; i < channels; ++i)
    for (size_t o = 0; o < channels; ++o)
      dReset[i] += in.weightsIter[(i * 3 + 2) * channels + o] * d.layer[2 * channels + o].value;
  for (size_t o = 0; o < channels; ++o) {
    d.layer[channels + o] = d.iter[channels + o] = dReset[o] * step.h[o].value * r[o] * (1 - r[o]);
    d.iter[2 * channels + o] = d.layer[2 * channels + o];
    d.dhBefore[o] = dh[o] * u[o] + dReset[o] * r[o];
  }
}

} // namespace

std::optional<Difference> expectGradientsOfPeer(const PeerComparison &with, const ReferenceInputs &inputs,
                                                std::vector<ReferenceOutput> &theirs) {
  const RnnDesc &op = descOf(with);
  const bool readsStates = readsStatesOfTheStepItself(with);
  if (knownDifferenceOfGradients(with) && !(readsStates && op.activation == Alg::EltwiseRelu && op.alpha >= 0))
    return std::nullopt;
  const std::vector<double> gradient = gradientOf(with, inputs);
  theirs = {moved(with.exact, {}, spreadOf(with, inputs, gradient))};
  const auto addMoved = [&](const Change &change) {
    std::vector<double> by = gradientOf(with, inputs, change);
    const std::vector<double> spread = spreadOf(with, inputs, by, change);
    for (size_t i = 0; i < by.size(); ++i)
      by[i] -= gradient[i];
    theirs.push_back(moved(with.exact, by, spread));
  };
  if (readsStates) {
    addMoved([&](const auto &arguments, Step &step) { readStateOfTheStep(op, arguments, step); });
    return Difference{"without src_iter, diff_weights_iter uses the new states of the steps instead of the old ones",
                      0.12};
  }
  if (!op.attention.isZero()) {
    addMoved([&](const auto &arguments, Step &step) { forgetAttention(op, arguments, step); });
    return Difference{"u is used instead of (1 - a) u", 0.11};
  }
  return op.srcLayer.dataType == DataType::F32 ? Difference{"uses the gates of its own forward pass", 0.14}
                                               : Difference{"gates are kept in bf16", 1};
}

/// Returns known differences whose effect is not computed.
Difference knownDifferenceOfGradients(const PeerComparison &with) {
  const RnnDesc &op = descOf(with);
  const quern::rnn::Shape s = quern::rnn::Shape::of(op);
  const bool isProjected = !op.weightsProjection.isZero();
  const bool isGru = op.cell == Alg::VanillaGru || op.cell == Alg::VanillaAugru;
  if (isGru && op.bias.dataType == DataType::BF16)
    return {"its forward pass misreads a bf16 bias of gru or augru", 0.06};
  constexpr int64_t many = 100;
  if (op.srcLayer.dataType == DataType::BF16 && s.steps > many)
    return {"its own forward pass rounds a bf16 state differently, which changes all following steps", 0.01};
  if (!isOldPeer(with) && isProjected && op.srcLayer.dataType == DataType::BF16)
    return {"a bf16 projection of 3.13 gives NaN", 0.1};
  if (isOldPeer(with) && isProjected && s.dic > s.dhc)
    return {"3.2 misreads a projection that increases the number of channels", 0.085};
  if (!isOldPeer(with) && s.sic != s.dic)
    return {"3.13 gives NaN if SIC differs from DIC", 0.045};
  if (op.activation == Alg::EltwiseRelu && op.alpha < 0)
    return {"with a negative slope, the sign of the result of relu does not determine the sign of its argument", 0.02};
  if (op.activation == Alg::EltwiseRelu)
    return {"the argument of relu is near 0 and may have either sign", 0.02};
  return {};
}

} // namespace quern::cases::rnn
