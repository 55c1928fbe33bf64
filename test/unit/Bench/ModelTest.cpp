//===- ModelTest.cpp - Statistics of modeled loops ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests on a synthetic trace: a contraction kernel whose loop over K has four instructions.
//
//===----------------------------------------------------------------------===//
#include "Model/Model.h"
#include "Model/Products.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace quern::bench {
namespace {

nlohmann::json madeUpTrace() {
  return nlohmann::json::parse(R"({"stages": [
    {"name": "emit", "text": "a\nb\n", "steps": ["", "sum over k"]},
    {"name": "schedule", "of": "emit", "origins": [[], [2]],
     "text": "func.func @gemm_kernel() attributes {plan = <contraction, rows = 8>} {\nscf.for\n",
     "loops": [{"kernel": "gemm_kernel", "line": 1, "last": 2, "depth": 0, "bytesRead": 0, "operations": 0},
               {"line": 2, "last": 2, "depth": 1, "bytesRead": 48, "operations": 2, "carried": 2}]},
    {"name": "assembly", "of": "schedule",
     "text": "gemm_kernel:\n\tldr\tq0, [x0]\n\tfmla\tv1.4s, v0.4s, v2.s[0]\n\tfmla\tv3.4s, v0.4s, v2.s[1]\n\tb.lt\tL\n",
     "origins": [[], [2], [2], [2], [2]], "offsets": [-1, 0, 4, 8, 12],
     "marks": {"spill": [], "reload": [], "unaligned": []},
     "innermost": [{"first": 2, "last": 5, "estimates": [
       {"machine": "neoverse-n1", "cycles": 2.0, "costs": [[5, 0.5], [4, 0.5], [4, 0.5], [1, 1]]},
       {"machine": "neoverse-v1", "cycles": 1.0, "costs": [[5, 0.5], [4, 0.25], [4, 0.25], [1, 1]]}]}]}]})");
}

std::vector<ModeledLoop> loopsIn(const nlohmann::json &trace) {
  return modeledLoopsIn(trace.dump(), "neon", {"neoverse-n1"});
}

TEST(Model, CountsTheWorkOfALoopIteration) {
  const std::vector<ModeledLoop> loops = loopsIn(madeUpTrace());
  ASSERT_EQ(loops.size(), 1U);
  const ModeledLoop &loop = loops.front();
  EXPECT_EQ(loop.kernel, "gemm_kernel");
  EXPECT_EQ(loop.step, "sum over k");
  EXPECT_TRUE(loop.isProduct);
  EXPECT_EQ(loop.instructions, 4U);
  EXPECT_EQ(loop.bytesRead, 48);
  EXPECT_EQ(loop.multiply, "fmla");
  EXPECT_EQ(loop.flops, 16);
  EXPECT_EQ(loop.cycles, (std::map<std::string, double>{{"neoverse-n1", 2}})); // the other model was not requested
  EXPECT_EQ(loop.busy.at("neoverse-n1"), 1);
  EXPECT_EQ(loop.spills, 0U);
}

TEST(Model, CountsOnlySpillsInsideLoops) {
  nlohmann::json trace = madeUpTrace();
  trace["stages"][2]["marks"]["spill"] = {1};
  EXPECT_EQ(loopsIn(trace).front().spills, 0U);
  trace["stages"][2]["marks"]["spill"] = {1, 3};
  trace["stages"][2]["marks"]["reload"] = {4};
  EXPECT_EQ(loopsIn(trace).front().spills, 2U);
}

TEST(Model, OnlyContractionsHaveLoopsOfProducts) {
  nlohmann::json trace = madeUpTrace();
  trace["stages"][1]["text"] = "func.func @gemm_kernel() attributes {plan = <rows, ops = 2>} {\nscf.for\n";
  EXPECT_FALSE(loopsIn(trace).front().isProduct);
}

TEST(Model, FlopsAreOfTheWholeRegister) {
  const auto flops = [](const std::string &line, const std::string &target) {
    const std::optional<ModelProduct> product = productOf(line, target);
    return product ? product->flops : 0;
  };
  EXPECT_EQ(flops("\tfmla\tz0.s, p0/m, z1.s, z2.s", "sve:vl=256"), 16);
  EXPECT_EQ(flops("\tbfdot\tv0.4s, v1.8h, v2.8h", "neon_bf16"), 16);
  EXPECT_EQ(flops("\tbfmmla\tz0.s, z1.h, z2.h", "sve_bf16:vl=512"), 128);
  EXPECT_EQ(flops("\tusmmla\tv0.4s, v1.16b, v2.16b", "neon_bf16"), 64);
  EXPECT_EQ(flops("\tfmul\tv0.4s, v1.4s, v2.4s", "neon"), 0);
  EXPECT_EQ(flops("\tmadd\tx0, x1, x2, x3", "neon"), 0);
}

} // namespace
} // namespace quern::bench
