//===- Reference.cpp - Reference of RNNs ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Layers, directions and steps around the equations of Cells.cpp:
//   (h_t,l  c_t,l) = Cell(h_t,l-1  h_t-1,l  c_t-1,l)
// for each sequence separately, up to its length. Each direction has its own stack; with the flag for a stack of both
// directions, a layer reads the states of both directions of the layer below.
//
// Results of f32 are judged by a threshold. A state of a narrow type is rounded in each step, so the reference
// determines the permitted values of each element: the values that the exact one rounds to if sums are in f32, usually
// one. If a state is visible in the results, the next step continues from it, so that a rounding that went the other
// way is accepted once and has no further effect. If it is not visible (stacks, sums of directions), the reference
// searches for the roundings of integers that lead to the results (Roundings.h). For other types, everything that
// depends on a state near a midpoint may deviate accordingly.
//
//===----------------------------------------------------------------------===//
#include "Reference/Rnn/Run.h"

#include "Primitives/Arguments.h"
#include "Primitives/Rnn/Workspace.h"
#include "Reference/Elements.h"
#include "Reference/Rnn/Backward.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

namespace quern {
namespace {

using namespace rnn;

/// Returns, for each element, the root of the sum of squares over the last dim.
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

/// Returns the magnitudes to which errors are relative: 1 if gates bound the values, and for c its maximum so far;
/// otherwise the row's norm or, if greater, the norm of the terms of an element's sum, because in a row of few channels
/// all terms may cancel.
std::vector<double> magnitudeOf(const RnnDesc &rnn, const TensorDesc &desc, const std::vector<double> &values,
                                const std::vector<double> *terms) {
  const bool isBounded = isLstm(rnn) || isGru(rnn);
  std::vector<double> sizes = isBounded ? std::vector<double>(values.size(), 1) : rowNorms(desc, values);
  if (terms && !terms->empty())
    std::transform(sizes.begin(), sizes.end(), terms->begin(), sizes.begin(),
                   [](double a, double b) { return std::max(a, b); });
  return sizes;
}

/// Returns true if kernels round stored or read values, so that an error of f32 may become a step of a narrower type.
bool isRoundedBetweenSteps(const PrimitiveDesc &desc) {
  const RnnDesc &rnn = std::get<Boxed<RnnDesc>>(desc.op);
  const FpmathMode mode = desc.attr.fpmathMode;
  return rnn.srcLayer.dataType != DataType::F32 || mode == FpmathMode::BF16 || mode == FpmathMode::Any;
}

/// Returns all combinations of rounded products: first none, then all, then the others.
std::vector<Operands> possibleOperands(const PrimitiveDesc &desc) {
  const RnnDesc &rnn = std::get<Boxed<RnnDesc>>(desc.op);
  if (rnn.srcLayer.dataType != DataType::F32 || !isRoundedBetweenSteps(desc))
    return {{}};
  std::vector<Product> products = {Product::Layer, Product::Iter};
  if (layerProductOf(rnn, 2) == Product::OutputLayer)
    products.insert(products.end(), {Product::OutputLayer, Product::OutputIter});
  if (!rnn.weightsProjection.isZero())
    products.push_back(Product::Projection);
  const uint32_t all = (1u << products.size()) - 1;
  std::vector<Operands> possible = {{}};
  for (uint32_t chosen = all; chosen > 0; --chosen) {
    Operands operands;
    for (size_t i = 0; i < products.size(); ++i)
      operands.rounded |= (chosen >> i & 1) << static_cast<int>(products[i]);
    possible.push_back(operands);
  }
  return possible;
}

struct Part {
  int32_t argument;
  TensorDesc desc;
  RunValues RunResults::*values;
  /// The magnitude of the terms that each element is computed from; null if its tolerance does not depend on it.
  std::vector<double> RunResults::*terms = nullptr;
};

std::vector<Part> partsOf(const RnnDesc &rnn) {
  std::vector<Part> parts = {{arg::dst, rnn.dstLayer, &RunResults::dstLayer, &RunResults::dstLayerTermNorms}};
  if (!rnn.dstIter.isZero())
    parts.push_back({arg::dst1, rnn.dstIter, &RunResults::dstIter, &RunResults::dstIterTermNorms});
  if (!rnn.dstIterC.isZero())
    parts.push_back({arg::dst2, rnn.dstIterC, &RunResults::dstIterC, &RunResults::dstIterCSizes});
  return parts;
}

/// Permitted results, computed once for all outputs of an execution. If products of f32 may be rounded, a kernel may
/// round them or not.
class Follower {
public:
  explicit Follower(std::vector<Run> runs) : runs(std::move(runs)), parts(partsOf(this->runs.front().rnn())) {}

