//===- TestArtifacts.cpp - Artifacts of the test kernels ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See the header. QUERN_TEST_OBJECT is the path of the object file, given by the build.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestArtifacts.h"

#include <fstream>
#include <iterator>

namespace quern::test {

std::string readTestObject() {
  std::ifstream file(QUERN_TEST_OBJECT, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Artifact makeTestArtifact(const VerifiedProblem &problem, const Target &target) {
  const auto &softmax = std::get<SoftmaxDesc>(problem.desc.op);
  Artifact artifact;
  artifact.descriptor = problem.desc.text();
  artifact.target = target.text();
  artifact.buildId = compilerBuildId();
  artifact.keyBytes = makeKey(problem.desc, target).bytes;
  artifact.plan = "test kernel";
  artifact.steps = {{0, softmax.src.elements(), /*nsPerIteration=*/100, {}}};
  switch (softmax.alg) {
  case Alg::SoftmaxLog:
    artifact.entries = {"quern_test_scratch"};
    artifact.scratchBytesPerThread = scratchBytes;
    break;
  case Alg::SoftmaxAccurateInfAsZero:
    artifact.entries = {"quern_test_mxcsr"};
    break;
  default:
    artifact.entries = {"quern_test_scale"};
    break;
  }
  if (softmax.axis == 0) {
    artifact.entries = {"quern_test_put", "quern_test_take"};
    artifact.steps.push_back({1, softmax.src.elements(), 100, {}});
    artifact.scratchBytesPerThread = scratchBytes;
    artifact.sharedScratchBytes = softmax.src.bytes();
  }
  for (const ArgumentInfo &argument : problem.arguments)
    artifact.arguments.push_back({argument.index, argument.isOutput, argument.desc.bytes()});
  artifact.code = readTestObject();
  return artifact;
}

std::string lineOf(int64_t rows, const char *alg) {
  return concat("softmax fwd_i alg=", alg, " src=f32:", rows, "x16:ab dst=f32:", rows, "x16:ab axis=1");
}

std::string lineOfTwoSteps(int64_t rows) { return concat("softmax fwd_i src=f32:", rows, "x16:ab dst=f32:", rows, "x16:ab axis=0"); }

} // namespace quern::test
