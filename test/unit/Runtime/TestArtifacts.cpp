//===- TestArtifacts.cpp - Artifacts of the test kernels ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// QUERN_TEST_OBJECT and QUERN_TEST_FOREIGN_OBJECT are paths of object files, set by the build.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestArtifacts.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace quern::test {

namespace {

std::string contentsOf(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

std::string readTestObject() {
  // Read once, because the compiler process must not open files later. Never destroyed, because threads compile until
  // the end.
  static const auto *const object = new std::string(contentsOf(QUERN_TEST_OBJECT));
  return *object;
}
std::string readForeignTestObject() { return contentsOf(QUERN_TEST_FOREIGN_OBJECT); }

namespace {

constexpr int64_t rowBytesOfOpenProgram = 16 * sizeof(float);

/// Open rows of 16 elements: each is copied to a region for all rows, and from there to dst.
void makeOpenProgram(Artifact &artifact) {
  Polynomial rows, row, bytes;
  rows.terms = {{1, {symbolOfSize(0)}}};
  row.terms = {{rowBytesOfOpenProgram, {0}}};
  bytes.terms = {{rowBytesOfOpenProgram, {symbolOfSize(0)}}};
  artifact.entries = {"quern_test_scale", "quern_test_copy"};
  artifact.sizeCount = 2;
  artifact.regions = {bytes};
  artifact.loops = {{rows, 0, 1}, {rows, 1, 2}};
  artifact.steps = {{0, 16, 1000, {}, {{0, row}, {2, row}}}, {1, 16, 1000, {}, {{2, row}, {1, row}}}};
}

/// Dense tensors whose dims are all open: one iteration per element.
void makeOpenFamily(Artifact &artifact, const SoftmaxDesc &softmax) {
  artifact.sizeCount = static_cast<uint32_t>(softmax.src.runtimeSizes() + softmax.dst.runtimeSizes());
  artifact.steps = {{0, 1, 100, {{0, 1}, {1, 1}}}};
}

/// Copies the first element of the first input to the last output.
void makeRnn(Artifact &artifact, size_t arguments) {
  artifact.entries = {"quern_test_copy"};
  artifact.steps = {{0, 1, 100, {}, {{0, {}}, {static_cast<uint32_t>(arguments) - 1, {}}}}};
}

void makeSoftmax(Artifact &artifact, const SoftmaxDesc &softmax) {
  artifact.steps = {{0, softmax.src.elements(), /*nsPerIteration=*/100, {}}};
  switch (softmax.alg) {
  case Alg::SoftmaxLog:
    artifact.entries = {"quern_test_scratch"};
    artifact.scratchBytesPerThread = scratchBytes;
    break;
  case Alg::SoftmaxAccurateInfAsZero:
    artifact.entries = {"quern_test_float_control"};
    break;
  default:
    artifact.entries = {"quern_test_scale"};
    break;
  }
  if (softmax.src.hasRuntimeDims() && softmax.src.dims[1] == runtimeDim)
    makeOpenFamily(artifact, softmax);
  else if (softmax.src.hasRuntimeDims())
    makeOpenProgram(artifact);
  if (softmax.axis == 0) {
    artifact.entries = {"quern_test_put", "quern_test_take"};
    artifact.steps.push_back({1, softmax.src.elements(), 100, {}});
    artifact.scratchBytesPerThread = scratchBytes;
    artifact.sharedScratchBytes = softmax.src.bytes();
  }
}

} // namespace

Artifact makeTestArtifact(const VerifiedProblem &problem, const Target &target) {
  Artifact artifact;
  artifact.descriptor = problem.desc.text();
  artifact.target = target.text();
  artifact.buildId = compilerBuildId();
  artifact.keyBytes = keyOf(problem.desc, target).bytes;
  artifact.plan = "test kernel";
  if (problem.desc.kind() == PrimitiveKind::Rnn)
    makeRnn(artifact, problem.arguments.size());
  else
    makeSoftmax(artifact, std::get<SoftmaxDesc>(problem.desc.op));
  for (const ArgumentInfo &argument : problem.arguments)
    artifact.arguments.push_back({argument.index, argument.isOutput, std::max<int64_t>(0, argument.desc.bytes())});
  artifact.code = readTestObject();
  return artifact;
}

std::string lineOf(int64_t rows, const char *alg) {
  return concat("softmax fwd_i alg=", alg, " src=f32:", rows, "x16:ab dst=f32:", rows, "x16:ab axis=1");
}

std::string lineOfOpenRows() { return "softmax fwd_i src=f32:?x16:ab dst=f32:?x16:ab axis=1"; }

std::string lineOfTwoSteps(int64_t rows) {
  return concat("softmax fwd_i src=f32:", rows, "x16:ab dst=f32:", rows, "x16:ab axis=0");
}

} // namespace quern::test
