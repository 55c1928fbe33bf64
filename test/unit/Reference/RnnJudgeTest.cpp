//===- RnnJudgeTest.cpp - The judge of RNNs detects wrong kernels ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that the exact results are judged right and the results of kernels with a fault wrong, in every problem and on
// the data that the conformance program draws.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "ProblemData.h"
#include "Reference/Elements.h"
#include "Reference/Judge.h"
#include "Reference/Rnn/Run.h"
#include "Rnn/Cells.h"
#include "Rnn/Generator.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace quern;

namespace {

enum class Mutant { None, TenthLarger, NoLastInput, NoRecurrence, NoPeepholes, HardSigmoid, SwappedGates, AllZero };
constexpr Mutant mutants[] = {Mutant::TenthLarger, Mutant::NoLastInput,  Mutant::NoRecurrence, Mutant::NoPeepholes,
                              Mutant::HardSigmoid, Mutant::SwappedGates, Mutant::AllZero};
constexpr const char *namesOfMutants[] = {"the exact results",
                                          "results a tenth too large",
                                          "the last input channel left out",
                                          "recurrent products left out",
                                          "peepholes left out",
                                          "a hard sigmoid",
                                          "two gates swapped",
                                          "zeros"};

double hardSigmoid(double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }

/// A drawn problem with its data and buffers for outputs.
class Drawn {
public:
  Drawn(uint64_t seed, int64_t number) {
    drawn = cases::rnn::drawCase(seed, number, Target{CpuIsa::Avx512Bf16});
    std::string text = drawn.desc.text();
    if (!drawn.sizes.empty())
      text = *withSizes(text, drawn.sizes);
    Result<ParsedProblem> read = readProblem(text, Target{CpuIsa::Avx512Bf16});
    EXPECT_TRUE(read) << read.error().message;
    problem = std::move(*read);
    data = *ProblemData::create(problem, drawn.data);
    EXPECT_TRUE(data->computeExpected());
  }

  const RnnDesc &rnn() const { return std::get<Boxed<RnnDesc>>(problem.desc().op); }
  bool has(int32_t argument) const { return data->descOf(argument) != nullptr; }

  /// Returns true if a kernel with this fault computes another result for all data.
  bool appliesTo(Mutant mutant) {
    if (problem.verified.isNoop)
      return false;
    switch (mutant) {
    case Mutant::NoPeepholes:
      return has(arg::weights2);
    case Mutant::NoRecurrence:
      return has(arg::src1) || rnn().srcLayer.dims[0] > 1;
    case Mutant::HardSigmoid:
      return rnn().cell != Alg::VanillaRnn || rnn().activation == Alg::EltwiseLogistic;
    case Mutant::SwappedGates:
      return rnn().cell != Alg::VanillaRnn;
    default:
      return true;
    }
  }

  /// Writes the results of a kernel with this fault to the outputs.
  void compute(Mutant mutant) {
    std::vector<std::vector<char>> changed;
    ReferenceInputs inputs;
    for (const auto &[argument, address] : data->addresses())
      inputs[argument] = address;
    change(mutant, inputs, changed);
    rnn::Run run = *rnn::Run::make(problem.desc(), inputs);
    rnn::RunResults results = run.compute({{}, mutant == Mutant::HardSigmoid ? hardSigmoid : nullptr});
    store(mutant, arg::dst, rnn().dstLayer, results.dstLayer.exact);
    if (!rnn().dstIter.isZero())
      store(mutant, arg::dst1, rnn().dstIter, results.dstIter.exact);
    if (!rnn().dstIterC.isZero())
      store(mutant, arg::dst2, rnn().dstIterC, results.dstIterC.exact);
  }

  bool isRight() {
    ReferenceInputs results;
    for (int32_t argument : {arg::dst, arg::dst1, arg::dst2})
      if (has(argument))
        results[argument] = data->buffer(argument);
    return std::all_of(data->expectedOutputs().begin(), data->expectedOutputs().end(),
                       [&](const ReferenceOutput &output) {
                         return output.argument == arg::workspace ||
                                judge(problem.desc(), output, results, judgedAs(drawn.data.fill)).isRight;
                       });
  }

