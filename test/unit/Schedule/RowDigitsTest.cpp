//===- RowDigitsTest.cpp - The algebra of addresses -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Walks, digits of affine maps and common cuts against what they stand for: addresses, computed index by index. Drawn, with the seed in
// every message.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Problem/Digits.h"

#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

#include <numeric>
#include <random>
#include <set>

namespace quern::rows {
namespace {

constexpr unsigned rounds = 4000;

class Draw {
public:
  explicit Draw(unsigned seed) : generator(seed) {}
  int64_t below(int64_t end) { return std::uniform_int_distribution<int64_t>(0, end - 1)(generator); }
  int64_t oneOf(std::initializer_list<int64_t> values) { return values.begin()[below(static_cast<int64_t>(values.size()))]; }

  /// One to three digits with the same shift; of cuts that nest more often than not.
  std::vector<Digit> sum() {
    bool nests = below(4) != 0;
    int64_t shift = below(3) ? 0 : below(20);
    std::vector<Digit> digits(static_cast<size_t>(1 + below(3)));
    for (Digit &digit : digits) {
      digit.unit = nests ? oneOf({1, 1, 4, 8, 16}) : oneOf({1, 2, 3, 4, 6});
      digit.modulus = nests ? oneOf({0, 0, 1, 2, 4, 16}) : oneOf({0, 1, 2, 3, 5});
      digit.stride = oneOf({0, 1, 1, 4, 7, 16, 100, -3});
      digit.shift = shift;
    }
    return digits;
  }

private:
  std::mt19937 generator;
};

int64_t valueAt(llvm::ArrayRef<Digit> sum, int64_t index) {
  int64_t value = 0;
  for (const Digit &digit : sum) {
    int64_t count = (index + digit.shift) / digit.unit;
    value += digit.stride * (digit.modulus ? count % digit.modulus : count);
  }
  return value;
}

/// From index 0, as a walk is.
std::vector<int64_t> addresses(llvm::ArrayRef<Digit> sum, int64_t extent) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < extent; ++i)
    values.push_back(valueAt(sum, i) - valueAt(sum, 0));
  return values;
}

TEST(Walk, IsTheSumOfItsDigits) {
  for (unsigned seed = 0; seed < rounds; ++seed) {
    Draw draw(seed);
    std::vector<Digit> sum = draw.sum();
    int64_t extent = 1 + draw.below(200);
    Walk walk(sum, extent);
    ASSERT_EQ(addresses(walk.digits(), extent), addresses(sum, extent)) << "seed " << seed;
    ASSERT_EQ(walk.start(), valueAt(walk.digits(), 0)) << "seed " << seed;
  }
}

TEST(Walk, HasOneFormWhereCutsNest) {
  // 16 blocks of 4 that lie like 64 neighbours; a block that the loop never leaves; digits in any order; a constant digit.
  EXPECT_EQ(Walk({{1, 4, 1}, {4, 0, 4}}, 64), Walk({{1, 0, 1}}, 64));
  EXPECT_EQ(Walk({{4, 0, 4}, {1, 4, 1}}, 64), Walk({{1, 0, 1}}, 64));
  EXPECT_EQ(Walk({{1, 16, 1}, {16, 0, 100}}, 16), Walk({{1, 0, 1}}, 16));
  EXPECT_NE(Walk({{1, 16, 1}, {16, 0, 100}}, 17), Walk({{1, 0, 1}}, 17));
  EXPECT_EQ(Walk({{1, 16, 1}, {1, 1, 5}}, 16), Walk({{1, 0, 1}}, 16));
  EXPECT_TRUE(Walk({{1, 0, 0}}, 16).isStill());
  EXPECT_TRUE(Walk({{1, 0, 3}}, 16).isLinear());
  EXPECT_FALSE(Walk({{1, 4, 3}}, 16).isLinear());
  EXPECT_FALSE(Walk({{2, 0, 3}}, 16).isLinear());
}

/// From one multiple of the run to the next neighbours lie `step` apart.
TEST(Walk, GoesByItsStepWithinARun) {
  for (unsigned seed = 0; seed < rounds; ++seed) {
    Draw draw(seed);
    int64_t extent = 1 + draw.below(200);
    Walk walk(draw.sum(), extent);
    std::vector<int64_t> at = addresses(walk.digits(), extent);
    for (int64_t i = 1; i < extent; ++i)
      if (!walk.run() || i % walk.run())
        ASSERT_EQ(at[static_cast<size_t>(i)] - at[static_cast<size_t>(i) - 1], walk.step()) << "seed " << seed << " index " << i;
  }
}

