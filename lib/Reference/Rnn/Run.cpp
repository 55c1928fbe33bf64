//===- Run.cpp - Reference of an RNN over layers and time -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Reference/Rnn/Run.h"

#include "Primitives/Arguments.h"
#include "Reference/Attributes/Quantization.h"
#include "Reference/Elements.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quern::rnn {
namespace {

/// Returns row `row` of a matrix whose rows have `length` elements.
std::span<const double> elementsOf(const std::vector<double> &values, int64_t row, int64_t length) {
  return std::span(values).subspan(static_cast<size_t>(row * length), static_cast<size_t>(length));
}

void store(std::vector<double> &values, int64_t row, const std::vector<double> &from) {
  std::copy(from.begin(), from.end(), values.begin() + row * static_cast<int64_t>(from.size()));
}

double rootMeanSquare(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += std::isfinite(value) ? value * value : 0;
  return std::sqrt(sum / static_cast<double>(std::max<size_t>(values.size(), 1)));
}

bool isAny(const std::vector<double> &spread) {
  return std::any_of(spread.begin(), spread.end(), [](double off) { return off > 0; });
}

/// Bounds the error of `value` if a step's inputs have errors: by `spread`, or by the empirical bound if that is
/// smaller.
double loosenessOf(const StateType &state, double value, double jump, const std::vector<double> &beside,
                   double spread) {
  return std::min(state.loosenessOf(value, rootMeanSquare(beside)) + jump, spread);
}

/// Returns part `index` of `count` equal parts, each of which belongs to one layer and direction.
std::vector<double> partOf(const std::vector<double> &values, size_t index, size_t count) {
  size_t length = values.size() / count;
  auto first = values.begin() + static_cast<std::ptrdiff_t>(index * length);
  return {first, first + static_cast<std::ptrdiff_t>(length)};
}

/// Divides by `scales`, which repeat along a row-major tensor whose last dims they apply to.
void divide(std::vector<double> &values, const std::vector<float> &scales) {
  for (size_t i = 0; i < values.size() && !scales.empty(); ++i)
    values[i] /= static_cast<double>(scales[i % scales.size()]);
}

} // namespace

void RunValues::resize(size_t count) {
  for (std::vector<double> *values : {&exact, &low, &high})
    values->resize(count);
}

void RunValues::set(size_t at, double value, double off) {
  exact[at] = value;
  low[at] = std::isfinite(value) ? value - off : value;
  high[at] = std::isfinite(value) ? value + off : value;
}

bool RunValues::contains(DataType type, size_t at, double value) const {
  return (roundTo(type, low[at]) <= value && value <= roundTo(type, high[at])) ||
         (std::isnan(value) && std::isnan(exact[at]));
}

Result<Run> Run::make(const PrimitiveDesc &desc, const ReferenceInputs &inputs, Operands operands,
                      const Variant &variant) {
  Run run(std::get<Boxed<RnnDesc>>(desc.op), desc.attr.rnn, operands, variant);
  QUERN_RETURN_IF_ERROR(run.read(inputs));
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
    QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, input.argument, input.desc));
    input.values = gather(input.desc, buffer);
  }
  for (double &x : srcLayer)
    x = stateType.number(x);
  auto states = static_cast<size_t>(s.layers * s.directions * s.batch);
  if (desc.srcIter.isZero())
    srcIter.assign(states * static_cast<size_t>(s.sic), stateType.stored(0));
  if (srcIterC.empty())
    srcIterC.assign(states * static_cast<size_t>(s.dhc), 0);
  for (int64_t n = 0; n < s.batch; ++n)
    lengthOf.push_back(lengths.empty()
                           ? s.steps
                           : std::clamp<int64_t>(static_cast<int64_t>(lengths[static_cast<size_t>(n)]), 0, s.steps));
  readWeights(layer, iter, peephole, projection, bias);
  return {};
}

