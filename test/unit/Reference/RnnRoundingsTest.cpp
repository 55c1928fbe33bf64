//===- RnnRoundingsTest.cpp - Roundings that led to a result --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests stacks of integers in which one rounding in the other direction changes most later numbers. If only numbers
// near the midpoint of two values are rounded the other way, the results are right; if any other number is, they are
// wrong.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "ProblemData.h"
#include "Reference/Elements.h"
#include "Reference/Judge.h"
#include "Reference/Rnn/Run.h"

#include <gtest/gtest.h>
#include <random>

using namespace quern;
using namespace quern::rnn;

namespace {

constexpr const char *problems[] = {
    ("rnn fwd_i cell=lstm direction=left2right src_layer=s8:6x3x12:abc weights_layer=s8:2x1x12x4x16:abcde "
     "weights_iter=s8:2x1x12x4x16:abcde weights_projection=s8:2x1x16x12:abcd dst_layer=f32:6x3x12:abc "
     "attr.rnn.data_scale=100 attr.rnn.weights_scales=67 attr.rnn.projection_scales=292"),
    ("rnn fwd_i cell=gru direction=bidirectional_concat src_layer=u8:5x3x8:abc weights_layer=s8:2x2x8x3x8:abcde "
     "weights_iter=s8:2x2x8x3x8:abcde dst_layer=u8:5x3x16:abc attr.rnn.data_scale=64 attr.rnn.data_shift=100 "
     "attr.rnn.weights_scales=70"),
    ("rnn fwd_i cell=lstm direction=bidirectional_sum src_layer=s8:5x3x8:abc weights_layer=s8:1x2x8x4x8:abcde "
     "weights_iter=s8:1x2x8x4x8:abcde dst_layer=f32:5x3x8:abc attr.rnn.data_scale=100 attr.rnn.weights_scales=40"),
};

class Stack {
public:
  Stack(const char *line, uint64_t seed) : random(seed) {
    problem = std::move(*readProblem(line, Target{CpuIsa::Avx2}));
    data = *ProblemData::create(problem, {.fill = FillKind::Dense, .seed = seed});
    EXPECT_TRUE(data->computeExpected());
    for (const auto &[argument, address] : data->addresses())
      inputs[argument] = address;
    run = std::make_unique<Run>(*Run::make(problem.desc(), inputs));
  }

  /// Returns the verdict on dst_layer if numbers near a midpoint, or one that is not near, are rounded the other way.
  bool isRight(bool areNearMiddle) {
    Roundings turned;
    const RunResults made = run->compute({.roundings = &turned, .isStrict = true});
    if (areNearMiddle)
      turned.otherwise = chosenBy(turned);
    else
      turned.otherwise = {farFromMiddle(turned)};
    const RunResults other = run->compute({.roundings = &turned, .isStrict = true});
    moved += other.dstLayer.exact != made.dstLayer.exact;
    const RnnDesc &rnn = run->rnn();
    scatter(rnn.dstLayer, data->buffer(arg::dst), other.dstLayer.exact);
    const ReferenceInputs results = {{arg::dst, data->buffer(arg::dst)}};
    return judge(problem.desc(), data->expectedOutputs().front(), results, DataKind::Dense).isRight;
  }

  int64_t moved = 0; ///< number of results that the other rounding changed

private:
  /// Chooses one rounding of each sequence, then later ones that the run meets with these choices.
  std::set<Rounding> chosenBy(Roundings met) {
    const bool goesForward = run->shape().directions == 1;
    std::map<int64_t, int64_t> lastStep;
    for (bool isNew = true; isNew;) {
      std::map<int64_t, Rounding> first; // after the last chosen step of each sequence
      for (const auto &[rounding, distance] : met.nearMid) {
        const auto last = lastStep.find(rounding.at.n);
        if (last != lastStep.end() && (!goesForward || rounding.at.t <= last->second))
          continue;
        const auto [place, isFirst] = first.try_emplace(rounding.at.n, rounding);
        if (!isFirst && rounding.at.t < place->second.at.t)
          place->second = rounding;
      }
      isNew = !first.empty();
      for (const auto &[n, rounding] : first)
        met.otherwise.insert(rounding), lastStep[n] = rounding.at.t;
      met.nearMid.clear();
      run->compute({.roundings = &met, .isStrict = true});
    }
    return met.otherwise;
  }
  Rounding farFromMiddle(const Roundings &met) {
    const Shape &s = run->shape();
    for (;;) {
      const Rounding drawn({below(s.layers), below(s.directions), below(s.steps - 1), below(s.batch), 0}, below(s.dic),
                           false);
      if (!met.nearMid.contains(drawn))
        return drawn;
    }
  }
  int64_t below(int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); }

  std::mt19937_64 random;
  ParsedProblem problem;
  std::optional<ProblemData> data;
  ReferenceInputs inputs;
  std::unique_ptr<Run> run;
};

} // namespace

TEST(RnnRoundings, FindsTheRoundingsOfAKernel) {
  for (const char *line : problems) {
    int64_t moved = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      Stack stack(line, seed);
      EXPECT_TRUE(stack.isRight(/*areNearMiddle=*/true)) << line << ", seed " << seed;
      moved += stack.moved;
    }
    EXPECT_GE(moved, 10) << line;
  }
}

TEST(RnnRoundings, OnlyNumbersNearTheMiddleMayRoundDifferently) {
  for (const char *line : problems)
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      Stack stack(line, seed);
      const bool isRight = stack.isRight(/*areNearMiddle=*/false);
      EXPECT_TRUE(!isRight || !stack.moved) << line << ", seed " << seed;
    }
}
