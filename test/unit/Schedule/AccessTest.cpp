//===- AccessTest.cpp - The algebra of addresses --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests class AccessFunction, digits of affine maps, common cuts and the operands of a problem against the addresses
// that they describe, computed index by index. Inputs are random; every message has the seed.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Problem/Problem.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <numeric>
#include <random>
#include <set>

namespace quern::schedule {

static void PrintTo(const Size &size, std::ostream *stream) { *stream << size.text(); }

namespace {

constexpr unsigned rounds = 4000;

class Draw {
public:
  explicit Draw(unsigned seed) : generator(seed) {}
  int64_t below(int64_t end) { return std::uniform_int_distribution<int64_t>(0, end - 1)(generator); }
  int64_t oneOf(std::initializer_list<int64_t> values) {
    return values.begin()[below(static_cast<int64_t>(values.size()))];
  }

  /// Returns one to three digits with the same shift, whose cuts nest in three of four cases.
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

/// Returns the addresses relative to index 0, like those of an AccessFunction.
std::vector<int64_t> addresses(llvm::ArrayRef<Digit> sum, int64_t extent) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < extent; ++i)
    values.push_back(valueAt(sum, i) - valueAt(sum, 0));
  return values;
}

TEST(AccessFunction, IsTheSumOfItsDigits) {
  for (unsigned seed = 0; seed < rounds; ++seed) {
    Draw draw(seed);
    std::vector<Digit> sum = draw.sum();
    int64_t extent = 1 + draw.below(200);
    AccessFunction function(sum, extent);
    ASSERT_EQ(addresses(function.digits(), extent), addresses(sum, extent)) << "seed " << seed;
    ASSERT_EQ(function.start(), valueAt(function.digits(), 0)) << "seed " << seed;
  }
}

TEST(AccessFunction, IsCanonicalIfCutsNest) {
  // Contiguous blocks of 4 equal a loop without blocks; a block that the loop never leaves; digits in any order; a
  // constant digit.
  EXPECT_EQ(AccessFunction({{1, 4, 1}, {4, 0, 4}}, 64), AccessFunction({{1, 0, 1}}, 64));
  EXPECT_EQ(AccessFunction({{4, 0, 4}, {1, 4, 1}}, 64), AccessFunction({{1, 0, 1}}, 64));
  EXPECT_EQ(AccessFunction({{1, 16, 1}, {16, 0, 100}}, 16), AccessFunction({{1, 0, 1}}, 16));
  EXPECT_NE(AccessFunction({{1, 16, 1}, {16, 0, 100}}, 17), AccessFunction({{1, 0, 1}}, 17));
  EXPECT_EQ(AccessFunction({{1, 16, 1}, {1, 1, 5}}, 16), AccessFunction({{1, 0, 1}}, 16));
  EXPECT_TRUE(AccessFunction({{1, 0, 0}}, 16).isStill());
  EXPECT_TRUE(AccessFunction({{1, 0, 3}}, 16).isLinear());
  EXPECT_FALSE(AccessFunction({{1, 4, 3}}, 16).isLinear());
  EXPECT_FALSE(AccessFunction({{2, 0, 3}}, 16).isLinear());
}

/// Within a run, from one multiple of run() to the next, consecutive addresses differ by step().
TEST(AccessFunction, ItsAddressesDifferByItsStepWithinARun) {
  for (unsigned seed = 0; seed < rounds; ++seed) {
    Draw draw(seed);
    int64_t extent = 1 + draw.below(200);
    AccessFunction function(draw.sum(), extent);
    std::vector<int64_t> at = addresses(function.digits(), extent);
    for (int64_t i = 1; i < extent; ++i)
      if (!function.run() || i % function.run())
        ASSERT_EQ(at[static_cast<size_t>(i)] - at[static_cast<size_t>(i) - 1], function.step())
            << "seed " << seed << " index " << i;
  }
}

TEST(AccessFunction, AdvancesEquallyFromEveryMultiple) {
  unsigned known = 0;
  for (unsigned seed = 0; seed < rounds; ++seed) {
    Draw draw(seed);
    int64_t extent = 64 + draw.below(200), by = 1 + draw.below(40), align = draw.oneOf({1, 2, 4, 8, 16, 32, 48});
    AccessFunction function(draw.sum(), extent);
    std::optional<int64_t> advance = function.advance(by, align);
    known += advance.has_value();
    for (int64_t from = 0; advance && from + by < extent; from += align)
      ASSERT_EQ(valueAt(function.digits(), from + by) - valueAt(function.digits(), from), *advance)
          << "seed " << seed << " from " << from;
  }
  EXPECT_GT(known, rounds / 8);
  EXPECT_EQ(AccessFunction({{1, 0, 3}}, 64).advance(5, 1), 15);
  EXPECT_EQ(AccessFunction({{1, 16, 1}, {16, 0, 100}}, 64).advance(16, 1), 100);
  EXPECT_EQ(AccessFunction({{1, 16, 1}, {16, 0, 100}}, 64).advance(8, 16), 8);
  EXPECT_EQ(AccessFunction({{1, 16, 1}, {16, 0, 100}}, 64).advance(8, 4), std::nullopt); // may leave the block
}

TEST(AccessFunction, DigitsDifferIfItTellsAllApart) {
  unsigned distinct = 0;
  for (unsigned seed = 0; seed < rounds; ++seed) {
    Draw draw(seed);
    int64_t extent = 1 + draw.below(100);
    AccessFunction function(draw.sum(), extent);
    if (!function.tellsAllApart())
      continue;
    ++distinct;
    // Digits must differ, not addresses, which strides may make equal.
    std::set<std::vector<int64_t>> seen;
    for (int64_t i = 0; i < extent; ++i) {
      std::vector<int64_t> counts;
      for (const Digit &digit : function.digits())
        counts.push_back(digit.modulus ? (i + digit.shift) / digit.unit % digit.modulus
                                       : (i + digit.shift) / digit.unit);
      ASSERT_TRUE(seen.insert(counts).second) << "seed " << seed << " index " << i;
    }
  }
  EXPECT_GT(distinct, rounds / 8);
  EXPECT_FALSE(AccessFunction({{1, 4, 1}}, 64).tellsAllApart());
  EXPECT_FALSE(AccessFunction({{4, 0, 1}}, 64).tellsAllApart());
  EXPECT_TRUE(AccessFunction({{1, 4, 1}, {4, 0, 100}}, 64).tellsAllApart());
}

/// An open step is all that such an AccessFunction contains.
TEST(AccessFunction, ContainsOnlyTheStepIfItIsOpen) {
  const Size step = Size::open(3);
  const AccessFunction function = AccessFunction::linear(step, 64),
                       openLoop = AccessFunction::linear(step, Size::open(0));
  EXPECT_EQ(function, openLoop);
  EXPECT_EQ(function.step(), step);
  EXPECT_TRUE(function.isLinear() && !function.isStill() && function.tellsAllApart() && function.digits().empty());
  EXPECT_EQ(function.start(), 0);
  EXPECT_EQ(function.run(), 0);
  EXPECT_EQ(function.advance(0, 1), 0);
  EXPECT_EQ(function.advance(2, 2), std::nullopt); // not a known number
  EXPECT_EQ(functionFromCut(function, 1, 64), function);
  EXPECT_NE(function, AccessFunction::linear(Size::open(4), 64));
  EXPECT_NE(function, AccessFunction::linear(3, 64));
  EXPECT_TRUE(AccessFunction::linear(step, 1).isStill()); // the loop has one index
  EXPECT_EQ(AccessFunction::linear(7, 64), AccessFunction({{1, 0, 7}}, 64));
  EXPECT_EQ(AccessFunction({{1, 16, 1}, {16, 0, 100}}, Size::open(0)).digits().size(),
            2U); // the loop may leave the block
}

/// Draws an expression of dims and constants with sums, products, quotients and remainders.
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
    return mlir::succeeded(
        readDigits(expr, stride, offset, [&](unsigned dim, Digit digit) { digits[dim].push_back(digit); }));
  }
  int64_t at(int64_t first, int64_t second) const {
    return offset + valueAt(digits[0], first) + valueAt(digits[1], second);
  }
};

