//===- TestData.cpp - Test inputs of RNNs ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// No value is near 0, so that every channel of every row affects some result, even if there are few results of a narrow
// type. Weights decrease with the number of inputs, so that gates are neither all open nor all closed and states do not
// grow over a long sequence. Designed data is positive and its weights are sparse, so that nothing cancels; each gate
// reads every channel in some column. Integers include the limits of their types and have no designed variant. Special
// data has sequences with NaN, an infinity, large values or denormals. For backward, the results of forward are
// computed by the forward reference from the same seed, with NaN after the end of sequences.
//
//===----------------------------------------------------------------------===//
#include "Reference/TestData/TestValues.h"

#include "Primitives/Arguments.h"
#include "Primitives/Rnn/Shape.h"
#include "Primitives/Rnn/Workspace.h"
#include "Reference/Elements.h"
#include "Reference/Rnn/Backward.h"
#include "Reference/Rnn/Run.h"
#include "Reference/TestData/TestData.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace quern {
namespace {

using namespace testdata;

class RnnFiller {
public:
  RnnFiller(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind)
      : rnn(std::get<Boxed<RnnDesc>>(desc.op)), quantization(desc.attr.rnn), argument(argument), tensor(tensor) {
    isInteger = rnn::isQuantized(rnn);
    isDesigned = kind == FillKind::Designed && !isInteger;
    const bool isActivation =
        std::ranges::count(std::array{arg::src, arg::src1, arg::src2, arg::diffDst, arg::diffDst1, arg::diffDst2},
                           argument) != 0;
    isSpecial = kind == FillKind::Special && isActivation && !isInteger;
  }

  double valueAt(int64_t position, uint64_t bits) const {
    if (argument == arg::seqLengths) // the first has all steps, so that there is something to compute
      return static_cast<double>(position == 0
                                     ? rnn.srcLayer.dims[0]
                                     : static_cast<int64_t>(bits % static_cast<uint64_t>(rnn.srcLayer.dims[0] + 1)));
    if (argument == arg::attention)
      return isDesigned ? static_cast<double>(bits % 4) / 4 : static_cast<double>(bits >> 40) * 0x1p-24;
    if (isInteger)
      return isFloating(tensor.dataType) ? awayFromZero(bits) / 2
             : isOfFirstLayer(position)  ? std::round(integer(bits) / 4)
                                         : integer(bits);
    return isDesigned  ? designedFloat(position, bits)
           : isSpecial ? specialFloat(position, bits)
                       : denseFloat(position, bits);
  }

private:
  bool isMatrix() const { return argument == arg::weights || argument == arg::weights1 || argument == arg::weights3; }
  /// Only the first layer of a stack reads a source, whose values exceed those of gates.
  bool isOfFirstLayer(int64_t position) const {
    return argument == arg::weights && tensor.dims[0] > 1 && position < tensor.elements() / tensor.dims[0];
  }
  bool readsStates(int64_t position) const {
    return argument == arg::weights && rnn.cell != Alg::VanillaRnn && position >= tensor.elements() / tensor.dims[0];
  }
  /// Over many steps c may reach 20. If |P_f c| > 1, c opens the gate that preserves it, and any rounding error grows
  /// from step to step.
  bool isPeepholeOfMany() const { return argument == arg::weights2 && rnn.srcLayer.dims[0] >= 100; }

  /// Returns a value of either sign with a magnitude from 0.5 to 1.5.
  static double awayFromZero(uint64_t bits) {
    return (bits & 1 ? -1 : 1) * (0.5 + static_cast<double>(bits >> 40) * 0x1p-24);
  }

  double denseFloat(int64_t position, uint64_t bits) const {
    if (isMatrix()) // [L, D, I, …]: a sum of I products deviates about 0.8 times as much as x or h
      return awayFromZero(bits) * (readsStates(position) ? 2.4 : 0.8) /
             std::sqrt(static_cast<double>(std::max<int64_t>(tensor.dims[2], 1)));
    if (isPeepholeOfMany())
      return awayFromZero(bits) * 0.04;
    bool isSmall = argument == arg::bias || argument == arg::weights2 || argument == arg::src1;
    return awayFromZero(bits) * (isSmall ? 0.5 : 1);
  }

