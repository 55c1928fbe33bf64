//===- JudgeTest.cpp - The judge of functions detects wrong kernels -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that correct kernels are judged right, also if terms cancel, and that kernels of a function with a typical
// fault are judged wrong on the same data.
//
//===----------------------------------------------------------------------===//
#include "ProblemData.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace quern;

namespace {

/// A fault: `right` is the replaced text, `wrong` its replacement.
struct Mutant {
  const char *name, *right, *wrong;
};

struct Function {
  const char *name, *text;
  std::vector<Mutant> mutants;
};

constexpr const char *product = R"(
#left = affine_map<(r, c, k) -> (r, k)>
#right = affine_map<(r, c, k) -> (k, c)>
#result = affine_map<(r, c, k) -> (r, c)>
#id = affine_map<(r, c) -> (r, c)>
#column = affine_map<(r, c) -> (c)>
func.func @f(%x: tensor<33x96xf32>, %w: tensor<96x65xf32>, %b: tensor<65xf32>) -> tensor<33x65xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %root = arith.constant 0.70710678 : f32
  %k = arith.constant 95 : index
  %none = tensor.empty() : tensor<33x65xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<33x65xf32>) -> tensor<33x65xf32>
  %p = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<33x96xf32>, tensor<96x65xf32>) outs(%start : tensor<33x65xf32>) {
  ^bb0(%i: f32, %j: f32, %sum: f32):
    %at = linalg.index 2 : index
    %isLast = arith.cmpi eq, %at, %k : index
    %m = arith.mulf %i, %j : f32
    %t = arith.addf %sum, %m : f32
    linalg.yield %t : f32
  } -> tensor<33x65xf32>
  %y = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<33x65xf32>, tensor<65xf32>) outs(%none : tensor<33x65xf32>) {
  ^bb0(%i: f32, %j: f32, %old: f32):
    %s = arith.addf %i, %j : f32
    %a = arith.mulf %s, %root : f32
    %e = math.erf %a : f32
    %o = arith.addf %e, %one : f32
    %h = arith.mulf %s, %half : f32
    %g = arith.mulf %h, %o : f32
    linalg.yield %g : f32
  } -> tensor<33x65xf32>
  return %y : tensor<33x65xf32>
})";

constexpr const char *norm = R"(
#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
func.func @f(%x: tensor<17x200xf32>) -> (tensor<17x200xf32>, tensor<17xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 200.0 : f32
  %eps = arith.constant 1.0e-3 : f32
  %last = arith.constant 199 : index
  %e = tensor.empty() : tensor<17x200xf32>
  %er = tensor.empty() : tensor<17xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<17xf32>) -> tensor<17xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<17x200xf32>) outs(%f : tensor<17xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %t = arith.addf %a, %acc : f32
    linalg.yield %t : f32
  } -> tensor<17xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<17x200xf32>, tensor<17xf32>) outs(%e : tensor<17x200xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %mean = arith.divf %m, %n : f32
    %v = arith.subf %a, %mean : f32
    linalg.yield %v : f32
  } -> tensor<17x200xf32>
  %q = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<17x200xf32>) outs(%f : tensor<17xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %at = linalg.index 1 : index
    %isLast = arith.cmpi eq, %at, %last : index
    %square = arith.mulf %a, %a : f32
    %t = arith.addf %square, %acc : f32
    linalg.yield %t : f32
  } -> tensor<17xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d, %q : tensor<17x200xf32>, tensor<17xf32>) outs(%e : tensor<17x200xf32>) {
  ^bb0(%a: f32, %sq: f32, %o: f32):
    %var = arith.divf %sq, %n : f32
    %ve = arith.addf %var, %eps : f32
    %r = math.rsqrt %ve : f32
    %v = arith.mulf %a, %r : f32
    linalg.yield %v : f32
  } -> tensor<17x200xf32>
  %canceled = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<17x200xf32>) outs(%f : tensor<17xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %at = linalg.index 1 : index
    %isLast = arith.cmpi eq, %at, %last : index
    %c = arith.addf %a, %acc : f32
    linalg.yield %c : f32
  } -> tensor<17xf32>
  return %y, %canceled : tensor<17x200xf32>, tensor<17xf32>
})";

