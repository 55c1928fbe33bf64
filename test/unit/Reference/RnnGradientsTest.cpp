//===- RnnGradientsTest.cpp - Gradients against differences of forward ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests two oracles that share no equation against each other: the reference of backward, and central differences of
// the reference of forward. All types are f64, which only references support, so that nothing is rounded between steps.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Reference/Rnn/Backward.h"
#include "Reference/Rnn/Run.h"
#include "Reference/TestData/TestData.h"

#include <gtest/gtest.h>

using namespace quern;
using namespace quern::rnn;

namespace {

/// L, D, T, N and channels are small, because each element of each input is varied four times.
struct GradientProblem {
  std::string cell;
  std::string direction;
  int64_t layers = 1, steps = 3, batch = 2, slc = 3, sic = 2, dhc = 2, dic = 2;
  bool hasPeephole = false, hasProjection = false, hasStates = true, hasBias = true;
  std::vector<int32_t> lengths = {};
  unsigned flags = 0;

  bool isLstm() const { return cell.starts_with("lstm"); }
  bool hasAttention() const { return cell.find("augru") != std::string::npos; }
  int64_t directions() const { return direction.starts_with("bidirectional") ? 2 : 1; }
  int64_t gates() const { return isLstm() ? 4 : cell.starts_with("rnn") ? 1 : 3; }
  int64_t biasGates() const { return gates() + cell.starts_with("lbr"); }
  int64_t dlc() const { return direction == "bidirectional_concat" ? 2 * dic : dic; }
};

TensorDesc tensor(std::initializer_list<int64_t> dims, DataType type = DataType::F64) {
  return *TensorDesc::dense(std::vector<int64_t>(dims), type);
}

PrimitiveDesc descOf(const GradientProblem &p) {
  const int64_t l = p.layers, d = p.directions(), n = p.batch;
  Result<PrimitiveDesc> parsed =
      PrimitiveDesc::parse(concat("rnn fwd_t cell=", p.cell, " direction=", p.direction, " flags=", p.flags));
  EXPECT_TRUE(parsed) << parsed.error().message;
  PrimitiveDesc desc = *parsed;
  RnnDesc &rnn = *std::get<Boxed<RnnDesc>>(desc.op);
  rnn.srcLayer = tensor({p.steps, n, p.slc});
  rnn.weightsLayer = tensor({l, d, p.slc, p.gates(), p.dhc});
  rnn.weightsIter = tensor({l, d, p.sic, p.gates(), p.dhc});
  rnn.dstLayer = tensor({p.steps, n, p.dlc()});
  if (p.hasStates) {
    rnn.srcIter = tensor({l, d, n, p.sic}), rnn.dstIter = tensor({l, d, n, p.dic});
    if (p.isLstm())
      rnn.srcIterC = rnn.dstIterC = tensor({l, d, n, p.dhc});
  }
  if (p.hasBias)
    rnn.bias = tensor({l, d, p.biasGates(), p.dhc});
  if (p.hasPeephole)
    rnn.weightsPeephole = tensor({l, d, 3, p.dhc});
  if (p.hasProjection)
    rnn.weightsProjection = tensor({l, d, p.dhc, p.dic});
  if (p.hasAttention())
    rnn.attention = tensor({p.steps, n, 1});
  if (!p.lengths.empty())
    rnn.seqLengths = tensor({n}, DataType::S32);
  return desc;
}

struct Input {
  int32_t argument;
  const TensorDesc &desc;
  std::vector<Uncertain> RnnGradients<Uncertain>::*gradient;
  std::vector<double> BackwardArguments::*asRead;
};

class Gradients : public testing::TestWithParam<GradientProblem> {
protected:
  Gradients() : desc(descOf(GetParam())), rnn(std::get<Boxed<RnnDesc>>(desc.op)) {
    using Of = RnnGradients<Uncertain>;
    using Read = BackwardArguments;
    for (const Input &input :
         {Input{arg::src, rnn.srcLayer, &Of::srcLayer, &Read::srcLayer},
          Input{arg::src1, rnn.srcIter, &Of::srcIter, &Read::srcIter},
          Input{arg::src2, rnn.srcIterC, &Of::srcIterC, &Read::srcIterC},
          Input{arg::attention, rnn.attention, &Of::attention, &Read::attention},
          Input{arg::weights, rnn.weightsLayer, &Of::weightsLayer, &Read::weightsLayer},
          Input{arg::weights1, rnn.weightsIter, &Of::weightsIter, &Read::weightsIter},
          Input{arg::weights2, rnn.weightsPeephole, &Of::weightsPeephole, &Read::weightsPeephole},
          Input{arg::weights3, rnn.weightsProjection, &Of::weightsProjection, &Read::weightsProjection},
          Input{arg::bias, rnn.bias, &Of::bias, nullptr}})
      if (!input.desc.isZero()) {
        all.push_back(input);
        values[input.argument] = random(input.desc, input.argument);
      }
    diffDst = random(rnn.dstLayer, 145), diffDstIter = random(rnn.dstIter, 146),
    diffDstIterC = random(rnn.dstIterC, 147);
  }