  /// Returns special values in about one sequence of three: NaN, an infinity or a large value in one element of eight,
  /// or a denormal in every element.
  double specialFloat(int64_t position, uint64_t bits) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const int64_t sequence = position / tensor.dims[tensor.ndims - 1] % rnn.srcLayer.dims[1];
    const uint64_t kind = mix(static_cast<uint64_t>(sequence) + 77) % 15;
    if (kind == 4)
      return denormalOf(tensor.dataType, bits) * (bits & 64 ? -1 : 1);
    if (bits >> 8 & 7)
      return denseFloat(position, bits);
    switch (kind) {
    case 0:
      return std::numeric_limits<double>::quiet_NaN();
    case 1:
      return infinity;
    case 2:
      return -infinity;
    case 3:
      return denseFloat(position, bits) * 16;
    default:
      return denseFloat(position, bits);
    }
  }

  /// About two weights of a column are nonzero, and each input has a nonzero weight in some column of each gate. Every
  /// second gate has greater weights than the others.
  double designedWeight(int64_t position, uint64_t bits) const {
    const bool isOfGates = tensor.ndims == 5;
    const int64_t inputs = tensor.dims[2], columns = tensor.dims[tensor.ndims - 1],
                  gates = isOfGates ? tensor.dims[3] : 1;
    const int64_t column = position % columns, gate = position / columns % gates,
                  input = position / columns / gates % inputs;
    const int64_t groups = std::max<int64_t>(std::min((inputs + 1) / 2, columns), 1), terms = inputs / groups;
    if (input % groups != (column + gate) % groups)
      return 0;
    return std::ldexp(static_cast<double>(4 + 2 * (gate % 2)) + static_cast<double>(bits % 2),
                      -4 - static_cast<int>(std::log2(std::max<double>(static_cast<double>(terms) / 2, 1))));
  }

  double designedFloat(int64_t position, uint64_t bits) const {
    if (isMatrix())
      return designedWeight(position, bits);
    if (argument == arg::bias) // [L, D, G, O]
      return (static_cast<double>(1 + bits % 4) +
              static_cast<double>(position / tensor.dims[3] % tensor.dims[2] % 2) * 4) /
             8;
    if (argument == arg::weights2)
      return static_cast<double>(1 + bits % 4) / (isPeepholeOfMany() ? 128 : 8);
    return static_cast<double>(1 + bits % 4) / 4;
  }

  /// One value in eight is a limit of its type. Zero is represented by the data's shift, in weights by 0.
  double integer(uint64_t bits) const {
    const bool isUnsigned = tensor.dataType == DataType::U8;
    const double zero = isMatrix() ? 0 : std::round(static_cast<double>(quantization.dataShift));
    const double low = isUnsigned ? 0 : -128, high = isUnsigned ? 255 : 127;
    if (bits >> 8 & 7) {
      const double value = zero + (bits & 1 ? -1 : 1) * std::round(40 + 87 * static_cast<double>(bits >> 40) * 0x1p-24);
      return value < low || value > high ? 2 * zero - value : value;
    }
    return bits & 1 && zero - low >= 40 ? low : high;
  }

  const RnnDesc &rnn;
  const RnnQuantization &quantization;
  int32_t argument;
  const TensorDesc &tensor;
  bool isInteger, isDesigned, isSpecial;
};

/// Appends sums to packed s8 weights, as a reorder does: over the input channels, in f32, dense over the other, padded
/// dims.
void appendSums(const TensorDesc &weights, void *buffer) {
  constexpr int input = 2;
  TensorDesc alone = weights;
  alone.extras = TensorExtras();
  const int64_t start = (alone.bytes() + 3) / 4 * 4;
  std::vector<float> sums(static_cast<size_t>(weights.bytes() - start) / sizeof(float));
  const std::vector<double> values = gather(alone, buffer);
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), place = 0, stride = 1;
    for (int d = weights.ndims - 1; d >= 0; --d) {
      if (d != input)
        place += rest % weights.dims[d] * stride, stride *= weights.paddedDims[d];
      rest /= weights.dims[d];
    }
    sums[static_cast<size_t>(place)] += static_cast<float>(values[i]);
  }
  std::memcpy(static_cast<char *>(buffer) + start, sums.data(), sums.size() * sizeof(float));
}