constexpr const char *softmax = R"(
#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
func.func @f(%x: tensor<19x77xf32>) -> tensor<19x77xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e30 : f32
  %scale = arith.constant 0.125 : f32
  %last = arith.constant 76 : index
  %e = tensor.empty() : tensor<19x77xf32>
  %er = tensor.empty() : tensor<19xf32>
  %fm = linalg.fill ins(%low : f32) outs(%er : tensor<19xf32>) -> tensor<19xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%er : tensor<19xf32>) -> tensor<19xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<19x77xf32>) outs(%fm : tensor<19xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %t = arith.maximumf %a, %acc : f32
    linalg.yield %t : f32
  } -> tensor<19xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<19x77xf32>, tensor<19xf32>) outs(%e : tensor<19x77xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %s = arith.mulf %d, %scale : f32
    %v = math.exp %s : f32
    linalg.yield %v : f32
  } -> tensor<19x77xf32>
  %q = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<19x77xf32>) outs(%fs : tensor<19xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %at = linalg.index 1 : index
    %isLast = arith.cmpi eq, %at, %last : index
    %t = arith.addf %a, %acc : f32
    linalg.yield %t : f32
  } -> tensor<19xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q : tensor<19x77xf32>, tensor<19xf32>) outs(%e : tensor<19x77xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.divf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<19x77xf32>
  return %y : tensor<19x77xf32>
})";

constexpr const char *narrow = R"(
#id = affine_map<(r, c) -> (r, c)>
func.func @f(%x: tensor<40x50xbf16>, %y: tensor<40x50xf32>) -> (tensor<40x50xbf16>, tensor<40x50xi8>) {
  %scale = arith.constant 0.3 : f32
  %most = arith.constant 127.0 : f32
  %least = arith.constant -128.0 : f32
  %e = tensor.empty() : tensor<40x50xbf16>
  %ei = tensor.empty() : tensor<40x50xi8>
  %a, %b = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<40x50xbf16>, tensor<40x50xf32>) outs(%e, %ei : tensor<40x50xbf16>, tensor<40x50xi8>) {
  ^bb0(%i: bf16, %j: f32, %o: bf16, %oi: i8):
    %w = arith.extf %i : bf16 to f32
    %p = arith.mulf %w, %j : f32
    %s = arith.mulf %p, %scale : f32
    %n = arith.truncf %s : f32 to bf16
    %r = math.roundeven %s : f32
    %c = arith.minimumf %r, %most : f32
    %d = arith.maximumf %c, %least : f32
    %q = arith.fptosi %d : f32 to i8
    linalg.yield %n, %q : bf16, i8
  } -> (tensor<40x50xbf16>, tensor<40x50xi8>)
  return %a, %b : tensor<40x50xbf16>, tensor<40x50xi8>
})";