void Run::readWeights(const std::vector<double> &layer, const std::vector<double> &iter,
                      const std::vector<double> &peephole, const std::vector<double> &projection,
                      const std::vector<double> &bias) {
  auto count = static_cast<size_t>(s.layers * s.directions);
  for (size_t i = 0; i < count; ++i) {
    CellWeights part{partOf(layer, i, count), partOf(iter, i, count), partOf(peephole, i, count),
                     partOf(projection, i, count), partOf(bias, i, count)};
    divide(part.layer, quantized.weightsScales);
    divide(part.iter, quantized.weightsScales);
    divide(part.projection, quantized.projectionScales);
    for (auto &[matrix, productOf] : {std::pair(&part.layer, &layerProductOf), std::pair(&part.iter, &iterProductOf)})
      for (size_t i = 0; i < matrix->size(); ++i) // index over inputs, gates, channels
        (*matrix)[i] = stateType.operand((*matrix)[i], productOf(desc, static_cast<int64_t>(i) / s.dhc % s.gates));
    for (double &w : part.projection)
      w = stateType.operand(w, Product::Projection);
    weights.push_back(std::move(part));
  }
}

/// State of one sequence in one layer and direction.
struct Run::Sequence {
  int64_t layer, direction, n;
  std::vector<double> h, c; ///< the state, in stored form, and the cell
  const RunOptions &options;
  /// The maximum of 1 and |c| so far: a sum that cancels has the absolute error of its terms.
  std::vector<double> cSizes;
  std::vector<double> hSpread, cSpread; ///< possible differences of h and c, from roundings and from inputs
};

/// Input x of a step, as numbers, and the possible difference of each from the reference.
struct Run::Input {
  std::vector<double> x, spread;
};

Run::Input Run::inputOf(const RunPlace &at, const RunResults &results) const {
  if (at.layer == 0) {
    std::span<const double> row = elementsOf(srcLayer, at.t * s.batch + at.n, s.slc);
    return {{row.begin(), row.end()}, std::vector<double>(row.size())};
  }
  Input input;
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    if (!(desc.flags & RnnStackConcatenated) && direction != at.direction)
      continue;
    const int64_t row = rowOf({at.layer - 1, direction, at.t, at.n, 0});
    for (double stored : elementsOf(results.stored, row, s.dic))
      input.x.push_back(stateType.number(stored));
    std::span<const double> spread = elementsOf(results.spread, row, s.dic);
    input.spread.insert(input.spread.end(), spread.begin(), spread.end());
  }
  return input;
}

void Run::setState(RunValues &values, size_t at, double h, double stored, double off, DataType output) const {
  if (!isQuantized(desc))
    return values.set(at, h, off);
  double low = stateType.stored(h - off), high = stateType.stored(h + off);
  if (!isFloating(output)) {
    values.exact[at] = stored, values.low[at] = std::min(low, high), values.high[at] = std::max(low, high);
    return;
  }
  const double rounding = stateType.roundingOf(stateType.kept(h));
  low = stateType.number(low), high = stateType.number(high);
  values.exact[at] = stateType.number(stored);
  values.low[at] = std::min(low, high) - rounding, values.high[at] = std::max(low, high) + rounding;
}

/// Continues from the state that the results show, if it is permitted.
void Run::follow(Sequence &sequence, RunPlace at, const CellOutputs &out, std::span<const double> off) const {
  for (at.channel = 0; at.channel < s.dic; ++at.channel) {
    auto channel = static_cast<size_t>(at.channel);
    double seen = sequence.options.seen(at), low = stateType.stored(out.h[channel] - off[channel]),
           high = stateType.stored(out.h[channel] + off[channel]);
    if (std::min(low, high) <= seen && seen <= std::max(low, high))
      sequence.h[channel] = seen;
  }
}