  const RunResults &following(const ReferenceInputs &results) {
    std::vector<std::vector<double>> values;
    for (const Part &part : parts) {
      auto buffer = results.find(part.argument);
      values.push_back(buffer == results.end() ? std::vector<double>() : gather(part.desc, buffer->second));
    }
    if (isComputed && std::equal(values.begin(), values.end(), followed.begin(), isSame))
      return found;
    followed = std::move(values);
    isComputed = true;
    found = mayExplain(runs.front()) ? explained(runs.front()) : likeliest();
    return found;
  }

private:
  static bool isSame(const std::vector<double> &a, const std::vector<double> &b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
  }
  RunResults likeliest() const {
    RunResults likeliest;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const Run &run : runs) {
      RunResults computed = run.compute({seenIn(run), nullptr});
      if (int64_t wrong = wrongOf(computed); wrong < least)
        likeliest = std::move(computed), least = wrong;
      if (!least)
        break;
    }
    return likeliest;
  }
  /// Computes dst_layer with the roundings that explain it. For the other outputs, which they do not determine, all
  /// effects of roundings near a midpoint are permitted.
  RunResults explained(const Run &run) const {
    Roundings roundings = explain(run, dstLayer());
    RunResults results = run.compute({.roundings = &roundings});
    results.dstLayer = run.compute({.roundings = &roundings, .isStrict = true}).dstLayer;
    return results;
  }
  /// Returns the states in dst_layer if it contains them: for one layer, not summed over directions.
  std::function<double(const RunPlace &)> seenIn(const Run &run) const {
    if (dstLayer().empty() || run.shape().layers != 1 || run.rnn().direction == RnnDirection::BidirectionalSum)
      return {};
    const bool hasNumbers = run.rnn().dstLayer.dataType != run.rnn().srcLayer.dataType;
    return [&, hasNumbers](const RunPlace &at) {
      const Shape &s = run.shape();
      auto row = static_cast<size_t>((at.t * s.batch + at.n) * s.directions + at.direction);
      double result = dstLayer()[row * static_cast<size_t>(s.dic) + static_cast<size_t>(at.channel)];
      return hasNumbers ? run.state().stored(result) : result;
    };
  }
  /// Returns true for integers whose states are not visible, of a size for which many runs take at most seconds.
  bool mayExplain(const Run &run) const {
    constexpr double maxProducts = 3e6; // products per sequence
    const Shape &s = run.shape();
    const double products = static_cast<double>(s.layers * s.directions * s.steps) *
                            static_cast<double>(s.gates * s.dhc) *
                            static_cast<double>(std::max(s.slc, s.dic * s.directions) + s.sic);
    return isQuantized(run.rnn()) && !dstLayer().empty() && !seenIn(run) && products <= maxProducts;
  }
  int64_t wrongOf(const RunResults &possible) const {
    int64_t wrong = 0;
    for (size_t i = 0; i < parts.size(); ++i)
      for (size_t element = 0; element < followed[i].size(); ++element)
        wrong += !(possible.*parts[i].values).contains(parts[i].desc.dataType, element, followed[i][element]);
    return wrong;
  }
  const std::vector<double> &dstLayer() const { return followed.front(); }

