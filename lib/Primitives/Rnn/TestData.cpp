//===- TestData.cpp - Inputs of RNNs from a seed --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Dense weights shrink with the number of inputs, so that gates are neither all open nor all shut and a long sequence does not grow.
// Designed floating data is positive and its weights sparse: nothing cancels. Designed integer data opens and shuts every gate: sums of
// products come in steps that are large against the slope of a sigmoid, and biases keep them half a step away from 0. So states are 0,
// +-1, tanh of an integer or an earlier state, none of which lies between two integers once quantized. Dense integer data is taken as
// designed where a rounding that goes the other way could not be told from an error: in a stack, or where directions are summed. Within a
// step it can be told if the weights behind it are small: two such roundings then change a state by half a step of its type.
//
//===----------------------------------------------------------------------===//
#include "Primitives/TestValues.h"

#include "Primitives/Arguments.h"
#include "Primitives/Elements.h"
#include "Primitives/Rnn/Shape.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace quern {
namespace {

using namespace testdata;

class RnnFiller {
public:
  RnnFiller(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind)
      : rnn(std::get<Boxed<RnnDesc>>(desc.op)), quantization(desc.attr.rnn), argument(argument), tensor(tensor) {
    bool isStack = rnn.weightsLayer.dims[0] > 1 || rnn.direction == RnnDirection::BidirectionalSum;
    isInteger = rnn::isQuantized(rnn);
    isDesigned = kind == FillKind::Designed || (isInteger && isStack);
  }

  double valueAt(int64_t position, uint64_t bits) const {
    if (argument == arg::seqLengths)
      return static_cast<double>(bits % static_cast<uint64_t>(std::max<int64_t>(rnn.srcLayer.dims[0], 0) + 1));
    if (argument == arg::attention)
      return isDesigned ? static_cast<double>(bits % 4) / 4 : static_cast<double>(bits >> 40) * 0x1p-24;
    if (isInteger)
      return isDesigned ? designedInteger(position, bits) : denseInteger(position, bits);
    return isDesigned ? designedFloat(bits) : denseFloat(bits);
  }

private:
  bool isMatrix() const { return argument == arg::weights || argument == arg::weights1 || argument == arg::weights3; }
  /// Over many steps c may reach 20; where |P_f c| > 1, c opens the gate that keeps it, and any rounding grows from step to step.
  bool isPeepholeOfMany() const { return argument == arg::weights2 && rnn.srcLayer.dims[0] >= 100; }

  double denseFloat(uint64_t bits) const {
    if (isMatrix()) // of L, D, I, …: a sum of I products has a deviation of 0.8 times theirs
      return bell(bits) * 0.4 / std::sqrt(static_cast<double>(std::max<int64_t>(tensor.dims[2], 1)));
    if (isPeepholeOfMany())
      return bell(bits) * 0.02;
    bool isSmall = argument == arg::bias || argument == arg::weights2 || argument == arg::src1;
    return bell(bits) * (isSmall ? 0.25 : 0.5);
  }

  /// About two weights of a column are not 0.
  bool isPresent(uint64_t bits) const { return mix(bits) % static_cast<uint64_t>(std::max<int64_t>(tensor.dims[2], 2)) < 2; }

  double designedFloat(uint64_t bits) const {
    if (isMatrix())
      return isPresent(bits) ? 0.125 * static_cast<double>(1 + bits % 2) : 0;
    if (argument == arg::bias || argument == arg::weights2)
      return static_cast<double>(bits % 4) / (isPeepholeOfMany() ? 128 : 8);
    return static_cast<double>(1 + bits % 4) / 4;
  }

  /// What an integer between two products is multiplied by: r h by U_o, the last gate, and h by a projection.
  bool isBehindRounding(int64_t position) const {
    if (argument != arg::weights1 || !rnn::isGru(rnn) || rnn::isLinearBeforeReset(rnn))
      return argument == arg::weights3;
    return position / tensor.dims[4] % tensor.dims[3] == 2;
  }

  double denseInteger(int64_t position, uint64_t bits) const {
    if (isFloating(tensor.dataType))
      return bell(bits) * 0.25;
    double value = static_cast<double>(bits % 255);
    if (tensor.dataType == DataType::U8)
      return value;
    if (!isBehindRounding(position))
      return value - 127;
    double scale = scaleAt(argument == arg::weights3 ? quantization.projectionScales : quantization.weightsScales, position);
    return std::trunc((value / 127 - 1) * std::clamp(scale / 4, 1.0, 127.0));
  }

  /// The number of the scale of an element of weights, peepholes or bias: gate and channel, which are the last two dims.
  double scaleAt(const std::vector<float> &scales, int64_t position) const {
    if (scales.empty())
      return 1;
    return std::fabs(static_cast<double>(scales[static_cast<size_t>(position) % scales.size()]));
  }
  /// How large weights of this scale are, so that a step of a sum is 40 or more.
  double weightOf(double scale) const {
    return std::clamp(std::ceil(40 * scale * std::fabs(static_cast<double>(quantization.dataScale))), 1.0, 127.0);
  }

  double designedInteger(int64_t position, uint64_t bits) const {
    double sign = bits & 1024 ? -1 : 1;
    if (argument == arg::weights3)
      return isPresent(bits) ? sign * std::clamp(std::round(scaleAt(quantization.projectionScales, position)), 1.0, 127.0) : 0;
    if (isMatrix())
      return isPresent(bits) ? sign * weightOf(scaleAt(quantization.weightsScales, position)) : 0;
    if (argument == arg::bias || argument == arg::weights2)
      return sign * stepAt(position) * (argument == arg::bias ? 0.5 : static_cast<double>(bits % 2));
    double small = static_cast<double>(static_cast<int64_t>(bits >> 32) % 5 - 2);
    if (isFloating(tensor.dataType)) // the cell, or a state as a number
      return argument == arg::src1 ? std::clamp(small, -1.0, 1.0) : small;
    return std::round(static_cast<double>(quantization.dataShift)) + small;
  }

  /// The step of the sums of a gate and channel of a bias or a peephole, whose gates are not those of the weights.
  double stepAt(int64_t position) const {
    int64_t channels = tensor.dims[3], gate = position / channels % tensor.dims[2], last = rnn::gatesOf(rnn.cell) - 1;
    gate = argument == arg::weights2 && gate == 2 ? 3 : std::min(gate, last);
    double scale = scaleAt(quantization.weightsScales, gate * channels + position % channels);
    return weightOf(scale) / (scale * std::fabs(static_cast<double>(quantization.dataScale)));
  }

  const RnnDesc &rnn;
  const RnnQuantization &quantization;
  int32_t argument;
  const TensorDesc &tensor;
  bool isInteger, isDesigned;
};

/// Behind packed s8 weights, as a reorder writes them: the sums over the input channels, f32, dense over the other, padded dims.
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

} // namespace

void fillRnnInput(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed, void *buffer) {
  RnnFiller filler(desc, argument, tensor, kind);
  uint64_t base = mix(seed * 0x100000001b3 + static_cast<uint64_t>(argument));
  forEachElement(tensor, [&](int64_t position, int64_t offset) {
    storeElement(tensor.dataType, buffer, offset, filler.valueAt(position, mix(base + static_cast<uint64_t>(position))));
  });
  if (tensor.extras.flags & ExtraRnnU8S8)
    appendSums(tensor, buffer);
}

} // namespace quern
