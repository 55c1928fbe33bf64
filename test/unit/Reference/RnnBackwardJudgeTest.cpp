//===- RnnBackwardJudgeTest.cpp - The judge detects wrong gradients -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests gradients of a plain f32 kernel, which rounds factors of products to bf16 if kernels may: they must be judged
// right. Gradients of kernels with a fault must be judged wrong in every problem. Problems and data are those that the
// conformance program draws.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "ProblemData.h"
#include "Reference/Elements.h"
#include "Reference/Judge.h"
#include "Reference/Rnn/Backward.h"
#include "Rnn/Cells.h"
#include "Rnn/Generator.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace quern;
using namespace quern::rnn;

namespace {

enum class Mutant {
  None,
  NoLastGate,
  NoBiasOfOneGate,
  NoPeepholes,
  NoLastStep,
  StateBehind,
  NotAdded,
  LengthsIgnored,
  TenthLarger
};
constexpr Mutant mutants[] = {Mutant::NoLastGate,     Mutant::NoBiasOfOneGate, Mutant::NoPeepholes,
                              Mutant::NoLastStep,     Mutant::StateBehind,     Mutant::NotAdded,
                              Mutant::LengthsIgnored, Mutant::TenthLarger};
constexpr const char *namesOfMutants[] = {"nothing",
                                          "the gradient of the last gate left out",
                                          "the bias of one gate left out",
                                          "peepholes left out",
                                          "the last step left out",
                                          "weights_iter from the state behind each step",
                                          "what gradients are added to left out",
                                          "gradients that reach the state behind an end left out",
                                          "results a tenth too large"};

class Drawn {
public:
  Drawn(uint64_t seed, int64_t number)
      : Drawn(cases::rnn::drawCase(seed, number, Target{CpuIsa::Avx512Bf16}, cases::rnn::Pass::Backward)) {}
  explicit Drawn(Case of) : drawn(std::move(of)) {
    const std::string text = drawn.desc.text(); // sizes may be open
    Result<ParsedProblem> read =
        readProblem(drawn.sizes.empty() ? text : *withSizes(text, drawn.sizes), Target{CpuIsa::Avx512Bf16});
    EXPECT_TRUE(read) << read.error().message;
    problem = std::move(*read);
    data = *ProblemData::create(problem, drawn.data);
    EXPECT_TRUE(data->computeExpected());
    ReferenceInputs inputs;
    for (const auto &[argument, address] : data->addresses())
      inputs[argument] = address;
    arguments = *BackwardArguments::read(problem.desc(), inputs);
  }

  const RnnDesc &rnn() const { return std::get<Boxed<RnnDesc>>(problem.desc().op); }
  const PrimitiveDesc &desc() const { return problem.desc(); }
  bool isSpecial() const { return drawn.data.fill == FillKind::Special; }
  bool isNoop() const { return problem.verified.isNoop; }

  /// Returns true if a kernel with this fault computes another result for all data.
  bool appliesTo(Mutant mutant) const {
    const int64_t longest = *std::max_element(arguments.lengths.begin(), arguments.lengths.end()),
                  shortest = *std::min_element(arguments.lengths.begin(), arguments.lengths.end());
    const bool isDead = rnn().activation == Alg::EltwiseRelu && rnn().alpha == 0; // most gradients may be 0
    const bool seesSums = !rnn().diffSrcLayer.isZero() || !rnn().diffWeightsLayer.isZero() || !rnn().diffBias.isZero();
    switch (mutant) {
    case Mutant::NoLastGate:
      return seesSums && !isDead;
    case Mutant::NoBiasOfOneGate:
      return !rnn().diffBias.isZero() && !isDead;
    case Mutant::NoPeepholes:
      return !rnn().weightsPeephole.isZero() && seesSums;
    case Mutant::NoLastStep:
      return !rnn().diffSrcLayer.isZero() && !isDead;
    case Mutant::StateBehind:
      return !rnn().diffWeightsIter.isZero() && longest > 1 && !isDead;
    case Mutant::NotAdded:
      return !(rnn().flags & RnnDiffWeightsOverwrite) &&
             (!rnn().diffWeightsLayer.isZero() || !rnn().diffWeightsIter.isZero() || !rnn().diffBias.isZero());
    case Mutant::LengthsIgnored:
      return shortest == 0 && !rnn().diffSrcIter.isZero() && !rnn().diffDstIter.isZero() &&
             rnn().srcIter.dims[3] == rnn().dstIter.dims[3];
    default:
      return seesSums && !isDead;
    }
  }