void Run::keepStep(Sequence &sequence, const RunPlace &at, const CellOutputs &out, const CellOutputs *spread,
                   RunResults &results) const {
  const int64_t row = rowOf(at);
  auto keep = [&](RunValues &values, std::vector<double> CellOutputs::*part, auto jumpOf, auto sizeOf) {
    const std::vector<double> &from = out.*part;
    for (size_t i = 0; i < from.size(); ++i) {
      const double more = spread ? loosenessOf(stateType, from[i], jumpOf(i), from, (spread->*part)[i]) : jumpOf(i);
      values.set(static_cast<size_t>(row) * from.size() + i, from[i], stateType.toleranceOf(from[i], sizeOf(i)) + more);
    }
  };
  auto none = [](size_t) { return 0.0; };
  auto one = [](size_t) { return 1.0; };
  for (size_t o = 0; o < out.c.size(); ++o)
    if (std::isfinite(out.c[o]))
      sequence.cSizes[o] = std::max(sequence.cSizes[o], std::fabs(out.c[o]));
  const size_t channels = static_cast<size_t>(s.dhc);
  keep(
      results.gates, &CellOutputs::gates,
      [&](size_t i) {
        return i < 2 * channels || out.candidateJumps.empty() ? 0 : out.candidateJumps[i - 2 * channels];
      },
      one);
  keep(results.cells, &CellOutputs::c, none, [&](size_t i) { return sequence.cSizes[i]; });
  keep(results.hiddenSums, &CellOutputs::hiddenSums, none, one);
  store(results.termNorms, row, out.termNorms);
  if (isLstm(desc))
    store(results.cellSizes, row, sequence.cSizes);
  keepCells(sequence, out, spread);
  keepState(sequence, at, out, spread, results);
}

void Run::keepCells(Sequence &sequence, const CellOutputs &out, const CellOutputs *spread) const {
  for (size_t o = 0; o < out.c.size(); ++o) {
    const double c = out.c[o], more = spread ? loosenessOf(stateType, c, 0, out.c, spread->c[o]) : 0;
    sequence.c[o] = c, sequence.cSpread[o] = more;
    if (cellType == DataType::F32)
      continue;
    const double tolerance = stateType.toleranceOf(c, 1) + more;
    sequence.c[o] = roundTo(cellType, c);
    sequence.cSpread[o] = std::fabs(roundTo(cellType, c + tolerance) - roundTo(cellType, c - tolerance));
  }
}

double Run::storedAt(const RunOptions &options, const Rounding &at, double h) const {
  return options.roundings ? options.roundings->stored(stateType, at, h) : stateType.stored(h);
}

void Run::keepState(Sequence &sequence, const RunPlace &at, const CellOutputs &out, const CellOutputs *spread,
                    RunResults &results) const {
  const int64_t row = rowOf(at);
  const double norm = rootMeanSquare(out.h) * std::sqrt(static_cast<double>(out.h.size()));
  const auto first = static_cast<size_t>(row * s.dic);
  sequence.hSpread.assign(out.h.size(), 0);
  for (size_t o = 0; o < out.h.size(); ++o) {
    const double magnitude = out.termNorms.empty() ? 1 : std::max(norm, out.termNorms[o]);
    const double jump = out.jumps.empty() || sequence.options.isStrict ? 0 : out.jumps[o];
    const double more = spread ? loosenessOf(stateType, out.h[o], jump, out.h, spread->h[o]) : jump;
    const double tolerance = stateType.toleranceOf(out.h[o], magnitude) + more;
    results.h[first + o] = out.h[o], results.off[first + o] = tolerance;
    results.spread[first + o] = sequence.options.isStrict ? 0 : stateType.spreadAt(out.h[o], tolerance, more);
    sequence.h[o] = results.stored[first + o] =
        storedAt(sequence.options, {at, static_cast<int64_t>(o), false}, out.h[o]);
    setState(results.states, first + o, out.h[o], sequence.h[o], tolerance, desc.srcLayer.dataType);
  }
  if (sequence.options.seen)
    follow(sequence, at, out, std::span(results.off).subspan(first, out.h.size()));
  else
    std::copy_n(results.spread.begin() + static_cast<std::ptrdiff_t>(first), out.h.size(), sequence.hSpread.begin());
}