/// Writes the data that training forward stores for the inputs of this seed.
void fillWorkspace(const PrimitiveDesc &desc, FillKind kind, uint64_t seed, const TensorDesc &workspace, void *buffer) {
  PrimitiveDesc forward = desc;
  RnnDesc &rnn = *std::get<Boxed<RnnDesc>>(forward.op);
  rnn.prop = PropKind::ForwardTraining;
  if (rnn.bias.isAny()) // not an argument of backward
    rnn.bias = *TensorDesc::dense(rnn.bias.shape(), rnn.bias.dataType);
  std::vector<std::vector<char>> buffers;
  ReferenceInputs inputs;
  for (const auto &[argument, tensor] :
       {std::pair{arg::src, &rnn.srcLayer}, std::pair{arg::src1, &rnn.srcIter}, std::pair{arg::src2, &rnn.srcIterC},
        std::pair{arg::attention, &rnn.attention}, std::pair{arg::seqLengths, &rnn.seqLengths},
        std::pair{arg::weights, &rnn.weightsLayer}, std::pair{arg::weights1, &rnn.weightsIter},
        std::pair{arg::weights2, &rnn.weightsPeephole}, std::pair{arg::weights3, &rnn.weightsProjection},
        std::pair{arg::bias, &rnn.bias}}) {
    if (tensor->isZero())
      continue;
    buffers.emplace_back(static_cast<size_t>(tensor->bytes()));
    fillRnnInput(forward, argument, *tensor, kind, seed, buffers.back().data());
    inputs[argument] = buffers.back().data();
  }
  std::memset(buffer, 0xff, static_cast<size_t>(workspace.bytes()));
  const Result<rnn::WorkspaceLayout> layout = rnn::workspaceOf(rnn);
  const Result<rnn::Run> run = rnn::Run::make(forward, inputs);
  if (!layout || !run) // not verified
    return;
  const rnn::WorkspaceHeader header = rnn::workspaceHeaderOf(rnn);
  std::memcpy(buffer, &header, sizeof(header));
  rnn::RunResults results = run->compute({.isStrict = true});
  for (const auto &[part, values] : {std::pair{rnn::WorkspacePart::Gates, &results.gates.exact},
                                     std::pair{rnn::WorkspacePart::Cells, &results.cells.exact},
                                     std::pair{rnn::WorkspacePart::HiddenSums, &results.hiddenSums.exact},
                                     std::pair{rnn::WorkspacePart::States, &results.stored}}) {
    const rnn::WorkspaceSection *section = layout->find(part);
    if (!section)
      continue;
    const rnn::Shape &s = run->shape();
    const size_t rows = static_cast<size_t>(s.layers * s.directions * s.steps * s.batch),
                 width = rows == 0 ? 0 : values->size() / rows;
    for (size_t row = 0; row < rows; ++row) {
      const auto n = row % static_cast<size_t>(s.batch),
                 t = row / static_cast<size_t>(s.batch) % static_cast<size_t>(s.steps);
      if (static_cast<int64_t>(t) >= run->lengths()[n])
        std::fill_n(values->begin() + static_cast<std::ptrdiff_t>(row * width), width,
                    std::numeric_limits<double>::quiet_NaN());
    }
    scatter(section->desc, static_cast<char *>(buffer) + section->byteOffset, *values);
  }
}

} // namespace

void appendRnnSums(const TensorDesc &weights, void *buffer) {
  if (weights.extras.flags & ExtraRnnU8S8)
    appendSums(weights, buffer);
}

void fillRnnInput(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed,
                  void *buffer) {
  if (argument == arg::workspace)
    return fillWorkspace(desc, kind, seed, tensor, buffer);
  RnnFiller filler(desc, argument, tensor, kind);
  uint64_t base = mix(seed * 0x100000001b3 + static_cast<uint64_t>(argument));
  forEachElement(tensor, [&](int64_t position, int64_t offset) {
    storeElement(tensor.dataType, buffer, offset,
                 filler.valueAt(position, mix(base + static_cast<uint64_t>(position))));
  });
  appendRnnSums(tensor, buffer);
}

} // namespace quern
