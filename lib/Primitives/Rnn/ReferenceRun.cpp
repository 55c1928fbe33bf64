//===- ReferenceRun.cpp - An RNN over layers, directions and time ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See ReferenceRun.h.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/ReferenceRun.h"

#include "Primitives/Arguments.h"
#include "Primitives/Elements.h"
#include "Primitives/QuantizationReference.h"

#include <algorithm>

namespace quern::rnn {
namespace {

/// Row `row` of a matrix with rows of `length`.
std::span<const double> rowOf(const std::vector<double> &values, int64_t row, int64_t length) {
  return std::span(values).subspan(static_cast<size_t>(row * length), static_cast<size_t>(length));
}

void store(std::vector<double> &values, int64_t row, const std::vector<double> &from) {
  std::copy(from.begin(), from.end(), values.begin() + row * static_cast<int64_t>(from.size()));
}

/// The part of layer and direction number `index` of `count`.
std::vector<double> partOf(const std::vector<double> &values, size_t index, size_t count) {
  size_t length = values.size() / count;
  auto first = values.begin() + static_cast<std::ptrdiff_t>(index * length);
  return {first, first + static_cast<std::ptrdiff_t>(length)};
}

/// `scales` repeat along the values of a row-major tensor whose last dims they are for.
void divide(std::vector<double> &values, const std::vector<float> &scales) {
  for (size_t i = 0; i < values.size() && !scales.empty(); ++i)
    values[i] /= static_cast<double>(scales[i % scales.size()]);
}

} // namespace

Result<Run> Run::make(const PrimitiveDesc &desc, const ReferenceInputs &inputs) {
  Run run(std::get<Boxed<RnnDesc>>(desc.op), desc.attr.rnn);
  if (Result<void> read = run.read(inputs); !read)
    return read.takeError();
  return run;
}

Result<void> Run::read(const ReferenceInputs &inputs) {
  std::vector<double> lengths, layer, iter, peephole, projection, bias;
  struct Input {
    int32_t argument;
    const TensorDesc &desc;
    std::vector<double> &values;
  };
  const Input all[] = {{arg::src, desc.srcLayer, srcLayer},
                       {arg::src1, desc.srcIter, srcIter},
                       {arg::src2, desc.srcIterC, srcIterC},
                       {arg::attention, desc.attention, attention},
                       {arg::seqLengths, desc.seqLengths, lengths},
                       {arg::weights, desc.weightsLayer, layer},
                       {arg::weights1, desc.weightsIter, iter},
                       {arg::weights2, desc.weightsPeephole, peephole},
                       {arg::weights3, desc.weightsProjection, projection},
                       {arg::bias, desc.bias, bias}};
  for (const Input &input : all) {
    if (input.desc.isZero())
      continue;
    Result<const void *> buffer = bufferOf(inputs, input.argument, input.desc);
    if (!buffer)
      return buffer.takeError();
    input.values = gather(input.desc, *buffer);
  }
  for (double &x : srcLayer)
    x = stateType.number(x);
  auto states = static_cast<size_t>(s.layers * s.directions * s.batch);
  if (desc.srcIter.isZero())
    srcIter.assign(states * static_cast<size_t>(s.sic), stateType.stored(0));
  else if (desc.srcIter.dataType != desc.srcLayer.dataType) // f32 beside integers
    std::transform(srcIter.begin(), srcIter.end(), srcIter.begin(), [&](double h) { return stateType.stored(h); });
  if (srcIterC.empty())
    srcIterC.assign(states * static_cast<size_t>(s.dhc), 0);
  for (int64_t n = 0; n < s.batch; ++n)
    lengthOf.push_back(lengths.empty() ? s.steps : std::clamp<int64_t>(static_cast<int64_t>(lengths[static_cast<size_t>(n)]), 0, s.steps));
  readWeights(layer, iter, peephole, projection, bias);
  return {};
}

void Run::readWeights(const std::vector<double> &layer, const std::vector<double> &iter, const std::vector<double> &peephole,
                      const std::vector<double> &projection, const std::vector<double> &bias) {
  auto count = static_cast<size_t>(s.layers * s.directions);
  for (size_t i = 0; i < count; ++i) {
    CellWeights part{partOf(layer, i, count), partOf(iter, i, count), partOf(peephole, i, count), partOf(projection, i, count),
                     partOf(bias, i, count)};
    divide(part.layer, quantized.weightsScales);
    divide(part.iter, quantized.weightsScales);
    divide(part.projection, quantized.projectionScales);
    weights.push_back(std::move(part));
  }
}

/// One sequence in one layer and direction.
struct Run::Sequence {
  int64_t layer, direction, n;
  std::vector<double> h, c; ///< the state, as stored, and the cell
  const std::function<double(const RunPlace &, double)> &replace;
};

/// What step t of a layer reads, as numbers.
std::vector<double> Run::inputOf(const RunPlace &at, const RunResults &results) const {
  if (at.layer == 0) {
    std::span<const double> row = rowOf(srcLayer, at.t * s.batch + at.n, s.slc);
    return {row.begin(), row.end()};
  }
  std::vector<double> input;
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    if (!(desc.flags & RnnStackConcatenated) && direction != at.direction)
      continue;
    int64_t row = (static_cast<int64_t>(stack(at.layer - 1, direction)) * s.steps + at.t) * s.batch + at.n;
    for (double stored : rowOf(results.states, row, s.dic))
      input.push_back(stateType.number(stored));
  }
  return input;
}

