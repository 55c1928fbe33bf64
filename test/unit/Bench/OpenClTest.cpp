//===- OpenClTest.cpp - The plain kernels of quern-bench ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that their results agree with the references, for each kind of kernel that the harness chooses from; timings of
// wrong kernels would be meaningless.
//
//===----------------------------------------------------------------------===//
#include "Contestants/Contestant.h"
#include "Reference/Judge.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace quern::bench {
namespace {

std::string libraryPath() { return std::getenv("ZE_OPENCL_LIBRARY"); }

/// Returns the reason why a result is wrong; empty if it is right.
std::string wrongIn(const BenchProblem &problem, const ReferenceInputs &inputs, const std::string &bytes) {
  const Result<std::vector<ReferenceOutput>> expected = computeReference(problem.verified.desc, inputs);
  if (!expected)
    return expected.error().message;
  for (const ReferenceOutput &output : *expected) {
    const Verdict verdict = judge(problem.verified.desc, output, {{output.argument, bytes.data()}}, DataKind::Dense);
    if (!verdict.isRight)
      return verdict.describe(output.desc);
  }
  return {};
}

void expectRight(const char *line, size_t kernels) {
  SCOPED_TRACE(line);
  const BenchProblem problem = BenchProblem::parse(line);
  std::vector<GuardedBuffer> buffers;
  ReferenceInputs inputs;
  for (const ArgumentInfo &argument : problem.verified.arguments) {
    buffers.push_back(makeBuffer(argument.desc.bytes()));
    fillArgument(buffers.back().data(), argument);
    inputs[argument.index] = buffers.back().data();
  }
  const auto results = openClResults(libraryPath(), problem);
  EXPECT_EQ(results.size(), kernels);
  for (const auto &[kernel, bytes] : results)
    EXPECT_EQ(wrongIn(problem, inputs, bytes), "") << kernel;
}

TEST(PlainKernels, ComputeTheSumsAppendedToWeights) {
  expectRight("reorder src=s8:19x18x3x2:abcd dst=s8:19x18x3x2:ABcd4b16a4b:s8s8@1:scale_adjust@1", 2);
  expectRight("reorder src=f32:19x18x3x2:abcd dst=s8:19x18x3x2:ABcd4b16a4b:asymmetric@1", 2);
  expectRight("reorder src=s8:70x65:ab dst=s8:70x65:BA16a64b4a:s8s8@2:scale_adjust@1", 2);
  expectRight("reorder src=s8:3x19x18x2:abcd dst=s8:3x19x18x2:abcd:s8s8@3", 2);
}

TEST(PlainKernels, Reorder) {
  expectRight("reorder src=f32:17x33:ab dst=f32:17x33:ba", 2);
  expectRight("reorder src=f32:3x19x4x5:abcd dst=bf16:3x19x4x5:aBcd16b", 1);
  expectRight("reorder src=f32:4x6:ab dst=s4:4x6:ab", 1);
  expectRight("reorder src=f8_e4m3:4x6:ab dst=f32:4x6:ba attr.scales=src",
              2); // without a sum, which OpenCL C may fuse with the product
  expectRight("reorder src=f8_e5m2:4x6:ab dst=f32:4x6:ba attr.post_ops=sum(scale=2)", 2);
}

TEST(PlainKernels, Softmax) {
  expectRight("softmax fwd_i alg=accurate src=f32:7x40:ab dst=f32:7x40:ab axis=1 attr.post_ops=eltwise(alg=gelu_erf)",
              2);
  expectRight("softmax fwd_i alg=log src=f32:2x21x5:abc dst=f32:2x21x5:aBc16b axis=1", 1);
  expectRight("softmax fwd_i alg=log src=f32:40:a dst=f32:40:a axis=0", 2);
  expectRight("softmax bwd_d alg=accurate dst=f32:7x40:ab diff_src=f32:7x40:ab diff_dst=f32:7x40:ab axis=1", 2);
}

} // namespace
} // namespace quern::bench