  std::vector<double> random(const TensorDesc &tensor, int32_t argument) const {
    std::vector<double> numbers(tensor.isZero() ? 0 : static_cast<size_t>(tensor.elements()));
    if (!numbers.empty())
      fillInput(desc, argument, tensor, FillKind::Dense, 3, numbers.data());
    return numbers;
  }

  RunResults forward() const {
    ReferenceInputs inputs;
    for (const auto &[argument, numbers] : values)
      inputs[argument] = numbers.data();
    if (!GetParam().lengths.empty())
      inputs[arg::seqLengths] = GetParam().lengths.data();
    return Run::make(desc, inputs)->compute({.isStrict = true});
  }

  /// Returns the function whose gradients are computed.
  double loss() const {
    const RunResults results = forward();
    double sum = 0;
    auto add = [&sum](const std::vector<double> &result, const std::vector<double> &diff) {
      for (size_t i = 0; i < diff.size(); ++i)
        sum += result[i] * diff[i];
    };
    add(results.dstLayer.exact, diffDst), add(results.dstIter.exact, diffDstIter);
    add(results.dstIterC.exact, diffDstIterC);
    return sum;
  }

  BackwardArguments arguments() const {
    const GradientProblem &p = GetParam();
    BackwardArguments a;
    for (const Input &input : all)
      if (input.asRead)
        a.*input.asRead = values.at(input.argument);
    const auto states = static_cast<size_t>(p.layers * p.directions() * p.batch);
    a.srcIter.resize(states * static_cast<size_t>(p.sic)), a.srcIterC.resize(states * static_cast<size_t>(p.dhc));
    a.diffDstLayer = diffDst, a.diffDstIter = diffDstIter, a.diffDstIterC = diffDstIterC;
    a.diffDstIter.resize(states * static_cast<size_t>(p.dic)), a.diffDstIterC.resize(a.srcIterC.size());
    const RunResults results = forward();
    a.gates = results.gates.exact, a.cells = results.cells.exact, a.hiddenSums = results.hiddenSums.exact;
    a.states = p.hasProjection ? results.stored : std::vector<double>();
    a.lengths.assign(p.lengths.begin(), p.lengths.end());
    a.lengths.resize(static_cast<size_t>(p.batch), p.steps);
    return a;
  }

  PrimitiveDesc desc;
  const RnnDesc &rnn;
  std::vector<Input> all;
  std::map<int32_t, std::vector<double>> values;
  std::vector<double> diffDst, diffDstIter, diffDstIterC;
};

} // namespace

TEST_P(Gradients, AreDifferencesOfForward) {
  const RnnGradients<Uncertain> gradients = computeGradients<Uncertain>(desc, arguments());
  constexpr double step = 0x1p-10;
  for (const Input &input : all) {
    const std::vector<Uncertain> &analytic = gradients.*input.gradient;
    std::vector<double> &moved = values.at(input.argument);
    ASSERT_EQ(analytic.size(), moved.size()) << "argument " << input.argument;
    for (size_t i = 0; i < moved.size(); ++i) {
      const double middle = moved[i];
      auto at = [&](double off) {
        moved[i] = middle + off;
        return loss();
      };
      const double difference = (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step);
      moved[i] = middle;
      EXPECT_NEAR(analytic[i].value, difference, 1e-9 * (1 + std::fabs(difference)))
          << "argument " << input.argument << ", element " << i;
    }
  }
}

