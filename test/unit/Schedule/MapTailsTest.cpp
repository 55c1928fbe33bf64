//===- MapTailsTest.cpp - Transposed sums with partial tiles ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests dst[b][a] = src[a][b] + dst[b][a] in dense memory. Since the destination is read, tiles must not overlap, so
// the last ones are cut. Rows of the source that are shorter than a vector are read several at a time; those of a cut
// tile end with the source.
//
//===----------------------------------------------------------------------===//
#include "RandomLayout.h"
#include "ScheduledKernel.h"

#include "Schedule/Map/Map.h"
#include "Targets/Cpu/Strategy.h"

#include "gtest/gtest.h"

using namespace quern;
using namespace quern::test;

namespace {

struct TransposedSum {
  Element from, to;
  int64_t outer, columns, rows; ///< the source is outer x rows x columns, the destination outer x columns x rows
};

std::string widened(const std::string &value, Element element) {
  if (element == Element::S8)
    return "arith.sitofp " + value + " : i8 to f32";
  return "arith." + std::string(element == Element::F32 ? "addf " + value + ", %zero" : "extf " + value) + " : " +
         (element == Element::F32 ? "f32" : nameOf(element) + std::string(" to f32"));
}

std::string narrowed(const std::string &value, Element element) {
  if (element == Element::S8)
    return "    %whole = math.roundeven " + value + " : f32\n    %integer = arith.fptosi %whole : f32 to i32\n" +
           "    %result = arith.trunci %integer : i32 to i8\n";
  return "    %result = arith." +
         std::string(element == Element::F32 ? "addf " + value + ", %zero" : "truncf " + value) + " : f32" +
         (element == Element::F32 ? "" : " to " + std::string(nameOf(element))) + "\n";
}

std::string textOf(const TransposedSum &sum) {
  auto number = [](int64_t value) { return std::to_string(value); };
  std::string shape = number(sum.outer) + "x" + number(sum.rows) + "x" + number(sum.columns) + "x",
              from = nameOf(sum.from), to = nameOf(sum.to), area = number(sum.rows * sum.columns),
              src = "memref<" + shape + from + ">",
              dst = "memref<" + shape + to + ", strided<[" + area + ", 1, " + number(sum.rows) + "]>>",
              map = "affine_map<(a, b, c) -> (a, b, c)>";
  return "func.func @sum(%src: " + src + ", %dst: " + dst +
         ") {\n  %zero = arith.constant 0.0 : f32\n  linalg.generic {indexing_maps = [" + map + ", " + map +
         "], iterator_types = [\"parallel\", \"parallel\", \"parallel\"]}\n      ins(%src : " + src +
         ") outs(%dst : " + dst + ") {\n  ^bb0(%x: " + from + ", %old: " + to +
         "):\n    %wide = " + widened("%x", sum.from) + "\n    %before = " + widened("%old", sum.to) +
         "\n    %both = arith.addf %wide, %before : f32\n" + narrowed("%both", sum.to) +
         "    linalg.yield %result : " + to + "\n  }\n  return\n}\n";
}

class TransposedSums : public ::testing::TestWithParam<TransposedSum> {};

TEST_P(TransposedSums, AccessOnlyTheirBuffers) {
  const TransposedSum &sum = GetParam();
  KernelCompiler compiler;
  std::string text = textOf(sum);
  int64_t count = sum.outer * sum.rows * sum.columns;
  std::vector<ChainArgument> arguments = {{sum.from, count}, {sum.to, count, /*isOutput=*/true}};
  Buffers start = makeBuffers(arguments, /*seed=*/1), want = start;
  const std::vector<Target> targets = targetsOfMachine(wholeLevels);
  ScheduledKernel naive = compiler.compileNaively(text, targets.back(), /*widen=*/false);
  ASSERT_TRUE(naive.code);
  run(naive, arguments, want, false);
  for (const Target &target : targets) {
    MapStrategy strategy = mapStrategyFor(target);
    auto recipe = [&](mlir::func::FuncOp problem, std::string &whyNot) {
      return emitPreferred(matchMap(problem, strategy, whyNot), whyNot);
    };
    ScheduledKernel kernel = compiler.compile(text, target, recipe);
    ASSERT_TRUE(kernel.code);
    SCOPED_TRACE(target.text() + ": " + kernel.plan + "\n" + text);
    checkKernel(kernel, arguments, /*tolerance=*/0, start, want, /*aliased=*/false);
  }
}

constexpr TransposedSum sums[] = {
    {Element::F32, Element::F32, 1, 15, 17},    {Element::F32, Element::F32, 1, 15, 33},
    {Element::F32, Element::S8, 1, 34, 63},     {Element::F32, Element::S8, 1, 17, 126},
    {Element::S8, Element::F32, 1, 63, 65},     {Element::S8, Element::F32, 1, 65, 63},
    {Element::BF16, Element::F32, 1, 3, 65},    {Element::S8, Element::BF16, 1, 100, 17},
    {Element::S8, Element::BF16, 1, 1700, 100}, {Element::F32, Element::F32, 3, 5, 129},
    {Element::BF16, Element::BF16, 2, 7, 1000}, {Element::F16, Element::F32, 5, 49, 3},
};
INSTANTIATE_TEST_SUITE_P(Map, TransposedSums, ::testing::ValuesIn(sums));

} // namespace