  /// Writes the gradients of a kernel with this fault to the outputs.
  void compute(Mutant mutant) {
    BackwardArguments changed = arguments;
    if (mutant == Mutant::NoPeepholes)
      std::fill(changed.weightsPeephole.begin(), changed.weightsPeephole.end(), 0);
    if (mutant == Mutant::NotAdded)
      changed.old = {};
    if (mutant == Mutant::LengthsIgnored)
      std::fill(changed.diffDstIter.begin(), changed.diffDstIter.end(), 0);
    std::vector<float> previousState; // state that the step that was processed before has read
    const BackwardOptions<float> options{[&](BackwardStep<float> &step) {
      const auto channels = static_cast<std::ptrdiff_t>(rnn().weightsLayer.dims[4]);
      CellGradients<float> &d = step.gradients;
      if (mutant == Mutant::NoLastGate)
        for (std::vector<float> *of : {&d.layer, &d.iter})
          std::fill(of->end() - channels, of->end(), 0.0f);
      if (mutant == Mutant::NoLastStep && step.isLast)
        for (std::vector<float> *of : {&d.layer, &d.iter})
          std::fill(of->begin(), of->end(), 0.0f);
      const std::vector<float> read = step.h;
      if (mutant == Mutant::StateBehind && !step.isLast)
        step.h = previousState;
      previousState = read;
    }};
    RnnGradients<float> gradients = computeGradients<float>(desc(), changed, options);
    if (mutant == Mutant::NoBiasOfOneGate)
      for (size_t i = 0, channels = static_cast<size_t>(rnn().bias.dims[3]); i < channels; ++i)
        gradients.bias[i] = arguments.old.bias.empty() ? 0 : static_cast<float>(arguments.old.bias[i]);
    for (const auto &tensor : gradientValues<float>(rnn())) {
      if (tensor.desc.isZero())
        continue;
      std::vector<double> values((gradients.*tensor.values).begin(), (gradients.*tensor.values).end());
      for (double &value : values)
        value *= mutant == Mutant::TenthLarger ? 1.1 : 1;
      scatter(tensor.desc, data->buffer(tensor.argument), values);
    }
  }

  Verdict judged() const { return data->judgeOutputs(); }

  std::string line() const {
    return problem.text + " --data=" + std::string(nameOf(drawn.data.fill)) +
           " --seed=" + std::to_string(drawn.data.seed);
  }

private:
  Case drawn;
  ParsedProblem problem;
  std::optional<ProblemData> data;
  BackwardArguments arguments;
};

} // namespace

TEST(RnnBackwardJudge, DistinguishesCorrectAndWrongKernels) {
  constexpr uint64_t seeds[] = {1, 2, 3};
  constexpr int64_t count = 150;
  std::map<Mutant, int64_t> applied, missed;
  std::map<Mutant, std::string> lines; // lines of the missed mutants
  std::map<std::string, double> worst;
  for (uint64_t seed : seeds)
    for (int64_t number = 0; number < count; ++number) {
      Drawn drawn(seed, number);
      if (drawn.isNoop())
        continue;
      drawn.compute(Mutant::None);
      const Verdict right = drawn.judged();
      EXPECT_TRUE(right.isRight) << drawn.line() << '\n'
                                 << right.worst << ": got " << right.got << ", expected " << right.expected;
      const FpmathMode mode = drawn.desc().attr.fpmathMode;
      const bool mayRound = mode == FpmathMode::BF16 || mode == FpmathMode::Any;
      double &max = worst[std::string(nameOf(drawn.rnn().srcLayer.dataType)) + (mayRound ? " fpmath" : "")];
      max = std::max(max, right.worst);
      for (Mutant mutant : mutants) {
        if (drawn.isSpecial() || !drawn.appliesTo(mutant))
          continue;
        ++applied[mutant];
        drawn.compute(mutant);
        if (!drawn.judged().isRight)
          continue;
        ++missed[mutant];
        lines[mutant] += drawn.line() + '\n';
      }
    }
  for (const auto &[type, error] : worst) // by type
    RecordProperty(type, std::to_string(error));
  for (Mutant mutant : mutants) {
    RecordProperty(namesOfMutants[static_cast<size_t>(mutant)], std::to_string(applied[mutant]));
    EXPECT_EQ(missed[mutant], 0) << namesOfMutants[static_cast<size_t>(mutant)] << '\n' << lines[mutant];
    EXPECT_GT(applied[mutant],
              mutant == Mutant::LengthsIgnored ? 2 : count * static_cast<int64_t>(std::size(seeds)) / 20)
        << namesOfMutants[static_cast<size_t>(mutant)];
  }
}

TEST(RnnBackwardJudge, DistinguishesThemAfter1000Steps) {
  // Inputs are equal in many steps, so that gradients are rounded in the same direction in each.
  const char *text = "rnn bwd cell=lstm direction=left2right src_layer=f32:1000x1x6:abc "
                     "weights_layer=f32:1x1x6x4x6:abcde weights_iter=f32:1x1x6x4x6:abcde "
                     "weights_peephole=f32:1x1x3x6:abcd bias=f32:1x1x4x6:abcd dst_layer=f32:1000x1x6:abc "
                     "diff_src_layer=f32:1000x1x6:abc diff_weights_layer=f32:1x1x6x4x6:abcde "
                     "diff_weights_iter=f32:1x1x6x4x6:abcde diff_weights_peephole=f32:1x1x3x6:abcd "
                     "diff_bias=f32:1x1x4x6:abcd diff_dst_layer=f32:1000x1x6:abc";
  for (uint64_t seed : {4, 11, 12}) {
    Case given{.desc = readProblem(text, Target{CpuIsa::Avx512Bf16})->desc(), .sizes = {}};
    given.data = {.fill = FillKind::Designed, .seed = seed};
    Drawn drawn(std::move(given));
    drawn.compute(Mutant::None);
    EXPECT_TRUE(drawn.judged().isRight) << drawn.line();
    for (Mutant mutant : mutants) {
      if (!drawn.appliesTo(mutant))
        continue;
      drawn.compute(mutant);
      EXPECT_FALSE(drawn.judged().isRight) << namesOfMutants[static_cast<size_t>(mutant)] << '\n' << drawn.line();
    }
  }
}