// Steps past the end of a sequence are ignored: neither their values nor their gradients are read.
TEST_P(Gradients, IgnoreStepsAfterTheEndOfASequence) {
  const GradientProblem &p = GetParam();
  if (p.lengths.empty())
    return;
  const RnnGradients<Uncertain> before = computeGradients<Uncertain>(desc, arguments());
  BackwardArguments a = arguments();
  const auto rows = static_cast<size_t>(p.steps * p.batch);
  for (std::vector<double> *of : {&a.srcLayer, &a.diffDstLayer, &a.gates, &a.cells, &a.hiddenSums, &a.states})
    for (size_t i = 0; i < of->size(); ++i) { // rows of T x N, for each layer and direction
      const size_t all =
          of == &a.srcLayer || of == &a.diffDstLayer ? rows : rows * static_cast<size_t>(p.layers * p.directions());
      const size_t row = i / (of->size() / all) % rows, t = row / static_cast<size_t>(p.batch);
      if (static_cast<int64_t>(t) >= a.lengths[row % static_cast<size_t>(p.batch)])
        (*of)[i] = NAN;
    }
  const RnnGradients<Uncertain> after = computeGradients<Uncertain>(desc, a);
  for (const Input &input : all)
    for (size_t i = 0; i < (before.*input.gradient).size(); ++i)
      EXPECT_EQ((before.*input.gradient)[i].value, (after.*input.gradient)[i].value) << "argument " << input.argument;
  for (size_t i = 0; i < before.srcLayer.size(); ++i) {
    const auto row = static_cast<int64_t>(i) / p.slc;
    if (row / p.batch >= a.lengths[static_cast<size_t>(row % p.batch)]) {
      EXPECT_EQ(before.srcLayer[i].value, 0);
    }
  }
}

static std::vector<GradientProblem> problems() {
  std::vector<GradientProblem> all;
  const std::string cells[] = {"rnn activation=tanh",
                               "rnn activation=logistic",
                               "rnn activation=relu alpha=0.25",
                               "rnn activation=relu alpha=-0.5", // no sum changes its sign in a difference
                               "lstm",
                               "gru",
                               "lbr_gru"};
  for (const std::string &cell : cells)
    for (const char *direction : {"left2right", "right2left", "bidirectional_concat", "bidirectional_sum"}) {
      all.push_back({cell, direction});
      all.push_back({.cell = cell, .direction = direction, .layers = 2, .slc = 2, .lengths = {2, 3}});
      all.push_back({.cell = cell, .direction = direction, .steps = 4, .batch = 3, .lengths = {0, 4, 1}});
      all.push_back({.cell = cell, .direction = direction, .hasStates = false, .hasBias = false});
      if (std::string_view(direction).starts_with("bidirectional"))
        all.push_back({.cell = cell,
                       .direction = direction,
                       .layers = 3,
                       .slc = 4,
                       .lengths = {3, 1},
                       .flags = RnnStackConcatenated});
    }
  for (const char *direction : {"left2right", "right2left", "bidirectional_concat", "bidirectional_sum"})
    for (int options : {1, 2, 3}) {
      const bool isProjected = (options & 2) != 0;
      GradientProblem p{.cell = "lstm",
                        .direction = direction,
                        .layers = 2,
                        .slc = 3,
                        .sic = 3,
                        .dhc = isProjected ? 4 : 3,
                        .dic = 3,
                        .hasPeephole = (options & 1) != 0,
                        .hasProjection = isProjected,
                        .lengths = {3, 2}};
      all.push_back(p);
      p.hasStates = false;
      all.push_back(p);
    }
  for (const char *cell : {"augru", "lbr_augru"})
    for (bool hasStates : {true, false}) {
      all.push_back({.cell = cell, .direction = "left2right", .hasStates = hasStates, .hasBias = hasStates});
      all.push_back({.cell = cell, .direction = "left2right", .steps = 4, .hasStates = hasStates, .lengths = {4, 2}});
    }
  // If there is one step, the states that it reads may have another width than those that it writes.
  for (const char *cell : {"rnn activation=tanh", "lstm"})
    all.push_back(
        {.cell = cell, .direction = "bidirectional_concat", .steps = 1, .batch = 3, .sic = 5, .lengths = {1, 0, 1}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Rnn, Gradients, testing::ValuesIn(problems()));
