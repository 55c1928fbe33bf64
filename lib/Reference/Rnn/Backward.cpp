//===- Backward.cpp - Reference of an RNN's gradients ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Reference/Rnn/Backward.h"

#include "Reference/Rnn/Kept.h"

namespace quern::rnn {
namespace {

/// Returns the gradients of a cell for one draw.
CellGradients<double> drawnGradients(const RnnDesc &rnn, const Shape &s, const CellGradientInputs<double> &in,
                                     const Kept<double> &kept) {
  auto uncertain = [](std::span<const double> values) { return std::vector<Uncertain>(values.begin(), values.end()); };
  auto drawn = [&](const std::vector<Uncertain> &values) {
    std::vector<double> numbers;
    for (const Uncertain &value : values)
      numbers.push_back(kept.computed(value));
    return numbers;
  };
  const std::vector<Uncertain> h = uncertain(in.h), dh = uncertain(in.dh), dc = uncertain(in.dc);
  const CellGradients<Uncertain> made =
      cellGradients<Uncertain>(rnn, s,
                               {.gates = in.gates,
                                .c = in.c,
                                .cBefore = in.cBefore,
                                .hiddenSums = in.hiddenSums,
                                .peephole = in.peephole,
                                .attention = in.attention,
                                .h = h,
                                .dh = dh,
                                .dc = dc,
                                .throughOutputGate = [&](const std::vector<Uncertain> &d) {
                                  return uncertain(in.throughOutputGate(drawn(d)));
                                }});
  return {drawn(made.layer),    drawn(made.iter),        drawn(made.dhBefore),
          drawn(made.dcBefore), drawn(made.resetStates), kept.computed(made.attention)};
}

template <typename Number> class BackwardRun {
public:
  BackwardRun(const PrimitiveDesc &desc, const BackwardArguments &arguments, const BackwardOptions<Number> &options)
      : rnn(std::get<Boxed<RnnDesc>>(desc.op)), s(Shape::of(rnn)), a(arguments), options(options),
        kept(rnn.srcLayer.dataType, roundsOperands(desc), options.draw, options.isAwayFrom0),
        layerWeights(read(arguments.weightsLayer)), iterWeights(read(arguments.weightsIter)),
        projectionWeights(read(arguments.weightsProjection)), gateChannels(static_cast<size_t>(s.gates * s.dhc)) {}

  RnnGradients<Number> run() {
    start();
    remakeStates();
    std::vector<Number> diffDst = diffDstOfTop();
    for (int64_t layer = s.layers - 1; layer >= 0; --layer) {
      std::vector<Number> diffX(static_cast<size_t>(s.directions) * rows() * static_cast<size_t>(s.slc));
      for (int64_t direction = 0; direction < s.directions; ++direction) {
        for (int64_t n = 0; n < s.batch; ++n)
          runSequence(layer, direction, n, diffDst, diffX);
        addStepsMade();
      }
      diffDst = layer > 0 ? diffDstBelow(diffX) : std::vector<Number>();
      if (layer == 0)
        sumDirections(diffX);
    }
    return std::move(out);
  }

private:
  size_t rows() const { return static_cast<size_t>(s.steps * s.batch); }
  bool isReversed(int64_t direction) const { return direction == 1 || rnn.direction == RnnDirection::Right2Left; }
  size_t stack(int64_t layer, int64_t direction) const { return static_cast<size_t>(layer * s.directions + direction); }
  /// Returns the row of a step in tensors [L, D, T, N, …]; stateRowOf() returns the row in tensors [L, D, N, …].
  size_t rowOf(const RunPlace &at) const {
    return (stack(at.layer, at.direction) * static_cast<size_t>(s.steps) + static_cast<size_t>(at.t)) *
               static_cast<size_t>(s.batch) +
           static_cast<size_t>(at.n);
  }
  size_t stateRowOf(const RunPlace &at) const {
    return stack(at.layer, at.direction) * static_cast<size_t>(s.batch) + static_cast<size_t>(at.n);
  }
  template <typename T> static std::span<const T> part(const std::vector<T> &values, size_t row, int64_t length) {
    return values.empty() ? std::span<const T>()
                          : std::span(values).subspan(row * static_cast<size_t>(length), static_cast<size_t>(length));
  }
  /// Returns step number `step`, counted in the order of forward.
  RunPlace placeOf(int64_t layer, int64_t direction, int64_t n, int64_t step) const {
    const int64_t length = a.lengths[static_cast<size_t>(n)];
    return {layer, direction, isReversed(direction) ? length - 1 - step : step, n, 0};
  }
  std::span<const double> cellsBefore(const RunPlace &at) const {
    const int64_t length = a.lengths[static_cast<size_t>(at.n)],
                  step = isReversed(at.direction) ? length - 1 - at.t : at.t;
    return step > 0 ? part(a.cells, rowOf(placeOf(at.layer, at.direction, at.n, step - 1)), s.dhc)
                    : part(a.srcIterC, stateRowOf(at), s.dhc);
  }
  double attentionAt(const RunPlace &at) const {
    return a.attention.empty() ? 0 : a.attention[static_cast<size_t>(at.t * s.batch + at.n)];
  }

  std::vector<Number> read(const std::vector<double> &weights) const {
    std::vector<Number> factors;
    factors.reserve(weights.size());
    for (double weight : weights)
      factors.push_back(kept.operand(Number(weight)));
    return factors;
  }
  void start();
  void remakeStates();
  std::vector<Number> diffDstOfTop() const;
  std::vector<Number> diffDstBelow(const std::vector<Number> &diffX) const;
  void sumDirections(const std::vector<Number> &diffX);
  std::vector<Number> stateBefore(const RunPlace &at, int64_t step) const;
  std::vector<Number> inputOf(const RunPlace &at) const;
  void runSequence(int64_t layer, int64_t direction, int64_t n, const std::vector<Number> &diffDst,
                   std::vector<Number> &diffX);
  CellGradients<Number> gradientsOf(const RunPlace &at, std::span<const Number> h, std::span<const Number> dh,
                                    std::span<const Number> dc) const;
  /// Returns, for each of the `rows` rows of this layer's and direction's weights, the sum of products with the
  /// gradients `first` to `end` of its columns.
  std::vector<Number> through(const std::vector<Number> &weights, const RunPlace &at, int64_t rows,
                              const std::vector<Number> &d, size_t first, size_t end) const;
  /// Adds the outer product of x and columns [first, end) of the gradients `d` to the weight gradients `to`.
  void addProducts(std::vector<Number> &to, const RunPlace &at, std::span<const Number> x, const std::vector<Number> &d,
                   size_t first, size_t end) const;
  void addGradients(BackwardStep<Number> &step);
  void addPeepholes(const BackwardStep<Number> &step);
  void addStepsMade();

  const RnnDesc &rnn;
  const Shape s;
  const BackwardArguments &a;
  const BackwardOptions<Number> &options;
  const Kept<Number> kept;
  const std::vector<Number> layerWeights, iterWeights, projectionWeights; ///< as products read them
  const size_t gateChannels;
  std::vector<Number> states, unprojected;     ///< stored values, [L, D, T, N, …]
  std::vector<BackwardStep<Number>> stepsMade; ///< steps of a layer and direction
  RnnGradients<Number> out;
};

template <typename Number> void BackwardRun<Number>::start() {
  auto from = [](const std::vector<double> &old, int64_t count) {
    std::vector<Number> values(static_cast<size_t>(count));
    for (size_t i = 0; i < old.size(); ++i)
      values[i] = Number(old[i]);
    return values;
  };
  const int64_t stacks = s.layers * s.directions;
  out.srcLayer = from({}, s.steps * s.batch * s.slc);
  out.srcIter = from({}, stacks * s.batch * s.sic);
  out.srcIterC = from({}, stacks * s.batch * s.dhc);
  out.attention = from({}, s.steps * s.batch);
  out.weightsLayer = from(a.old.weightsLayer, stacks * s.slc * s.gates * s.dhc);
  out.weightsIter = from(a.old.weightsIter, stacks * s.sic * s.gates * s.dhc);
  out.weightsPeephole = from(a.old.weightsPeephole, stacks * 3 * s.dhc);
  out.weightsProjection = from(a.old.weightsProjection, stacks * s.dhc * s.dic);
  out.bias = from(a.old.bias, stacks * s.biasGates * s.dhc);
}

template <typename Number> void BackwardRun<Number>::remakeStates() {
  const bool isProjected = !a.weightsProjection.empty();
  const size_t steps = static_cast<size_t>(s.layers * s.directions) * rows();
  states.resize(steps * static_cast<size_t>(s.dic));
  unprojected.resize(isProjected ? steps * static_cast<size_t>(s.dhc) : 0);
  for (int64_t layer = 0; layer < s.layers; ++layer)
    for (int64_t direction = 0; direction < s.directions; ++direction)
      for (int64_t n = 0; n < s.batch; ++n)
        for (int64_t step = 0; step < a.lengths[static_cast<size_t>(n)]; ++step) {
          const RunPlace at = placeOf(layer, direction, n, step);
          const size_t row = rowOf(at);
          const std::vector<Number> before = stateBefore(at, step);
          using Made = std::conditional_t<std::is_same_v<Number, double>, Uncertain, Number>; // draws pick one value
          const std::vector<Made> h =
              remadeState<Made>(rnn, s, part(a.gates, row, s.gates * s.dhc), part(a.cells, row, s.dhc), attentionAt(at),
                                std::vector<Made>(before.begin(), before.end()));
          std::vector<Number> &to = isProjected ? unprojected : states;
          for (size_t o = 0; o < h.size(); ++o)
            to[row * h.size() + o] = kept.state(h[o]);
          for (size_t o = 0; isProjected && o < static_cast<size_t>(s.dic); ++o)
            states[row * static_cast<size_t>(s.dic) + o] = Number(a.states[row * static_cast<size_t>(s.dic) + o]);
        }
}

/// Returns [D, T, N, DIC] from the gradient of dst_layer.
template <typename Number> std::vector<Number> BackwardRun<Number>::diffDstOfTop() const {
  const bool isConcatenated = rnn.direction == RnnDirection::BidirectionalConcat;
  const auto width = static_cast<size_t>(s.dic), all = static_cast<size_t>(s.dlc(rnn));
  std::vector<Number> diffDst(static_cast<size_t>(s.directions) * rows() * width);
  for (size_t i = 0; i < diffDst.size(); ++i) {
    const size_t direction = i / width / rows(), row = i / width % rows();
    diffDst[i] = Number(a.diffDstLayer[row * all + (isConcatenated ? direction * width : 0) + i % width]);
  }
  return diffDst;
}

/// Returns [D, T, N, DIC] from the gradients of the inputs of the layer above, each direction's own or the sum of both.
template <typename Number>
std::vector<Number> BackwardRun<Number>::diffDstBelow(const std::vector<Number> &diffX) const {
  const auto width = static_cast<size_t>(s.dic), read = static_cast<size_t>(s.slc);
  const bool readsBoth = (rnn.flags & RnnStackConcatenated) != 0;
  std::vector<Number> diffDst(static_cast<size_t>(s.directions) * rows() * width);
  for (size_t i = 0; i < diffDst.size(); ++i) {
    const size_t direction = i / width / rows(), row = i / width % rows(), channel = i % width;
    if (!readsBoth) {
      diffDst[i] = diffX[i];
      continue;
    }
    for (size_t reader = 0; reader < static_cast<size_t>(s.directions); ++reader)
      diffDst[i] += diffX[(reader * rows() + row) * read + direction * width + channel];
  }
  return diffDst;
}

template <typename Number> void BackwardRun<Number>::sumDirections(const std::vector<Number> &diffX) {
  for (size_t i = 0; i < diffX.size(); ++i)
    out.srcLayer[i % out.srcLayer.size()] += diffX[i];
}

/// Returns the h that a step reads.
template <typename Number>
std::vector<Number> BackwardRun<Number>::stateBefore(const RunPlace &at, int64_t step) const {
  std::vector<Number> h;
  if (step > 0) {
    const auto before = part(states, rowOf(placeOf(at.layer, at.direction, at.n, step - 1)), s.dic);
    h.assign(before.begin(), before.end());
  } else {
    for (double given : part(a.srcIter, stateRowOf(at), s.sic))
      h.push_back(Number(given));
  }
  return h;
}

/// Returns the x that a step reads.
template <typename Number> std::vector<Number> BackwardRun<Number>::inputOf(const RunPlace &at) const {
  std::vector<Number> x;
  if (at.layer == 0) {
    for (double given : part(a.srcLayer, static_cast<size_t>(at.t * s.batch + at.n), s.slc))
      x.push_back(Number(given));
    return x;
  }
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    if (!(rnn.flags & RnnStackConcatenated) && direction != at.direction)
      continue;
    const auto below = part(states, rowOf({at.layer - 1, direction, at.t, at.n, 0}), s.dic);
    x.insert(x.end(), below.begin(), below.end());
  }
  return x;
}

template <typename Number>
std::vector<Number> BackwardRun<Number>::through(const std::vector<Number> &weights, const RunPlace &at, int64_t rows,
                                                 const std::vector<Number> &d, size_t first, size_t end) const {
  const Number *matrix = weights.data() + stack(at.layer, at.direction) * static_cast<size_t>(rows) * d.size();
  std::vector<Number> factors(d), sums(static_cast<size_t>(rows));
  for (Number &factor : factors)
    factor = kept.gradient(factor);
  for (size_t i = 0; i < sums.size(); ++i) {
    Sum<Number> sum;
    for (size_t column = first; column < end; ++column)
      sum.add(matrix[i * d.size() + column], factors[column]);
    sums[i] = sum.rounded(kept);
  }
  return sums;
}

template <typename Number>
void BackwardRun<Number>::addProducts(std::vector<Number> &to, const RunPlace &at, std::span<const Number> x,
                                      const std::vector<Number> &d, size_t first, size_t end) const {
  Number *matrix = to.data() + stack(at.layer, at.direction) * x.size() * d.size();
  std::vector<Number> factors(d);
  for (Number &factor : factors)
    factor = kept.gradient(factor);
  for (size_t i = 0; i < x.size(); ++i) {
    const Number factor = kept.operand(x[i]);
    for (size_t column = first; column < end; ++column)
      kept.add(matrix[i * d.size() + column], factor * factors[column]);
  }
}

template <typename Number>
CellGradients<Number> BackwardRun<Number>::gradientsOf(const RunPlace &at, std::span<const Number> h,
                                                       std::span<const Number> dh, std::span<const Number> dc) const {
  const size_t row = rowOf(at);
  CellGradientInputs<Number> in{.gates = part(a.gates, row, s.gates * s.dhc),
                                .c = part(a.cells, row, s.dhc),
                                .cBefore = cellsBefore(at),
                                .hiddenSums = part(a.hiddenSums, row, s.dhc),
                                .peephole = part(a.weightsPeephole, stack(at.layer, at.direction), 3 * s.dhc),
                                .attention = attentionAt(at),
                                .h = h,
                                .dh = dh,
                                .dc = dc,
                                .throughOutputGate = {}};
  in.throughOutputGate = [&](const std::vector<Number> &dOutput) {
    std::vector<Number> d(gateChannels - dOutput.size());
    d.insert(d.end(), dOutput.begin(), dOutput.end());
    return through(iterWeights, at, s.sic, d, gateChannels - dOutput.size(), gateChannels);
  };
  if constexpr (std::is_same_v<Number, double>)
    return drawnGradients(rnn, s, in, kept);
  else
    return cellGradients(rnn, s, in);
}

template <typename Number> void BackwardRun<Number>::addPeepholes(const BackwardStep<Number> &step) {
  const auto c = part(a.cells, rowOf(step.at), s.dhc), cBefore = cellsBefore(step.at);
  const auto channels = static_cast<size_t>(s.dhc);
  const size_t first = stack(step.at.layer, step.at.direction) * 3 * channels;
  for (size_t o = 0; o < channels; ++o)
    for (size_t p = 0; p < 3; ++p) { // i, f, o among i, f, c~, o
      const Number d = kept.gradient(step.gradients.layer[(p == 2 ? 3 : p) * channels + o]);
      kept.add(out.weightsPeephole[first + p * channels + o], d * Number(p == 2 ? c[o] : cBefore[o]));
    }
}

/// Adds all steps and sequences of a layer and direction, from the first step on, because the rounding of sums depends
/// on their order.
template <typename Number> void BackwardRun<Number>::addStepsMade() {
  std::ranges::sort(stepsMade, {}, [](const BackwardStep<Number> &step) { return std::pair(step.at.t, step.at.n); });
  for (BackwardStep<Number> &step : stepsMade) {
    addGradients(step);
    if (!a.weightsProjection.empty()) // dR += (o tanh c')ᵀ dh
      addProducts(out.weightsProjection, step.at, part(unprojected, rowOf(step.at), s.dhc), step.dh, 0, step.dh.size());
    if (!a.weightsPeephole.empty())
      addPeepholes(step);
  }
  stepsMade.clear();
}

/// Adds one step to the gradients of weights and bias.
template <typename Number> void BackwardRun<Number>::addGradients(BackwardStep<Number> &step) {
  const size_t output = gateChannels - static_cast<size_t>(s.dhc); // start of the last gate
  const CellGradients<Number> &d = step.gradients;
  addProducts(out.weightsLayer, step.at, inputOf(step.at), d.layer, 0, gateChannels);
  std::vector<Number> reset = d.resetStates;
  for (Number &h : reset)
    h = kept.state(h);
  addProducts(out.weightsIter, step.at, step.h, d.iter, 0, reset.empty() ? gateChannels : output);
  if (!reset.empty())
    addProducts(out.weightsIter, step.at, std::span<const Number>(reset), d.iter, output, gateChannels);
  const auto biases = static_cast<size_t>(s.biasGates * s.dhc);
  Number *bias = out.bias.data() + stack(step.at.layer, step.at.direction) * biases;
  for (size_t i = 0; i < biases; ++i) // linear before reset has a last bias for the hidden sum
    kept.add(bias[i], kept.gradient(i < gateChannels ? d.layer[i] : d.iter[i - static_cast<size_t>(s.dhc)]));
}

template <typename Number>
void BackwardRun<Number>::runSequence(int64_t layer, int64_t direction, int64_t n, const std::vector<Number> &diffDst,
                                      std::vector<Number> &diffX) {
  const int64_t length = a.lengths[static_cast<size_t>(n)];
  const RunPlace ends{layer, direction, 0, n, 0};
  std::vector<Number> dhBehind, dc;
  for (double given : part(a.diffDstIter, stateRowOf(ends), s.dic))
    dhBehind.push_back(Number(given));
  for (double given : part(a.diffDstIterC, stateRowOf(ends), s.dhc))
    dc.push_back(Number(given));
  if (length == 0 && s.sic != s.dic) // the final state does not depend on the initial one
    dhBehind.assign(static_cast<size_t>(s.sic), Number(0));
  for (int64_t step = length - 1; step >= 0; --step) {
    const RunPlace at = placeOf(layer, direction, n, step);
    const size_t rowInLayer = static_cast<size_t>((direction * s.steps + at.t) * s.batch + at.n);
    std::vector<Number> dh(static_cast<size_t>(s.dic));
    for (size_t o = 0; o < dh.size(); ++o)
      dh[o] = diffDst[rowInLayer * dh.size() + o] + dhBehind[o];
    const std::vector<Number> ofCell = // gradient of o tanh c' if there is a projection
        a.weightsProjection.empty() ? dh : through(projectionWeights, at, s.dhc, dh, 0, dh.size());
    BackwardStep<Number> made{at, step == length - 1, stateBefore(at, step), {}, dh};
    made.gradients = gradientsOf(at, made.h, ofCell, dc);
    if (options.changed)
      options.changed(made);
    CellGradients<Number> &d = made.gradients;
    const std::vector<Number> x = through(layerWeights, at, s.slc, d.layer, 0, gateChannels);
    std::copy(x.begin(), x.end(), diffX.begin() + static_cast<std::ptrdiff_t>(rowInLayer * x.size()));
    dhBehind = through(iterWeights, at, s.sic, d.iter, 0,
                       d.resetStates.empty() ? gateChannels : gateChannels - static_cast<size_t>(s.dhc));
    for (size_t i = 0; isGru(rnn) && i < dhBehind.size(); ++i)
      dhBehind[i] += d.dhBefore[i];
    dc = d.dcBefore;
    if (hasAttention(rnn))
      out.attention[static_cast<size_t>(at.t * s.batch + at.n)] = d.attention;
    stepsMade.push_back(std::move(made));
  }
  const size_t state = stateRowOf(ends);
  std::copy(dhBehind.begin(), dhBehind.end(),
            out.srcIter.begin() + static_cast<std::ptrdiff_t>(state * static_cast<size_t>(s.sic)));
  std::copy(dc.begin(), dc.end(),
            out.srcIterC.begin() + static_cast<std::ptrdiff_t>(state * static_cast<size_t>(s.dhc)));
}

} // namespace

bool roundsOperands(const PrimitiveDesc &desc) {
  const FpmathMode mode = desc.attr.fpmathMode;
  return std::get<Boxed<RnnDesc>>(desc.op)->srcLayer.dataType == DataType::F32 &&
         (mode == FpmathMode::BF16 || mode == FpmathMode::Any);
}

template <typename Number>
RnnGradients<Number> computeGradients(const PrimitiveDesc &desc, const BackwardArguments &arguments,
                                      const BackwardOptions<Number> &options) {
  return BackwardRun<Number>(desc, arguments, options).run();
}

template RnnGradients<Uncertain> computeGradients(const PrimitiveDesc &, const BackwardArguments &,
                                                  const BackwardOptions<Uncertain> &);
template RnnGradients<float> computeGradients(const PrimitiveDesc &, const BackwardArguments &,
                                              const BackwardOptions<float> &);
template RnnGradients<double> computeGradients(const PrimitiveDesc &, const BackwardArguments &,
                                               const BackwardOptions<double> &);

} // namespace quern::rnn