void Run::runSequence(Sequence &sequence, RunResults &results) const {
  int64_t length = lengthOf[static_cast<size_t>(sequence.n)];
  for (int64_t step = 0; step < length; ++step) {
    RunPlace at{sequence.layer, sequence.direction, isReversed(sequence.direction) ? length - 1 - step : step,
                sequence.n, 0};
    const Input input = inputOf(at, results);
    std::vector<double> h(sequence.h.size());
    std::transform(sequence.h.begin(), sequence.h.end(), h.begin(),
                   [&](double stored) { return stateType.number(stored); });
    double a = attention.empty() ? 0 : attention[static_cast<size_t>(at.t * s.batch + at.n)];
    CellInputs read{input.x, h, sequence.c, a, sequence.options.sigmoid};
    if (sequence.options.roundings)
      read.kept = [&](double value, size_t channel) {
        return stateType.number(storedAt(sequence.options, {at, static_cast<int64_t>(channel), true}, value));
      };
    const CellWeights &matrices = weights[static_cast<size_t>(stackOf(at))];
    const CellOutputs out = computeCell(desc, s, stateType, matrices, read);
    const bool isLoose = isAny(input.spread) || isAny(sequence.hSpread) || isAny(sequence.cSpread);
    const CellOutputs spread =
        isLoose ? errorBoundsOf(desc, s, stateType, matrices, read, {input.spread, sequence.hSpread, sequence.cSpread})
                : CellOutputs();
    sequence.h.resize(out.h.size());
    keepStep(sequence, at, out, isLoose ? &spread : nullptr, results);
    if (step + 1 < length)
      continue;
    const int64_t last = stateRowOf(at);
    const auto row = static_cast<size_t>(rowOf(at));
    for (size_t o = 0; o < out.h.size(); ++o) // judged by the computed values
      setState(results.dstIter, static_cast<size_t>(last) * out.h.size() + o, out.h[o],
               results.stored[row * out.h.size() + o], results.off[row * out.h.size() + o], desc.dstIter.dataType);
    for (size_t o = 0; o < out.c.size(); ++o)
      results.dstIterC.set(static_cast<size_t>(last) * out.c.size() + o, out.c[o],
                           results.cells.offAt(row * out.c.size() + o));
    store(results.dstIterTermNorms, last, out.termNorms);
    if (isLstm(desc))
      store(results.dstIterCSizes, last, sequence.cSizes);
  }
}

RunResults Run::emptyResults() const {
  RunResults results;
  auto stacks = static_cast<size_t>(s.layers * s.directions), rows = stacks * static_cast<size_t>(s.steps * s.batch);
  auto sequences = stacks * static_cast<size_t>(s.batch), hidden = static_cast<size_t>(s.dhc),
       dic = static_cast<size_t>(s.dic);
  results.gates.resize(rows * hidden * static_cast<size_t>(s.gates));
  results.states.resize(rows * dic);
  for (std::vector<double> *ofStates : {&results.h, &results.stored, &results.off, &results.spread})
    ofStates->resize(rows * dic);
  results.cells.resize(isLstm(desc) ? rows * hidden : 0);
  results.hiddenSums.resize(isLinearBeforeReset(desc) ? rows * hidden : 0);
  results.dstIterC = {{srcIterC, srcIterC, srcIterC}};
  results.dstIter.resize(sequences * dic);
  results.termNorms.resize(desc.cell == Alg::VanillaRnn ? rows * dic : 0);
  results.cellSizes.resize(results.cells.exact.size());
  results.dstIterCSizes.assign(srcIterC.size(), 1);
  results.dstIterTermNorms.resize(desc.cell == Alg::VanillaRnn ? sequences * dic : 0);
  return results;
}

/// Returns the magnitude of each number, but at least 1; 1 if the number is not finite.
static std::vector<double> sizesOf(std::span<const double> numbers) {
  std::vector<double> sizes;
  for (double number : numbers)
    sizes.push_back(std::isfinite(number) ? std::max(1.0, std::fabs(number)) : 1);
  return sizes;
}

std::vector<double> Run::initialState(int64_t layer, int64_t direction, int64_t n, const RunOptions &options) const {
  std::span<const double> given = elementsOf(srcIter, stateRowOf({layer, direction, 0, n, 0}), s.sic);
  std::vector<double> h(given.begin(), given.end());
  if (!desc.srcIter.isZero() && desc.srcIter.dataType != desc.srcLayer.dataType) // f32 combined with integers
    for (size_t i = 0; i < h.size(); ++i)
      h[i] = storedAt(options, {{layer, direction, -1, n, 0}, static_cast<int64_t>(i), false}, h[i]);
  return h;
}