  std::string line() const {
    return problem.text + " --data=" + std::string(nameOf(drawn.data.fill)) +
           " --seed=" + std::to_string(drawn.data.seed);
  }

private:
  void change(Mutant mutant, ReferenceInputs &inputs, std::vector<std::vector<char>> &changed) {
    auto edit = [&](int32_t argument, auto valueOf) {
      if (!has(argument))
        return;
      const TensorDesc &desc = *data->descOf(argument);
      std::vector<double> values = gather(desc, inputs[argument]), edited(values.size());
      for (size_t i = 0; i < values.size(); ++i)
        edited[i] = valueOf(desc, values, static_cast<int64_t>(i));
      const char *old = static_cast<const char *>(inputs[argument]);
      changed.emplace_back(old, old + desc.bytes());
      scatter(desc, changed.back().data(), edited);
      inputs[argument] = changed.back().data();
    };
    changed.reserve(4);
    if (mutant == Mutant::NoRecurrence)
      edit(arg::weights1, [](const auto &...) { return 0.0; });
    if (mutant == Mutant::NoPeepholes)
      edit(arg::weights2, [](const auto &...) { return 0.0; });
    if (mutant == Mutant::NoLastInput)
      edit(arg::weights, [](const TensorDesc &desc, const std::vector<double> &values, int64_t i) {
        bool isLast = i / (desc.dims[3] * desc.dims[4]) % desc.dims[2] == desc.dims[2] - 1;
        return isLast ? 0 : values[static_cast<size_t>(i)];
      });
    if (mutant == Mutant::SwappedGates)
      for (int32_t argument : {arg::weights, arg::weights1, arg::bias, arg::weights2})
        edit(argument, [](const TensorDesc &desc, const std::vector<double> &values, int64_t i) {
          int64_t channels = desc.dims[desc.ndims - 1], gate = i / channels % desc.dims[desc.ndims - 2];
          return values[static_cast<size_t>(gate == 0 ? i + channels : gate == 1 ? i - channels : i)];
        });
  }

  void store(Mutant mutant, int32_t argument, const TensorDesc &desc, std::vector<double> values) {
    double zero = isFloating(desc.dataType) ? 0 : static_cast<double>(problem.desc().attr.rnn.dataShift);
    for (double &value : values) {
      if (mutant == Mutant::TenthLarger)
        value = zero + 1.1 * (value - zero);
      if (mutant == Mutant::AllZero)
        value = 0;
    }
    scatter(desc, data->buffer(argument), values);
  }

  Case drawn;
  ParsedProblem problem;
  std::optional<ProblemData> data;
};

} // namespace

TEST(RnnJudge, SeesWrongKernels) {
  constexpr uint64_t seeds[] = {1, 2, 3};
  constexpr int64_t count = 150;
  std::map<Mutant, int64_t> applied;
  for (uint64_t seed : seeds)
    for (int64_t number = 0; number < count; ++number) {
      Drawn drawn(seed, number);
      drawn.compute(Mutant::None);
      EXPECT_TRUE(drawn.isRight()) << drawn.line();
      for (Mutant mutant : mutants) {
        if (!drawn.appliesTo(mutant))
          continue;
        ++applied[mutant];
        drawn.compute(mutant);
        EXPECT_FALSE(drawn.isRight()) << namesOfMutants[static_cast<size_t>(mutant)] << ", problem " << number
                                      << " of seed " << seed << '\n'
                                      << drawn.line();
      }
    }
  for (Mutant mutant : mutants)
    EXPECT_GT(applied[mutant], count * static_cast<int64_t>(std::size(seeds)) / 10)
        << namesOfMutants[static_cast<size_t>(mutant)];
}