TEST(Walk, AdvancesAlikeFromEveryMultiple) {
  unsigned known = 0;
  for (unsigned seed = 0; seed < rounds; ++seed) {
    Draw draw(seed);
    int64_t extent = 64 + draw.below(200), by = 1 + draw.below(40), align = draw.oneOf({1, 2, 4, 8, 16, 32, 48});
    Walk walk(draw.sum(), extent);
    std::optional<int64_t> advance = walk.advance(by, align);
    known += advance.has_value();
    for (int64_t from = 0; advance && from + by < extent; from += align)
      ASSERT_EQ(valueAt(walk.digits(), from + by) - valueAt(walk.digits(), from), *advance) << "seed " << seed << " from " << from;
  }
  EXPECT_GT(known, rounds / 8);
  EXPECT_EQ(Walk({{1, 0, 3}}, 64).advance(5, 1), 15);
  EXPECT_EQ(Walk({{1, 16, 1}, {16, 0, 100}}, 64).advance(16, 1), 100);
  EXPECT_EQ(Walk({{1, 16, 1}, {16, 0, 100}}, 64).advance(8, 16), 8);
  EXPECT_EQ(Walk({{1, 16, 1}, {16, 0, 100}}, 64).advance(8, 4), std::nullopt); // may leave the block
}

TEST(Walk, TellsApartWhatItSays) {
  unsigned apart = 0;
  for (unsigned seed = 0; seed < rounds; ++seed) {
    Draw draw(seed);
    int64_t extent = 1 + draw.below(100);
    Walk walk(draw.sum(), extent);
    if (!walk.tellsAllApart())
      continue;
    ++apart;
    // Of digits, not of addresses, which strides may make equal.
    std::set<std::vector<int64_t>> seen;
    for (int64_t i = 0; i < extent; ++i) {
      std::vector<int64_t> counts;
      for (const Digit &digit : walk.digits())
        counts.push_back(digit.modulus ? (i + digit.shift) / digit.unit % digit.modulus : (i + digit.shift) / digit.unit);
      ASSERT_TRUE(seen.insert(counts).second) << "seed " << seed << " index " << i;
    }
  }
  EXPECT_GT(apart, rounds / 8);
  EXPECT_FALSE(Walk({{1, 4, 1}}, 64).tellsAllApart());
  EXPECT_FALSE(Walk({{4, 0, 1}}, 64).tellsAllApart());
  EXPECT_TRUE(Walk({{1, 4, 1}, {4, 0, 100}}, 64).tellsAllApart());
}

/// A dim, or a constant, under sums, products, quotients and remainders.
mlir::AffineExpr drawExpr(Draw &draw, mlir::MLIRContext *context, int depth) {
  if (!depth || draw.below(6) == 0)
    return draw.below(5) ? mlir::getAffineDimExpr(static_cast<unsigned>(draw.below(2)), context)
                         : mlir::getAffineConstantExpr(draw.below(9), context);
  mlir::AffineExpr inner = drawExpr(draw, context, depth - 1);
  switch (draw.below(5)) {
  case 0:
    return inner + drawExpr(draw, context, depth - 1);
  case 1:
    return inner * draw.oneOf({2, 3, 16});
  case 2:
    return inner % draw.oneOf({2, 4, 6, 16});
  case 3:
    return inner.floorDiv(draw.oneOf({2, 4, 6, 16}));
  default:
    return inner + draw.below(20);
  }
}

int64_t evaluate(mlir::AffineExpr expr, int64_t first, int64_t second) {
  if (auto constant = mlir::dyn_cast<mlir::AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = mlir::dyn_cast<mlir::AffineDimExpr>(expr))
    return dim.getPosition() ? second : first;
  auto binary = mlir::cast<mlir::AffineBinaryOpExpr>(expr);
  int64_t left = evaluate(binary.getLHS(), first, second), right = evaluate(binary.getRHS(), first, second);
  switch (expr.getKind()) {
  case mlir::AffineExprKind::Add:
    return left + right;
  case mlir::AffineExprKind::Mul:
    return left * right;
  case mlir::AffineExprKind::Mod:
    return left % right;
  default:
    return left / right;
  }
}

struct ReadSum {
  int64_t offset = 0;
  std::vector<Digit> digits[2];
  bool read(mlir::AffineExpr expr, int64_t stride) {
    return mlir::succeeded(readDigits(expr, stride, offset, [&](unsigned dim, Digit digit) { digits[dim].push_back(digit); }));
  }
  int64_t at(int64_t first, int64_t second) const { return offset + valueAt(digits[0], first) + valueAt(digits[1], second); }
};