  std::vector<Run> runs;
  std::vector<Part> parts; ///< dst_layer first
  std::vector<std::vector<double>> followed;
  RunResults found;
  bool isComputed = false;
};

RunValues RunResults::*valuesOf(WorkspacePart part) {
  switch (part) {
  case WorkspacePart::Gates:
    return &RunResults::gates;
  case WorkspacePart::States:
    return &RunResults::states;
  case WorkspacePart::Cells:
    return &RunResults::cells;
  case WorkspacePart::HiddenSums:
    return &RunResults::hiddenSums;
  }
  return nullptr;
}

std::vector<double> RunResults::*termsOf(WorkspacePart part) {
  if (part == WorkspacePart::Cells)
    return &RunResults::cellSizes;
  return part == WorkspacePart::Gates || part == WorkspacePart::States ? &RunResults::termNorms : nullptr;
}

ReferenceOutput outputOf(const RnnDesc &rnn, const Part &part, const RunResults &results,
                         const std::shared_ptr<Follower> &follower) {
  ReferenceOutput output{part.argument, part.desc, (results.*part.values).exact};
  if (!follower)
    output.magnitude = magnitudeOf(rnn, part.desc, output.exact, part.terms ? &(results.*part.terms) : nullptr);
  else
    output.possibleOf = [follower, values = part.values](const ReferenceInputs &made) {
      return follower->following(made).*values;
    };
  return output;
}

/// Permits any values after the end of a sequence.
void freeUnspecified(const WorkspaceSection &section, const Run &run, ReferenceOutput &output) {
  if (!run.hasLengths())
    return;
  int64_t inner = 1;
  for (int d = 4; d < section.desc.ndims; ++d)
    inner *= section.desc.dims[d];
  auto isFree = [inner, shape = run.shape(), lengths = run.lengths()](int64_t position) {
    int64_t n = position / inner % shape.batch, t = position / inner / shape.batch % shape.steps;
    return t >= lengths[static_cast<size_t>(n)];
  };
  if (output.possibleOf) {
    output.possibleOf = [isFree, inner = output.possibleOf](const ReferenceInputs &made) {
      PossibleValues values = inner(made);
      for (size_t i = 0; i < values.exact.size(); ++i)
        if (isFree(static_cast<int64_t>(i)))
          values.low[i] = -std::numeric_limits<double>::infinity(), values.high[i] = -values.low[i],
          values.exact[i] = NAN;
      return values;
    };
    return;
  }
  output.beforeAttributes = output.exact;
  output.range = [isFree](int64_t position, const Interval &start) {
    Interval range = start;
    if (isFree(position))
      range.low = -std::numeric_limits<long double>::infinity(), range.high = -range.low, range.mayBeNan = true;
    return range;
  };
}

Result<void> appendWorkspace(const Run &run, const RunResults &results, const std::shared_ptr<Follower> &follower,
                             std::vector<ReferenceOutput> &outputs) {
  QUERN_ASSIGN_OR_RETURN(WorkspaceLayout layout, workspaceOf(run.rnn()));
  WorkspaceHeader header = workspaceHeaderOf(run.rnn());
  TensorDesc bytes = *TensorDesc::dense(std::array{workspaceHeaderBytes}, DataType::U8);
  ReferenceOutput first{arg::workspace, bytes, gather(bytes, &header)};
  first.criterion = Criterion::Value;
  outputs.push_back(std::move(first));
  for (const WorkspaceSection &section : layout.sections) {
    TensorDesc desc = section.desc;
    desc.offset0 = section.byteOffset / (bitsOf(desc.dataType) / 8);
    const Part part{arg::workspace, desc, valuesOf(section.part), termsOf(section.part)};
    ReferenceOutput output = outputOf(run.rnn(), part, results, follower);
    freeUnspecified(section, run, output);
    outputs.push_back(std::move(output));
  }
  return {};
}

} // namespace

Result<std::vector<ReferenceOutput>> computeRnnReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs) {
  if (std::get<Boxed<RnnDesc>>(desc.op)->prop == PropKind::Backward)
    return rnn::computeBackwardReference(desc, inputs);
  return rnn::computeReference(desc, inputs, {});
}

Result<std::vector<ReferenceOutput>> rnn::computeReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs,
                                                           const Variant &variant) {
  std::vector<Run> runs;
  for (Operands operands : possibleOperands(desc)) {
    QUERN_ASSIGN_OR_RETURN(Run made, Run::make(desc, inputs, operands, variant));
    runs.push_back(std::move(made));
  }
  const Run run = runs.front();
  RunResults results = run.compute();
  auto follower = isRoundedBetweenSteps(desc) ? std::make_shared<Follower>(std::move(runs)) : nullptr;
  std::vector<ReferenceOutput> outputs;
  for (const Part &part : partsOf(run.rnn()))
    outputs.push_back(outputOf(run.rnn(), part, results, follower));
  if (run.rnn().prop == PropKind::ForwardTraining)
    QUERN_RETURN_IF_ERROR(appendWorkspace(run, results, follower, outputs));
  return outputs;
}

} // namespace quern