TEST(Digits, MatchTheExpression) {
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
        ASSERT_EQ(sum.at(first, second), 3 * evaluate(expr, first, second))
            << "seed " << seed << " at " << first << ", " << second;
  }
  EXPECT_GT(read, rounds / 4);
  mlir::AffineExpr dim = mlir::getAffineDimExpr(0, &context);
  EXPECT_FALSE(ReadSum().read((dim * 3).floorDiv(16), 1));
  EXPECT_FALSE(ReadSum().read((dim % 16).floorDiv(6), 1)); // blocks of 6 within blocks of 16
}

/// On success, all digits have one shift, and the sum is unchanged.
TEST(Digits, AlignTheirShifts) {
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

/// An AccessFunction without a shift, cut there, equals a sum over the dims between the cuts.
TEST(Cuts, NestAndAreValidForEveryWalk) {
  for (unsigned seed = 0; seed < rounds; ++seed) {
    Draw draw(seed);
    int64_t extent = 1 + draw.below(200);
    const AccessFunction functions[] = {AccessFunction(draw.sum(), extent), AccessFunction(draw.sum(), extent)};
    Numbers cuts = commonCuts({&functions[0], &functions[1]});
    ASSERT_TRUE(cuts.empty() || cuts.front() > 1) << "seed " << seed;
    for (size_t i = 0; i < cuts.size(); ++i)
      ASSERT_TRUE(!i || (cuts[i] > cuts[i - 1] && cuts[i] % cuts[i - 1] == 0)) << "seed " << seed;
    for (const AccessFunction &function : functions) {
      std::vector<AccessFunction> parts;
      std::vector<int64_t> from = {1}, to;
      from.insert(from.end(), cuts.begin(), cuts.end());
      for (size_t i = 0; i < from.size(); ++i) {
        bool isLast = i + 1 == from.size();
        to.push_back(isLast ? (extent + from[i] - 1) / from[i] : from[i + 1] / from[i]);
        parts.push_back(functionFromCut(function, from[i], to[i], isLast));
      }
      for (int64_t index = 0; index < extent; ++index) {
        int64_t sum = 0;
        for (size_t i = 0; i < from.size(); ++i) {
          int64_t count = i + 1 == from.size() ? index / from[i] : index / from[i] % to[i];
          sum += valueAt(parts[i].digits(), count) - valueAt(parts[i].digits(), 0);
        }
        ASSERT_EQ(sum, valueAt(function.digits(), index) - valueAt(function.digits(), 0))
            << "seed " << seed << " index " << index;
      }
    }
  }
}

TEST(Cuts, AreCommonToAllWalks) {
  const AccessFunction blocks({{1, 16, 1}, {16, 0, 100}}, 64), pairs({{1, 2, 1}, {2, 0, 50}}, 64),
      threes({{1, 6, 1}, {6, 0, 50}}, 64);
  EXPECT_EQ(commonCuts({&blocks}), (Numbers{16}));
  EXPECT_EQ(commonCuts({&blocks, &pairs}), (Numbers{2, 16}));
  EXPECT_EQ(commonCuts({&blocks, &threes}), (Numbers{2}));
}

class Problems : public testing::Test {
protected:
  Problems() {
    context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                        mlir::memref::MemRefDialect>();
  }
  Problem read(const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return *module->getOps<mlir::func::FuncOp>().begin();
  }
  /// Reads a function with these arguments and one elementwise op from `%x` to `%y` with these maps.
  Problem readMove(const std::string &arguments, const std::string &from, const std::string &to,
                   const std::string &types, const std::string &before = "") {
    return read("func.func @f(" + arguments + ") {\n" + before + "linalg.generic {indexing_maps = [" + from + ", " +
                to + "], iterator_types = [\"parallel\", \"parallel\"]} ins(%x : " + types.substr(0, types.find(';')) +
                ") outs(%y : " + types.substr(types.find(';') + 1) +
                ") {\n^bb0(%a: f32, %b: f32):\nlinalg.yield %a : f32\n}\nreturn\n}\n");
  }
  static std::string textOf(mlir::AffineMap map) {
    std::string text;
    llvm::raw_string_ostream(text) << "affine_map<" << map << ">";
    return text;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

constexpr const char *plain = "affine_map<(i, j) -> (i, j)>";

TEST_F(Problems, AddressesFollowTheMaps) {
  unsigned read = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Draw draw(seed);
    const mlir::AffineExpr exprs[] = {drawExpr(draw, &context, 3), drawExpr(draw, &context, 3)};
    const int64_t strides[] = {draw.oneOf({0, 1, 16, 1000}), draw.oneOf({1, 3, 64})}, offset = draw.below(5);
    const int64_t extents[] = {draw.oneOf({1, 4, 16, 33}), draw.oneOf({1, 2, 16, 40})};
    auto sizeOf = [&](mlir::AffineExpr expr) { // the loop's extent if the expression is a dim; otherwise large enough
      auto dim = mlir::dyn_cast<mlir::AffineDimExpr>(expr);
      return std::to_string(dim ? extents[dim.getPosition()] : 1000000);
    };
    const std::string from = "memref<" + sizeOf(exprs[0]) + "x" + sizeOf(exprs[1]) + "xf32, strided<[" +
                             std::to_string(strides[0]) + ", " + std::to_string(strides[1]) +
                             "], offset: " + std::to_string(offset) + ">>";
    const std::string to = "memref<" + std::to_string(extents[0]) + "x" + std::to_string(extents[1]) + "xf32>";
    const std::string map = textOf(mlir::AffineMap::get(2, 0, exprs, &context));
    Problem problem = readMove("%x: " + from + ", %y: " + to, map, plain, from + ";" + to);
    ASSERT_EQ(problem.whyNot, "") << "seed " << seed;
    const LoopAccess &access = problem.ops[0].operands[0];
    if (!access.whyNot.empty())
      continue;
    ++read;
    for (int64_t i = 0; i < extents[0]; ++i)
      for (int64_t j = 0; j < extents[1]; ++j) {
        const int64_t point[] = {i, j};
        int64_t at = access.offset.known(), want = offset;
        for (auto [function, index] : llvm::zip_equal(access.loops, point))
          at += valueAt(function.digits(), index) - function.start();
        for (auto [expr, stride] : llvm::zip_equal(exprs, strides))
          want += stride * evaluate(expr, i, j);
        ASSERT_EQ(at, want) << "seed " << seed << " at " << i << ", " << j << " by " << map << " of " << from << " to "
                            << to;
      }
  }
  EXPECT_GT(read, 300U);
}

TEST_F(Problems, HaveTheSizesOfTheirArguments) {
  const std::string open = "memref<?x8xf32, strided<[?, 1], offset: ?>>";
  Problem problem = readMove("%x: " + open + ", %y: memref<?x8xf32>", plain, plain, open + ";memref<?x8xf32>");
  ASSERT_EQ(problem.whyNot, "");
  EXPECT_EQ(problem.ops[0].extents, (Sizes{Size::open(0), 8}));
  EXPECT_EQ(problem.ops[0].operands[0].offset, Size::open(2));
  EXPECT_EQ(problem.ops[0].operands[0].stride(0), Size::open(1));
  EXPECT_EQ(problem.ops[0].operands[1].stride(0), 8);
  // An extent that is known for one operand applies to all. If all operands are intermediates, it stays unknown.
  problem = readMove("%x: memref<?x8xf32>, %y: memref<4x8xf32>", plain, plain, "memref<?x8xf32>;memref<4x8xf32>");
  EXPECT_EQ(problem.ops[0].extents, (Sizes{4, 8}));
  problem =
      readMove("%z: memref<?x8xf32>", plain, plain, "memref<?x8xf32>;memref<?x8xf32>",
               "%c0 = arith.constant 0 : index\n%n = memref.dim %z, %c0 : memref<?x8xf32>\n%x = memref.alloc(%n) : "
               "memref<?x8xf32>\n%y = memref.alloc(%n) : memref<?x8xf32>\n");
  EXPECT_EQ(problem.whyNot, "");
  EXPECT_EQ(problem.ops[0].extents, (Sizes{Size::untold(), 8}));
}

TEST_F(Problems, RefuseAddressesComputedFromOpenSizes) {
  const std::string open = "memref<?x?xf32, strided<[?, ?], offset: ?>>", rows = "affine_map<(i, j) -> (i, 0)>";
  auto whyNot = [&](const std::string &from) {
    Problem problem = readMove("%x: " + open + ", %y: memref<4x8xf32>", from, plain, open + ";memref<4x8xf32>");
    return problem.whyNot + problem.ops[0].operands[0].whyNot;
  };
  const std::string computed = "operand #0 of an op computes its address with sizes known only at execution";
  EXPECT_EQ(whyNot(plain), "");
  EXPECT_EQ(whyNot(rows), "");
  for (const char *to : {"(i * 2, j)", "(i + 1, j)", "(i floordiv 2, j)", "(i, j mod 4)", "(i, 3)", "(j, j)"})
    EXPECT_EQ(whyNot(std::string("affine_map<(i, j) -> ") + to + ">"), computed) << to;
  EXPECT_EQ(whyNot("affine_map<(i, j) -> ((i * 3) floordiv 2, j)>"),
            "operand #0 of an op has a map that is not made of sums of dims, constants, d floordiv B and d mod B");
}

TEST_F(Problems, SeeThroughViews) {
  const std::string part = "memref<2x8xf32, strided<[16, 1], offset: 24>>";
  Problem problem = readMove("%z: memref<4x16xf32>, %y: memref<2x8xf32>", plain, plain, part + ";memref<2x8xf32>",
                             "%x = memref.subview %z[1, 8] [2, 8] [1, 1] : memref<4x16xf32> to " + part + "\n");
  ASSERT_EQ(problem.whyNot, "");
  const LoopAccess &access = problem.ops[0].operands[0];
  EXPECT_TRUE(access.isView && access.isArgument() && access.whyNot.empty());
  EXPECT_EQ(access.base, problem.function.getArgument(0));
  EXPECT_EQ(access.offset, 24);
  EXPECT_EQ(access.stride(0), 16);
  problem = readMove("%z: memref<1024xi8>, %y: memref<2x8xf32>", "affine_map<(i, j) -> (i * 8 + j)>", plain,
                     "memref<16xf32>;memref<2x8xf32>",
                     "%c64 = arith.constant 64 : index\n%x = memref.view %z[%c64][] : memref<1024xi8> to "
                     "memref<16xf32>\n");
  EXPECT_TRUE(!problem.ops[0].operands[0].isView && problem.ops[0].operands[0].isArgument());
  EXPECT_EQ(problem.prologue.size(), 1U);
}

TEST_F(Problems, RefusalsHaveAReason) {
  const std::string types = "memref<4x8xf32>;memref<4x8xf32>", arguments = "%x: memref<4x8xf32>, %y: memref<4x8xf32>";
  auto whyNot = [&](const std::string &before) { return readMove(arguments, plain, plain, types, before).whyNot; };
  EXPECT_EQ(whyNot("%c0 = arith.constant 0 : index\n%s = memref.load %x[%c0, %c0] : memref<4x8xf32>\n"), "");
  EXPECT_EQ(whyNot("%c0 = arith.constant 0 : index\n%s = memref.load %y[%c0, %c0] : memref<4x8xf32>\n"),
            "a scalar is read from an argument that is written");
  EXPECT_EQ(whyNot("%c0 = arith.constant 0 : index\n%s = memref.dim %y, %c0 : memref<4x8xf32>\n%t = arith.addi %s, %s "
                   ": index\n"),
            "'memref.dim' is not supported in a problem");
  EXPECT_EQ(whyNot("memref.copy %x, %y : memref<4x8xf32> to memref<4x8xf32>\n"),
            "'memref.copy' is not supported in a problem");
  EXPECT_EQ(read("func.func @f(%x: memref<4xf32>) {\nreturn\n}").whyNot, "there is no op");
  EXPECT_EQ(read("func.func @f(%x: i32) {\nreturn\n}").whyNot, "an argument is not a strided memref");
  EXPECT_EQ(
      readMove("%x: memref<0x8xf32>, %y: memref<0x8xf32>", plain, plain, "memref<0x8xf32>;memref<0x8xf32>").whyNot,
      "the space is empty");
}

} // namespace
} // namespace quern::schedule