RunResults Run::compute(const RunOptions &options) const {
  RunResults results = emptyResults();
  for (int64_t layer = 0; layer < s.layers; ++layer)
    for (int64_t direction = 0; direction < s.directions; ++direction)
      for (int64_t n = options.only.value_or(0); n < (options.only ? *options.only + 1 : s.batch); ++n) {
        const int64_t row = stateRowOf({layer, direction, 0, n, 0});
        std::vector<double> h = initialState(layer, direction, n, options);
        std::span<const double> c = elementsOf(srcIterC, row, s.dhc);
        Sequence sequence{layer,
                          direction,
                          n,
                          h,
                          {c.begin(), c.end()},
                          options,
                          sizesOf(c),
                          std::vector<double>(h.size()),
                          std::vector<double>(c.size())};
        // Result of a sequence without steps: its initial state, if that has the same number of channels.
        for (int64_t o = 0; o < s.dic; ++o) {
          const double stored = s.sic == s.dic ? h[static_cast<size_t>(o)] : stateType.stored(0);
          setState(results.dstIter, static_cast<size_t>(row * s.dic + o), stateType.number(stored), stored, 0,
                   desc.dstIter.dataType);
        }
        runSequence(sequence, results);
      }
  combine(results);
  return results;
}

/// Computes dst_layer from the states of the last layer. A sum adds the stored states of both directions.
void Run::combine(RunResults &results) const {
  const bool isSum = desc.direction == RnnDirection::BidirectionalSum;
  const int64_t width = s.dlc(desc);
  const auto count = static_cast<size_t>(s.steps * s.batch * width);
  results.dstLayer.resize(count);
  results.dstLayerTermNorms.resize(results.termNorms.empty() ? 0 : count);
  for (size_t at = 0; at < count; ++at) {
    auto row = static_cast<int64_t>(at) / width, channel = static_cast<int64_t>(at) % width, t = row / s.batch,
         n = row % s.batch;
    setState(results.dstLayer, at, 0, stateType.stored(0), 0, desc.dstLayer.dataType);
    for (int64_t direction = 0; direction < s.directions && t < lengthOf[static_cast<size_t>(n)]; ++direction) {
      if (!isSum && direction != channel / s.dic)
        continue;
      auto state = static_cast<size_t>(rowOf({s.layers - 1, direction, t, n, 0}) * s.dic + channel % s.dic);
      if (!isSum)
        setState(results.dstLayer, at, results.h[state], results.stored[state], results.off[state],
                 desc.dstLayer.dataType);
      else
        addState(results.dstLayer, at, results.h[state], results.stored[state], results.off[state], direction == 0);
      if (!results.termNorms.empty())
        results.dstLayerTermNorms[at] += results.termNorms[state];
    }
  }
}

/// Adds a stored state to a sum.
void Run::addState(RunValues &sums, size_t at, double h, double stored, double off, bool isFirst) const {
  const bool isIntegerSum = isQuantized(desc) && !isFloating(desc.dstLayer.dataType);
  auto keptOf = [&](double value) { return isIntegerSum ? stateType.stored(value) : stateType.kept(value); };
  const double exact = isIntegerSum ? stored : stateType.number(stored), a = keptOf(h - off), b = keptOf(h + off);
  const double rounding = isIntegerSum ? 0 : stateType.roundingOf(exact);
  const double low = std::isfinite(exact) ? std::min(a, b) - rounding : exact,
               high = std::isfinite(exact) ? std::max(a, b) + rounding : exact;
  const double most =
      saturatesSums ? stateType.kept(std::numeric_limits<float>::max()) : std::numeric_limits<double>::infinity();
  const double slack = saturatesSums ? rounding : 0;
  auto add = [&](double &sum, double value, double limit) { // NaN stays
    sum = (isFirst ? 0 : sum) + value;
    sum = sum > limit ? limit : sum;
  };
  add(sums.exact[at], exact, most);
  add(sums.low[at], low, most - slack);
  add(sums.high[at], high, most + slack);
}

} // namespace quern::rnn