TEST(Digits, AreWhatTheExpressionSays) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  unsigned read = 0;
  for (unsigned seed = 0; seed < rounds; ++seed) {
    Draw draw(seed);
    mlir::AffineExpr expr = drawExpr(draw, &context, 4);
    ReadSum sum;
    if (!sum.read(expr, 3))
      continue;
    ++read;
    for (int64_t first = 0; first < 70; ++first)
      for (int64_t second : {0, 1, 5, 16, 47})
        ASSERT_EQ(sum.at(first, second), 3 * evaluate(expr, first, second)) << "seed " << seed << " at " << first << ", " << second;
  }
  EXPECT_GT(read, rounds / 4);
  mlir::AffineExpr dim = mlir::getAffineDimExpr(0, &context);
  EXPECT_FALSE(ReadSum().read((dim * 3).floorDiv(16), 1));
  EXPECT_FALSE(ReadSum().read((dim % 16).floorDiv(6), 1)); // blocks of 6 within blocks of 16
}

/// Where it succeeds all digits have one shift, and the sum is what it was.
TEST(Digits, TakeOneShift) {
  unsigned aligned = 0;
  for (unsigned seed = 0; seed < rounds; ++seed) {
    Draw draw(seed);
    std::vector<Digit> before = draw.sum();
    for (Digit &digit : before)
      digit.shift += draw.oneOf({0, 0, 1}) * draw.oneOf({digit.unit, digit.unit * digit.modulus, 1});
    std::vector<Digit> after = before;
    int64_t extent = 1 + draw.below(100), offset = 0;
    if (!alignShifts(after, extent, offset))
      continue;
    ++aligned;
    for (const Digit &digit : after)
      ASSERT_EQ(digit.shift, after[0].shift) << "seed " << seed;
    for (int64_t i = 0; i < extent; ++i)
      ASSERT_EQ(offset + valueAt(after, i), valueAt(before, i)) << "seed " << seed << " index " << i;
  }
  EXPECT_GT(aligned, rounds / 4);
}

/// Cut there, a walk without a shift is a sum over the dims between the cuts, of which each but the last has the walk of its own digits.
TEST(Cuts, NestAndServeEveryWalk) {
  for (unsigned seed = 0; seed < rounds; ++seed) {
    Draw draw(seed);
    int64_t extent = 1 + draw.below(200);
    const Walk walks[] = {Walk(draw.sum(), extent), Walk(draw.sum(), extent)};
    Strides cuts = commonCuts({&walks[0], &walks[1]});
    ASSERT_TRUE(cuts.empty() || cuts.front() > 1) << "seed " << seed;
    for (size_t i = 0; i < cuts.size(); ++i)
      ASSERT_TRUE(!i || (cuts[i] > cuts[i - 1] && cuts[i] % cuts[i - 1] == 0)) << "seed " << seed;
    for (const Walk &walk : walks) {
      std::vector<Walk> parts;
      std::vector<int64_t> from = {1}, to;
      from.insert(from.end(), cuts.begin(), cuts.end());
      for (size_t i = 0; i < from.size(); ++i) {
        bool isLast = i + 1 == from.size();
        to.push_back(isLast ? (extent + from[i] - 1) / from[i] : from[i + 1] / from[i]);
        parts.push_back(walkFromCut(walk, from[i], to[i], isLast));
      }
      for (int64_t index = 0; index < extent; ++index) {
        int64_t sum = 0;
        for (size_t i = 0; i < from.size(); ++i) {
          int64_t count = i + 1 == from.size() ? index / from[i] : index / from[i] % to[i];
          sum += valueAt(parts[i].digits(), count) - valueAt(parts[i].digits(), 0);
        }
        ASSERT_EQ(sum, valueAt(walk.digits(), index) - valueAt(walk.digits(), 0)) << "seed " << seed << " index " << index;
      }
    }
  }
}

TEST(Cuts, AreWhatEveryWalkHas) {
  const Walk blocks({{1, 16, 1}, {16, 0, 100}}, 64), pairs({{1, 2, 1}, {2, 0, 50}}, 64), threes({{1, 6, 1}, {6, 0, 50}}, 64);
  EXPECT_EQ(commonCuts({&blocks}), (Strides{16}));
  EXPECT_EQ(commonCuts({&blocks, &pairs}), (Strides{2, 16}));
  EXPECT_EQ(commonCuts({&blocks, &threes}), (Strides{2}));
}

} // namespace
} // namespace quern::rows