void Run::runSequence(Sequence &sequence, RunResults &results) const {
  int64_t length = lengthOf[static_cast<size_t>(sequence.n)];
  for (int64_t step = 0; step < length; ++step) {
    RunPlace at{sequence.layer, sequence.direction, isReversed(sequence.direction) ? length - 1 - step : step, sequence.n, 0};
    const std::vector<double> x = inputOf(at, results);
    std::vector<double> h(sequence.h.size());
    std::transform(sequence.h.begin(), sequence.h.end(), h.begin(), [&](double stored) { return stateType.number(stored); });
    double a = attention.empty() ? 0 : attention[static_cast<size_t>(at.t * s.batch + at.n)];
    CellOutputs out = computeCell(desc, s, stateType, weights[stack(at.layer, at.direction)], {x, h, sequence.c, a});

    std::transform(out.h.begin(), out.h.end(), out.h.begin(), [&](double value) { return stateType.stored(value); });
    std::transform(out.unprojected.begin(), out.unprojected.end(), out.unprojected.begin(),
                   [&](double value) { return stateType.stored(value); });
    int64_t row = (static_cast<int64_t>(stack(at.layer, at.direction)) * s.steps + at.t) * s.batch + at.n;
    store(results.gates, row, out.gates);
    store(results.states, row, out.h);
    store(results.cells, row, out.c);
    store(results.hiddenSums, row, out.hiddenSums);
    store(results.unprojected, row, out.unprojected);
    store(results.termNorms, row, out.termNorms);
    sequence.h = out.h;
    if (!out.c.empty())
      sequence.c = out.c;
    for (at.channel = 0; sequence.replace && at.channel < s.dic; ++at.channel) {
      double &kept = sequence.h[static_cast<size_t>(at.channel)];
      kept = sequence.replace(at, kept);
    }
    if (step + 1 < length)
      continue;
    int64_t last = static_cast<int64_t>(stack(at.layer, at.direction)) * s.batch + at.n;
    store(results.dstIter, last, out.h); // what is judged is what was computed
    store(results.dstIterTermNorms, last, out.termNorms);
  }
}

RunResults Run::compute(const std::function<double(const RunPlace &, double)> &replace) const {
  RunResults results;
  auto stacks = static_cast<size_t>(s.layers * s.directions), rows = stacks * static_cast<size_t>(s.steps * s.batch);
  auto sequences = stacks * static_cast<size_t>(s.batch), hidden = static_cast<size_t>(s.dhc), dic = static_cast<size_t>(s.dic);
  results.gates.resize(rows * hidden * static_cast<size_t>(s.gates));
  results.states.resize(rows * dic);
  results.cells.resize(isLstm(desc) ? rows * hidden : 0);
  results.hiddenSums.resize(isLinearBeforeReset(desc) ? rows * hidden : 0);
  results.unprojected.resize(desc.weightsProjection.isZero() ? 0 : rows * hidden);
  results.initialStates = srcIter;
  results.initialCells = srcIterC;
  results.dstIter.resize(sequences * dic);
  results.termNorms.resize(desc.cell == Alg::VanillaRnn ? rows * dic : 0);
  results.dstIterTermNorms.resize(desc.cell == Alg::VanillaRnn ? sequences * dic : 0);
  results.dstIterC = srcIterC;
  for (int64_t layer = 0; layer < s.layers; ++layer)
    for (int64_t direction = 0; direction < s.directions; ++direction)
      for (int64_t n = 0; n < s.batch; ++n) {
        int64_t row = static_cast<int64_t>(stack(layer, direction)) * s.batch + n;
        std::span<const double> h = rowOf(srcIter, row, s.sic), c = rowOf(srcIterC, row, s.dhc);
        Sequence sequence{layer, direction, n, {h.begin(), h.end()}, {c.begin(), c.end()}, replace};
        // Of a sequence without steps: the state that it keeps, if that has as many channels.
        store(results.dstIter, row, s.sic == s.dic ? sequence.h : std::vector<double>(dic, stateType.stored(0)));
        runSequence(sequence, results);
        store(results.dstIterC, row, sequence.c);
      }
  combine(results);
  return results;
}

/// dst_layer from the states of the last layer; states in the type of dst_iter.
void Run::combine(RunResults &results) const {
  bool isWide = isQuantized(desc) && isFloating(desc.dstLayer.dataType), isSum = desc.direction == RnnDirection::BidirectionalSum;
  int64_t width = s.dlc(desc);
  results.dstLayer.assign(static_cast<size_t>(s.steps * s.batch * width), isWide || !isQuantized(desc) ? 0 : stateType.stored(0));
  results.dstLayerTermNorms.resize(results.termNorms.empty() ? 0 : results.dstLayer.size());
  for (int64_t t = 0; t < s.steps; ++t)
    for (int64_t n = 0; n < s.batch; ++n)
      for (int64_t channel = 0; channel < width && t < lengthOf[static_cast<size_t>(n)]; ++channel) {
        double value = 0, termNorm = 0;
        for (int64_t direction = 0; direction < s.directions; ++direction) {
          if (!isSum && direction != channel / s.dic)
            continue;
          int64_t row = (static_cast<int64_t>(stack(s.layers - 1, direction)) * s.steps + t) * s.batch + n;
          auto state = static_cast<size_t>(row * s.dic + channel % s.dic);
          value += isWide ? stateType.number(results.states[state]) : results.states[state];
          termNorm += results.termNorms.empty() ? 0 : results.termNorms[state];
        }
        auto at = static_cast<size_t>((t * s.batch + n) * width + channel);
        results.dstLayer[at] = value;
        if (!results.termNorms.empty())
          results.dstLayerTermNorms[at] = termNorm;
      }
  if (!desc.dstIter.isZero() && isQuantized(desc) && isFloating(desc.dstIter.dataType))
    std::transform(results.dstIter.begin(), results.dstIter.end(), results.dstIter.begin(),
                   [&](double stored) { return stateType.number(stored); });
}

} // namespace quern::rnn
