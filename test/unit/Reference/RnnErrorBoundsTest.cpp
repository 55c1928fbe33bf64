//===- RnnErrorBoundsTest.cpp - Bounds of the change of an RNN step -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Varies the inputs of a step by up to their limits in random directions: no result may change by more than its bound,
// and some result must come close to it.
//
//===----------------------------------------------------------------------===//
#include "Reference/Rnn/ErrorBounds.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace quern;
using namespace quern::rnn;

namespace {

using Values = std::vector<double>;

class Step {
public:
  Step(const std::string &cell, const std::string &more, const std::string &type, uint64_t seed) : random(seed) {
    const std::string weight = type == "u8" ? "s8" : type;
    Result<PrimitiveDesc> parsed = PrimitiveDesc::parse(
        "rnn fwd_i cell=" + cell + " direction=left2right src_layer=" + type + ":1x1x5:abc weights_layer=" + weight +
        ":1x1x5x" + gatesOfCell(cell) + "x6:abcde weights_iter=" + weight + ":1x1x" + (more.empty() ? "6" : "3") + "x" +
        gatesOfCell(cell) + "x6:abcde" + more + " dst_layer=" + type + ":1x1x" + (more.empty() ? "6" : "3") + ":abc");
    EXPECT_TRUE(parsed) << parsed.error().message;
    desc = *parsed;
    quantization.dataScale = 64, quantization.dataShift = 100;
    const RnnDesc &op = rnn();
    s = Shape::of(op);
    const auto columns = static_cast<size_t>(s.gates * s.dhc);
    weights = {draw(static_cast<size_t>(s.slc) * columns), draw(static_cast<size_t>(s.sic) * columns),
               draw(3 * static_cast<size_t>(s.dhc)), more.empty() ? Values() : draw(static_cast<size_t>(s.dhc * s.dic)),
               draw(4 * static_cast<size_t>(s.dhc))};
    if (more.empty())
      weights.peephole.clear();
    x = draw(static_cast<size_t>(s.slc)), h = draw(static_cast<size_t>(s.sic));
    if (isLstm(op))
      c = draw(static_cast<size_t>(s.dhc));
    offX = offsOf(x), offH = offsOf(h), offC = offsOf(c);
  }

  /// Returns the largest change of a result, relative to its bound.
  double worst() {
    const StateType state(rnn(), quantization, Operands{}, {});
    const CellInputs in{x, h, c, 0.3};
    const CellOutputs out = computeCell(rnn(), s, state, weights, in);
    const CellOutputs spread = errorBoundsOf(rnn(), s, state, weights, in, {offX, offH, offC});
    double part = 0;
    for (int trial = 0; trial < 100; ++trial) {
      const Values movedX = moved(x, offX), movedH = moved(h, offH), movedC = moved(c, offC);
      const CellOutputs other = computeCell(rnn(), s, state, weights, {movedX, movedH, movedC, 0.3});
      for (const auto &[from, to, most] :
           {std::tuple(&out.h, &other.h, &spread.h), std::tuple(&out.c, &other.c, &spread.c),
            std::tuple(&out.gates, &other.gates, &spread.gates),
            std::tuple(&out.hiddenSums, &other.hiddenSums, &spread.hiddenSums),
            std::tuple(&out.unprojected, &other.unprojected, &spread.unprojected)})
        for (size_t i = 0; i < from->size(); ++i)
          part = std::max(part, std::fabs((*from)[i] - (*to)[i]) / ((*most)[i] + 1e-9));
    }
    return part;
  }

private:
  static std::string gatesOfCell(const std::string &cell) {
    return cell == "lstm" ? "4" : cell.starts_with("rnn") ? "1" : "3";
  }
  const RnnDesc &rnn() const { return std::get<Boxed<RnnDesc>>(desc.op); }
  double uniform() { return static_cast<double>(random() >> 11) * 0x1p-53; }
  Values draw(size_t count) {
    Values values(count);
    for (double &value : values)
      value = uniform() * 4 - 2;
    return values;
  }
  /// Returns limits of changes, at most 1; about a third of them are 0.
  Values offsOf(const Values &values) {
    const double size = std::exp2(-static_cast<double>(random() % 10));
    Values offs(values.size());
    for (double &off : offs)
      off = random() % 3 ? uniform() * size : 0;
    return offs;
  }
  Values moved(const Values &values, const Values &offs) {
    Values result = values;
    for (size_t i = 0; i < values.size(); ++i)
      result[i] += random() % 2 ? offs[i] : -offs[i];
    return result;
  }

  std::mt19937_64 random;
  PrimitiveDesc desc;
  RnnQuantization quantization;
  Shape s;
  CellWeights weights;
  Values x, h, c, offX, offH, offC;
};

} // namespace

TEST(RnnErrorBounds, BoundsTheEffectOfRoundings) {
  const std::string projection = " weights_peephole=f32:1x1x3x6:abcd weights_projection=";
  for (const std::string type : {"f32", "u8"})
    for (const std::string cell : {"rnn activation=relu alpha=0.5", "rnn activation=tanh", "rnn activation=logistic",
                                   "lstm", "lstm projected", "gru", "lbr_gru", "augru", "lbr_augru"}) {
      const bool isProjected = cell == "lstm projected";
      double most = 0;
      for (uint64_t seed = 1; seed <= 200; ++seed) {
        Step step(isProjected ? "lstm" : cell,
                  isProjected ? projection + (type == "u8" ? "s8" : type) + ":1x1x6x3:abcd" : "", type, seed);
        const double worst = step.worst();
        EXPECT_LE(worst, 1) << cell << " of " << type << ", seed " << seed;
        most = std::max(most, worst);
      }
      EXPECT_GE(most, 0.8) << cell << " of " << type;
    }
}
