//===- Reference.cpp - RNN as the specification has it --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Layers, directions and steps around the equations of ReferenceCells.cpp:
//   (h_t,l  c_t,l) = Cell(h_t,l-1  h_t-1,l  c_t-1,l)
// for each sequence on its own, up to its own length. Each direction runs its own stack; with the flag for a stack of both directions a
// layer reads the states of both directions below.
//
// The state of an integer problem is judged to one step of the type, and the next step of the sequence depends on it: then expectations are
// computed once more with the states that the results have (`followed`), so that a rounding that went the other way is one and not many.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/ReferenceRun.h"

#include "Primitives/Arguments.h"
#include "Primitives/Elements.h"
#include "Primitives/Rnn/Workspace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

namespace quern {
namespace {

using namespace rnn;

/// The square root of the sum of squares over the last dim, for each element.
std::vector<double> rowNorms(const TensorDesc &desc, const std::vector<double> &values) {
  std::vector<double> norms(values.size());
  auto length = static_cast<size_t>(desc.dims[desc.ndims - 1]);
  for (size_t row = 0; row < values.size(); row += length) {
    double squares = 0;
    for (size_t i = row; i < row + length; ++i)
      squares += std::isfinite(values[i]) ? values[i] * values[i] : 0;
    std::fill_n(norms.begin() + static_cast<std::ptrdiff_t>(row), length, std::sqrt(squares));
  }
  return norms;
}

/// Errors are measured by 1 where gates bound the values; where they do not, by the row's norm, or by that of the terms of the sum behind
/// an element if there are such of it and they are greater: in a row of few channels terms may cancel in all.
std::vector<double> magnitudeOf(const RnnDesc &rnn, const TensorDesc &desc, const std::vector<double> &values,
                                const std::vector<double> *termNorms) {
  if (isLstm(rnn) || isGru(rnn)) {
    std::vector<double> ones(values.size(), 1);
    return ones;
  }
  std::vector<double> norms = rowNorms(desc, values);
  if (termNorms && !termNorms->empty())
    std::transform(norms.begin(), norms.end(), termNorms->begin(), norms.begin(), [](double a, double b) { return std::max(a, b); });
  return norms;
}

/// The states of `dst_layer` in a buffer of results, where they can be told from it: of one layer, not summed over directions.
std::function<double(const RunPlace &, double)> followResults(const Run &run, const void *dstLayer) {
  const RnnDesc &rnn = run.rnn();
  if (!isQuantized(rnn) || !dstLayer || run.shape().layers != 1 || rnn.direction == RnnDirection::BidirectionalSum)
    return {};
  auto results = std::make_shared<std::vector<double>>(gather(rnn.dstLayer, dstLayer));
  bool isInteger = rnn.dstLayer.dataType == rnn.srcLayer.dataType;
  return [results, isInteger, shape = run.shape(), state = run.state()](const RunPlace &at, double expected) {
    auto channels = static_cast<size_t>(shape.dic),
         row = (static_cast<size_t>(at.t * shape.batch + at.n) * static_cast<size_t>(shape.directions) + static_cast<size_t>(at.direction));
    double result = (*results)[row * channels + static_cast<size_t>(at.channel)];
    double stored = isInteger ? result : state.stored(result);
    return std::fabs(stored - expected) <= 1 ? stored : expected; // what is further off is wrong there, and only there
  };
}

struct Part {
  int32_t argument;
  TensorDesc desc;
  std::vector<double> RunResults::*values;
  std::vector<double> RunResults::*termNorms = nullptr;
};

std::vector<Part> partsOf(const RnnDesc &rnn) {
  std::vector<Part> parts = {{arg::dst, rnn.dstLayer, &RunResults::dstLayer, &RunResults::dstLayerTermNorms}};
  if (!rnn.dstIter.isZero())
    parts.push_back({arg::dst1, rnn.dstIter, &RunResults::dstIter, &RunResults::dstIterTermNorms});
  if (!rnn.dstIterC.isZero())
    parts.push_back({arg::dst2, rnn.dstIterC, &RunResults::dstIterC});
  return parts;
}

std::vector<double> RunResults::*valuesOf(WorkspacePart part) {
  switch (part) {
  case WorkspacePart::Gates:
    return &RunResults::gates;
  case WorkspacePart::InitialStates:
    return &RunResults::initialStates;
  case WorkspacePart::States:
    return &RunResults::states;
  case WorkspacePart::InitialCells:
    return &RunResults::initialCells;
  case WorkspacePart::Cells:
    return &RunResults::cells;
  case WorkspacePart::HiddenSums:
    return &RunResults::hiddenSums;
  case WorkspacePart::Unprojected:
    return &RunResults::unprojected;
  }
  return nullptr;
}

/// The step of the type that an integer state may be off by, as a distance in the output.
double slackOf(const RnnDesc &rnn, const RnnQuantization &quantization, DataType output) {
  double directions = rnn.direction == RnnDirection::BidirectionalSum ? 2 : 1;
  return directions * (isFloating(output) ? 1 / std::fabs(static_cast<double>(quantization.dataScale)) : 1);
}

ReferenceOutput outputOf(const std::shared_ptr<const Run> &run, const Part &part, const RunResults &results) {
  const RnnDesc &rnn = run->rnn();
  ReferenceOutput output{part.argument, part.desc, results.*part.values};
  output.magnitude = magnitudeOf(rnn, part.desc, output.exact, part.termNorms ? &(results.*part.termNorms) : nullptr);
  if (!isQuantized(rnn))
    return output;
  bool isCell = part.argument == arg::dst2;
  output.slack = isCell ? 0 : slackOf(rnn, run->quantization(), part.desc.dataType);
  output.exactOf = [run, values = part.values](const ReferenceInputs &made) {
    auto dstLayer = made.find(arg::dst);
    RunResults again = run->compute(followResults(*run, dstLayer == made.end() ? nullptr : dstLayer->second));
    return again.*values;
  };
  return output;
}

/// What lies behind the end of a sequence may be anything.
void freeUnspecified(const WorkspaceSection &section, const Run &run, ReferenceOutput &output) {
  if (!run.hasLengths() || section.part == WorkspacePart::InitialStates || section.part == WorkspacePart::InitialCells)
    return;
  int64_t inner = 1;
  for (int d = 4; d < section.desc.ndims; ++d)
    inner *= section.desc.dims[d];
  auto isFree = [inner, shape = run.shape(), lengths = run.lengths()](int64_t position) {
    int64_t n = position / inner % shape.batch, t = position / inner / shape.batch % shape.steps;
    return t >= lengths[static_cast<size_t>(n)];
  };
  output.beforeAttributes = output.exact;
  output.range = [isFree](int64_t position, const Interval &start) {
    Interval range = start;
    if (isFree(position))
      range.low = -std::numeric_limits<long double>::infinity(), range.high = -range.low, range.mayBeNan = true;
    return range;
  };
}

Result<void> appendWorkspace(const Run &run, const RunResults &results, std::vector<ReferenceOutput> &outputs) {
  Result<WorkspaceLayout> layout = workspaceOf(run.rnn());
  if (!layout)
    return layout.takeError();
  WorkspaceHeader header = workspaceHeaderOf(run.rnn());
  TensorDesc bytes = *TensorDesc::dense(std::array{workspaceHeaderBytes}, DataType::U8);
  ReferenceOutput first{arg::workspace, bytes, gather(bytes, &header)};
  first.criterion = Criterion::Value;
  outputs.push_back(std::move(first));
  for (const WorkspaceSection &section : layout->sections) {
    TensorDesc desc = section.desc;
    desc.offset0 = section.byteOffset / (bitsOf(desc.dataType) / 8);
    ReferenceOutput output{arg::workspace, desc, results.*valuesOf(section.part)};
    bool isOfStates = section.part == WorkspacePart::Gates || section.part == WorkspacePart::States;
    output.magnitude = magnitudeOf(run.rnn(), desc, output.exact, isOfStates ? &results.termNorms : nullptr);
    freeUnspecified(section, run, output);
    outputs.push_back(std::move(output));
  }
  return {};
}

} // namespace

Result<std::vector<ReferenceOutput>> computeRnnReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs) {
  Result<Run> made = Run::make(desc, inputs);
  if (!made)
    return made.takeError();
  auto run = std::make_shared<const Run>(std::move(*made));
  RunResults results = run->compute();
  std::vector<ReferenceOutput> outputs;
  for (const Part &part : partsOf(run->rnn()))
    outputs.push_back(outputOf(run, part, results));
  if (run->rnn().prop == PropKind::ForwardTraining)
    if (Result<void> ok = appendWorkspace(*run, results, outputs); !ok)
      return ok.takeError();
  return outputs;
}

} // namespace quern