const Function functions[] = {
    {"a product with gelu",
     product,
     {{"a scale off by 1e-4", "%half = arith.constant 0.5 ", "%half = arith.constant 0.50005 "},
      {"the last term left out",
       "%t = arith.addf %sum, %m :", "%m2 = arith.select %isLast, %zero, %m : f32 %t = arith.addf %sum, %m2 :"},
      {"a factor of bf16", "%m = arith.mulf %i, %j :",
       "%i1 = arith.truncf %i : f32 to bf16 %i2 = arith.extf %i1 : bf16 to f32 %m = arith.mulf %i2, %j :"},
      {"a sum of f16", "%s = arith.addf %i, %j :",
       "%i1 = arith.truncf %i : f32 to f16 %i2 = arith.extf %i1 : f16 to f32 %s = arith.addf %i2, %j :"},
      {"another function", "%e = math.erf %a :", "%a1 = arith.mulf %a, %root : f32 %e = math.tanh %a1 :"}}},
    {"a norm and a sum that cancels",
     norm,
     {{"no mean", "%v = arith.subf %a, %mean :", "%v = arith.subf %a, %zero :"},
      {"a mean of bf16", "%v = arith.subf %a, %mean :",
       "%m1 = arith.truncf %mean : f32 to bf16 %m2 = arith.extf %m1 : bf16 to f32 %v = arith.subf %a, %m2 :"},
      {"one less in the variance",
       "%var = arith.divf %sq, %n :", "%n1 = arith.constant 199.0 : f32 %var = arith.divf %sq, %n1 :"},
      {"the last square left out", "%t = arith.addf %square, %acc :",
       "%s2 = arith.select %isLast, %zero, %square : f32 %t = arith.addf %s2, %acc :"},
      {"the last term of what cancels left out",
       "%c = arith.addf %a, %acc :", "%a2 = arith.select %isLast, %zero, %a : f32 %c = arith.addf %a2, %acc :"},
      {"another epsilon", "1.0e-3", "2.0e-3"}}},
    {"softmax",
     softmax,
     {{"a scale off by 1e-4", "0.125 ", "0.1250125 "},
      {"the last term left out",
       "%t = arith.addf %a, %acc :", "%a2 = arith.select %isLast, %zero, %a : f32 %t = arith.addf %a2, %acc :"},
      {"exponents of bf16", "%v = math.exp %s :",
       "%s1 = arith.truncf %s : f32 to bf16 %s2 = arith.extf %s1 : bf16 to f32 %v = math.exp %s2 :"},
      {"sums of f16", "%v = arith.divf %a, %b :",
       "%b1 = arith.truncf %b : f32 to f16 %b2 = arith.extf %b1 : f16 to f32 %v = arith.divf %a, %b2 :"}}},
    {"narrow results",
     narrow,
     {{"a scale off by 1e-3", "constant 0.3 ", "constant 0.3003 "},
      {"integers cut", "math.roundeven", "math.trunc"},
      {"a factor rounded", "%p = arith.mulf %w, %j :",
       "%j1 = arith.truncf %j : f32 to bf16 %j2 = arith.extf %j1 : bf16 to f32 %p = arith.mulf %w, %j2 :"}}},
};

/// Returns the text with the fault of `mutant`.
std::string withFault(std::string text, const Mutant &mutant) {
  const size_t at = text.find(mutant.right);
  EXPECT_NE(at, std::string::npos) << mutant.name;
  text.replace(at, std::string(mutant.right).size(), mutant.wrong);
  return text;
}

/// Returns the problem of a function.
ParsedProblem problemOf(const std::string &text) {
  char path[] = "/tmp/quern-judge-XXXXXX";
  const int file = mkstemp(path);
  EXPECT_GE(file, 0);
  close(file);
  std::ofstream(path) << text;
  Result<std::string> line = lineOfMlir(path, true);
  std::remove(path);
  EXPECT_TRUE(line) << line.error().message;
  Result<ParsedProblem> problem = readProblem(*line, Device::open(quern_cpu)->target());
  EXPECT_TRUE(problem) << problem.error().message;
  return std::move(*problem);
}

/// Returns the verdict on the kernel of `given` with the data and expected results of `expected`.
Verdict judged(const ParsedProblem &expected, const ParsedProblem &given, uint64_t seed, FillKind fill) {
  Result<Device> cpu = Device::open(quern_cpu);
  Result<ProblemData> data = ProblemData::create(expected, {.fill = fill, .seed = seed});
  EXPECT_TRUE(data && data->computeExpected());
  Result<Kernel> kernel = Kernel::create(*cpu, given.text);
  EXPECT_TRUE(kernel && data->addScratchpad(*kernel) && kernel->bind(data->buffers()) && kernel->execute());
  return data->judgeOutputs();
}

} // namespace

TEST(FunctionJudge, CallsKernelsRight) {
  for (const Function &function : functions) {
    const ParsedProblem problem = problemOf(function.text);
    for (FillKind fill : {FillKind::Dense, FillKind::Designed})
      for (uint64_t seed = 1; seed <= 10; ++seed) {
        const Verdict verdict = judged(problem, problem, seed, fill);
        EXPECT_TRUE(verdict.isRight) << function.name << ", seed " << seed << ": worst " << verdict.worst << ", got "
                                     << verdict.got << ", expected " << verdict.expected;
      }
  }
}

TEST(FunctionJudge, CallsMutantsWrong) {
  for (const Function &function : functions)
    for (const Mutant &mutant : function.mutants) {
      const ParsedProblem right = problemOf(function.text), wrong = problemOf(withFault(function.text, mutant));
      for (uint64_t seed = 1; seed <= 5; ++seed)
        EXPECT_FALSE(judged(right, wrong, seed, FillKind::Dense).isRight)
            << function.name << ", " << mutant.name << ", seed " << seed;
    }
}
